"""Pipelines run event by event, held to the closed forms; wrong orders are named."""

from array import array
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.pipelines.closed import bubble, in_flight, paced
from stacklib.interconnect.pipelines.order import FORWARD, Pipeline, Work, pipeline
from stacklib.interconnect.pipelines.run import Deadlock, run_pipeline

times = st.sampled_from([0.3, 0.5, 0.8, 1.0, 1.3, 2.0])


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), times, times)
def test_whole_backwards_wait_as_the_form_says(p, rounds, v, forward, inputs):
    m = p * rounds if v > 1 else p + rounds - 2 or 1
    for schedule in ("gpipe", "1f1b"):
        run = run_pipeline(pipeline(p, m, schedule, v), forward=forward, inputs=inputs)
        assert run.bubble == pytest.approx(bubble(p, m, schedule, v), abs=1e-9)
        assert max(run.held) == pytest.approx(in_flight(p, m, schedule, v))


@settings(deadline=None, max_examples=80)
@given(st.integers(1, 6), st.integers(0, 9), times, times, times)
def test_backwards_taken_apart_wait_as_the_form_says(p, more, forward, inputs, weights):
    took = {"forward": forward, "inputs": inputs, "weights": weights}
    m = p + more
    run = run_pipeline(pipeline(p, m, "zb-h1"), **took)
    assert run.bubble == pytest.approx(bubble(p, m, "zb-h1", **took), abs=1e-9)
    assert set(run.held) == {p} == {in_flight(p, m, "zb-h1")}
    if weights <= forward:
        m = 2 * p - 1 + more
        run = run_pipeline(pipeline(p, m, "zb-h2"), **took)
        told = bubble(p, m, "zb-h2", **took)
        assert run.inner_bubble == pytest.approx(told, abs=1e-9)
        assert set(run.held) == {2 * p - 1} == {in_flight(p, m, "zb-h2")}


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 6), st.integers(1, 12), st.sampled_from([0.0, 0.25]))
def test_nothing_starts_before_what_it_needs(p, m, send):
    for name in ("gpipe", "1f1b", "zb-h1", "zb-h2"):
        run = run_pipeline(pipeline(p, m, name), send=send)
        assert max(run.held) <= in_flight(p, m, name)
        ends = {(s, x.work): x.end for s, row in enumerate(run.spans) for x in row}
        for s, row in enumerate(run.spans):
            assert all(a.end <= b.start for a, b in pairwise(row))
            for work, start, _ in row:
                if work.kind == FORWARD and s:
                    assert start >= ends[s - 1, work] + send
                elif work.kind in ("backward", "inputs") and s < p - 1:
                    assert start >= ends[s + 1, work] + send


def test_sending_costs_gpipe_a_way_and_1f1b_a_way_for_each_round():
    gpipe, ours = (
        run_pipeline(pipeline(8, 32, n), send=0.1) for n in ("gpipe", "1f1b")
    )
    assert gpipe.time == pytest.approx(117 + 2 * 7 * 0.1)
    # A stage's next forward waits for a backward that has been there and back.
    assert ours.time > gpipe.time + 5


def test_orders_in_which_somebody_waits_for_good_are_named():
    made = pipeline(3, 4)
    first, second, last = made.orders
    turned = (second[1], second[0], *second[2:])
    with pytest.raises(Deadlock, match="stage 1 waits with forward of microbatch 1"):
        # The last stage wants microbatch 0 first, the middle one sends 1 and waits
        # for the first to send it, which waits for a backward.
        starved = (first[0], Work("backward", 0), *first[1:3], *first[4:])
        run_pipeline(replace(made, orders=(starved, turned, last)))
    backward_first = (last[1], last[0], *last[2:])
    with pytest.raises(Deadlock) as found:
        run_pipeline(replace(made, orders=(first, second, backward_first)))
    assert "stage 2 waits with backward of microbatch 0 for forward" in str(found.value)
    assert "of stage 2" in str(found.value)


def test_every_swap_of_two_either_runs_no_sooner_or_is_a_deadlock():
    made, best, dead = pipeline(3, 3), run_pipeline(pipeline(3, 3)).time, 0
    for stage, order in enumerate(made.orders):
        for at in range(len(order) - 1):
            swapped = list(order)
            swapped[at : at + 2] = order[at + 1], order[at]
            orders = list(made.orders)
            orders[stage] = tuple(swapped)
            try:
                assert run_pipeline(replace(made, orders=tuple(orders))).time >= best
            except Deadlock:
                dead += 1
    assert dead >= 3


def test_bad_input_is_named():
    made = pipeline(2, 2)
    first, second = made.orders
    with pytest.raises(ValueError, match="stage 1 never does backward of microbatch 1"):
        run_pipeline(replace(made, orders=(first, second[:-1])))
    with pytest.raises(ValueError, match="stage 0 does forward of microbatch 0 twice"):
        run_pipeline(replace(made, orders=((first[0], *first), second)))
    with pytest.raises(ValueError, match="microbatch 7 is no work"):
        run_pipeline(Pipeline(((Work(FORWARD, 7),),), 1))
    with pytest.raises(ValueError, match="microbatches = 6: interleaved"):
        pipeline(4, 6, interleave=2)
    with pytest.raises(ValueError, match="zb-h1 has one chunk"):
        pipeline(4, 8, "zb-h1", 2)
    with pytest.raises(ValueError, match="stages = 0"):
        pipeline(0, 4)
    with pytest.raises(ValueError, match="send = nan"):
        run_pipeline(made, send=float("nan"))
    with pytest.raises(ValueError, match="microbatches = 7: zb-h1 on 8 stages"):
        bubble(8, 7, "zb-h1")
    with pytest.raises(ValueError, match="zb-h2 has a form up to forward"):
        bubble(8, 32, "zb-h2", weights=1.5)


def test_parts_may_take_different_times():
    """The last stage is slow: it sets the pace, and the first waits for it."""
    plan = pipeline(3, 6)
    even = run_pipeline(plan, forward=2.0, backward=3.0)
    assert run_pipeline(plan, forward=(2.0,) * 3, backward=(3.0,) * 3) == even
    assert run_pipeline(plan, forward=2.0, inputs=1.0, weights=2.0) == even
    assert run_pipeline(plan, forward=array("d", [2.0] * 3), backward=3.0) == even
    slow = run_pipeline(plan, forward=(2.0, 2.0, 4.0), backward=(3.0, 3.0, 6.0))
    # Way there and back through the first two, and the last one's work.
    assert slow.time == 2 + 2 + 6 * (4 + 6) + 3 + 3
    with pytest.raises(ValueError, match="forward: 2 times of 3 parts"):
        run_pipeline(plan, forward=(1.0, 1.0))
    with pytest.raises(ValueError, match="weights of part 1"):
        run_pipeline(plan, weights=(1.0, -1.0, 1.0))


@settings(deadline=None, max_examples=60)
@given(st.lists(times, min_size=1, max_size=7), st.lists(times, min_size=7), st.data())
def test_the_slowest_stage_sets_the_pace(forward, backward, data):
    """gpipe takes what the form says, 1F1B at most; each stage's work is a bound."""
    p, backward = len(forward), backward[: len(forward)]
    m = data.draw(st.integers(p, 4 * p))
    both = [f + b for f, b in zip(forward, backward, strict=True)]
    told = paced(max(both), sum(both), m)
    for name in ("gpipe", "1f1b"):
        made = pipeline(p, m, name)
        run = run_pipeline(made, forward=forward, backward=backward)
        assert m * max(both) <= run.time + 1e-9
        assert (
            run.time
            <= paced(max(forward), sum(forward), m)
            + paced(max(backward), sum(backward), m)
            + 1e-9
        )
        alike = run_pipeline(made, forward=both, backward=both)
        assert alike.time <= 2 * told + 1e-9
        if name == "gpipe":
            assert alike.time == pytest.approx(2 * told)
    again = run_pipeline(pipeline(p, m), forward=[both[-1]] * p, backward=both[-1])
    assert again.time == pytest.approx(2 * paced(both[-1], p * both[-1], m))


@pytest.mark.parametrize("p", [2, 4, 6, 8])
def test_each_later_stage_holds_less(p):
    for v in (1, 2, 3):
        run = run_pipeline(pipeline(p, 4 * p, "1f1b", v))
        told = [in_flight(p, 4 * p, "1f1b", v, stage) for stage in range(p)]
        assert run.held == pytest.approx(told)


@pytest.mark.parametrize(("p", "m"), [(2, 4), (4, 8), (4, 12), (6, 14), (8, 32)])
def test_dualpipe_waits_as_its_authors_say(p, m):
    made = pipeline(p, m, "dualpipe")
    run = run_pipeline(made)
    assert run.bubble == pytest.approx(bubble(p, m, "dualpipe"), abs=1e-9)
    assert {2 * held for held in run.held} == {p + 1}
    for inputs, weights in ((1.2, 0.8), (1.0, 0.5), (1.6, 0.9)):
        took = {"inputs": inputs, "weights": weights}
        slow = run_pipeline(made, **took)
        assert slow.bubble <= bubble(p, m, "dualpipe", **took) + 1e-9
        # Apart, a forward hands on before the backward beside it is done.
        assert run_pipeline(replace(made, beside=()), **took).time <= slow.time
    # Its parts meet in pairs: a head behind the last part slows its rank by a half.
    heavy = [1.0] * (p - 1) + [2.0]
    slow = run_pipeline(made, forward=heavy, inputs=heavy, weights=heavy)
    assert 1.5 * 3 * m <= slow.time <= 1.5 * 3 * m * (1 + 4 * p / m)


def test_dualpipe_asks_for_pairs():
    for p, m in ((3, 12), (4, 7), (4, 6)):
        with pytest.raises(ValueError, match="dualpipe needs even counts"):
            pipeline(p, m, "dualpipe")
    with pytest.raises(ValueError, match="dualpipe has one chunk"):
        pipeline(4, 8, "dualpipe", 2)
    made = pipeline(2, 4, "dualpipe")
    first, second = made.orders
    with pytest.raises(Deadlock, match="for forward of microbatch 0"):
        turned = (Work("inputs", 0, 1), *(w for w in first if w != ("inputs", 0, 1)))
        run_pipeline(replace(made, orders=(turned, second), beside=()))
