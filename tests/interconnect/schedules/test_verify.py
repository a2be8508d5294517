"""Planted faults: each is found, and named with its step, rank and chunk."""

import re
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stacklib.interconnect.schedules import algorithms
from stacklib.interconnect.schedules.algorithms import KNOWN, all_reduce
from stacklib.interconnect.schedules.run import run
from stacklib.interconnect.schedules.schedule import Schedule, Send
from stacklib.interconnect.schedules.verify import verify

from ...rows import refusals

PAIRS = [(c, a) for c, table in KNOWN.items() for a in table]
REDUCING = [(c, a) for c, a in PAIRS if c in ("all_reduce", "reduce_scatter")]
AMONG_RANKS = [(c, a) for c, a in REDUCING if a not in ("in_switch", "collnet")]


@st.composite
def planted(draw, pairs, wanted=lambda send: True):
    """A schedule and the place of one of its sends."""
    collective, algorithm = draw(st.sampled_from(pairs))
    schedule = getattr(algorithms, collective)(draw(st.integers(2, 12)), algorithm)
    places = [i for i, send in enumerate(schedule.sends) if wanted(send)]
    assume(places)
    return schedule, draw(st.sampled_from(places))


def with_sends(schedule, sends):
    return replace(schedule, sends=tuple(sends))


def changed(schedule, place, **change):
    sends = list(schedule.sends)
    sends[place] = sends[place]._replace(**change)
    return with_sends(schedule, sends)


def place_of(send, rank=None):
    rank = send.destination if rank is None else rank
    return f"step {send.step}, rank {rank}, chunk {send.chunk}: "


@settings(deadline=None, max_examples=60)
@given(planted(PAIRS))
def test_a_send_left_out_is_missed(case):
    schedule, place = case
    left = schedule.sends[place]
    rest = schedule.sends[:place] + schedule.sends[place + 1 :]
    faults = verify(with_sends(schedule, rest)).faults
    kinds = (f"chunk {left.chunk}: missing", f"chunk {left.chunk}: sent what was not")
    assert any(kind in fault for fault in faults for kind in kinds)


@settings(deadline=None, max_examples=60)
@given(planted(AMONG_RANKS, lambda send: send.reduce))
def test_a_reduction_done_twice_is_named(case):
    schedule, place = case
    send = schedule.sends[place]
    sends = [*schedule.sends[:place], send, *schedule.sends[place:]]
    (first, *_) = verify(with_sends(schedule, sends)).faults
    assert first.startswith(place_of(send) + "reduced twice: rank")
    assert first.endswith(f"again from rank {send.source}")


@settings(deadline=None, max_examples=60)
@given(planted(AMONG_RANKS, lambda send: send.reduce))
def test_a_copy_in_place_of_a_reduction_is_named(case):
    schedule, place = case
    send = schedule.sends[place]
    faults = verify(changed(schedule, place, reduce=False)).faults
    kinds = ("overwritten before it was sent", "two arrive in one step")
    assert any(f.startswith(place_of(send) + k) for f in faults for k in kinds)
    assert any(f"chunk {send.chunk}: missing" in f for f in faults)


@settings(deadline=None, max_examples=60)
@given(planted(PAIRS), st.integers(1, 40))
def test_another_chunk_is_found(case, off):
    schedule, place = case
    assume(off % schedule.chunks)
    send = schedule.sends[place]
    other = (send.chunk + off) % schedule.chunks
    faults = verify(changed(schedule, place, chunk=other)).faults
    assert any(f"chunk {send.chunk}: " in fault for fault in faults)


def with_steps(schedule, order):
    moved = (s._replace(step=order.get(s.step, s.step)) for s in schedule.sends)
    return with_sends(schedule, sorted(moved, key=lambda send: send.step))


@pytest.mark.rows(
    "algorithm", ["ring", "tree", "direct", "halving_doubling", "in_switch"]
)
def test_two_steps_in_the_wrong_order_are_found(algorithm):
    for ranks in range(2, 10):
        schedule = all_reduce(ranks, algorithm)
        for one, two in combinations(range(schedule.steps), 2):
            faults = verify(with_steps(schedule, {one: two, two: one})).faults
            assert re.match(r"step \d+, (rank|switch) \d+, chunk \d+: ", faults[0])


@settings(deadline=None, max_examples=80)
@given(planted(REDUCING), st.data())
def test_what_is_proved_gives_the_sum(case, data):
    """Whatever is changed: where the proof still holds, the run is right."""
    schedule, place = case
    steps = st.integers(0, schedule.steps - 1)
    one, two = data.draw(steps), data.draw(steps)
    wrong = with_steps(schedule, {one: two, two: one})
    if data.draw(st.booleans()):
        rank = data.draw(st.integers(0, schedule.ranks - 1))
        wrong = changed(wrong, place, destination=rank)
    proof = verify(wrong)
    if not proof.halts:
        # a digit for each rank: no two ways to the same sum
        arrays = [[10**rank] * schedule.chunks for rank in range(schedule.ranks)]
        right = (10**schedule.ranks - 1) // 9
        exact = all((array == right).all() for array in run(wrong, arrays))
        assert exact or not proof.holds


def mine(*sends, ranks=2, chunks=1, collective="all_reduce", **more):
    return verify(Schedule(collective, "mine", ranks, chunks, sends, **more)).faults


@pytest.mark.rows(
    ("faults", "says"),
    [
        (
            mine((0, 0, 0, 0, True)),
            "step 0, rank 0, chunk 0: reduced twice: rank 0, again from rank 0",
        ),
        (
            mine((0, 0, 2, 0, True)),
            "step 0, rank 2, chunk 0: rank out of range: 0",
        ),
        (mine((0, -1, 0, 0, True)), "rank -1, chunk 0: rank out of range"),
        (mine((0, 0, 1, 1, True)), "chunk 1: chunk out of range: chunks are 0 to 0"),
        (
            mine((0, 1, 0, 0, False), collective="broadcast"),
            "step 0, rank 1, chunk 0: sent what was not there",
        ),
        (
            mine(
                (0, 0, 1, 0, False),
                (0, 1, 2, 0, False),
                ranks=3,
                collective="broadcast",
            ),
            "step 0, rank 1, chunk 0: deadlock: waits for what rank 0 sends",
        ),
        (
            mine(
                (0, 1, 2, 0, False),
                (0, 2, 1, 0, False),
                ranks=3,
                collective="broadcast",
            ),
            "rank 2, chunk 0: deadlock: waits for what rank 1 sends",
        ),
        (
            mine((0, 0, 2, 0, False), (0, 1, 2, 0, False), ranks=3),
            "step 0, rank 2, chunk 0: two arrive in one step: from rank 0 and",
        ),
        (
            mine((0, 0, 1, 0, False)),
            "step 0, rank 1, chunk 0: overwritten before it was sent: rank 1",
        ),
        (
            mine((0, 0, 1, 0, True), (1, 0, 1, 0, True)),
            "step 1, rank 1, chunk 0: reduced twice: rank 0, again from rank 0",
        ),
        (
            mine((0, 0, 1, 0, True), ranks=2, chunks=2, collective="all_gather"),
            "rank 0, chunk 1: missing: rank 1",
        ),
        (
            mine((0, 0, 1, 0, True), (1, 1, 0, 0, True), ranks=2, switches=1),
            "step 1, rank 0, chunk 0: reduced twice: rank 0, again from rank 1",
        ),
    ],
)
def test_a_fault_by_hand_is_named(faults, says):
    assert any(says in fault for fault in faults), faults


def test_adding_to_nothing_is_copying():
    added = Schedule("broadcast", "mine", 2, 1, [(0, 0, 1, 0, True)])
    assert verify(added).holds
    assert verify(replace(added, collective="all_reduce")).faults == (
        "step 0, rank 0, chunk 0: missing: rank 1",
    )


def test_a_switch_is_named_as_one():
    sends = [(0, 0, 2, 0, True), (0, 1, 2, 0, False), (1, 2, 0, 0, False)]
    faults = verify(Schedule("all_reduce", "mine", 2, 1, sends, switches=1)).faults
    assert "step 0, switch 0, chunk 0: two arrive in one step" in faults[0]


def test_many_faults_are_counted_not_listed():
    faults = verify(Schedule("all_reduce", "mine", 64, 4, ())).faults
    assert len(faults) == 101
    assert faults[-1] == "and 156 more"
    assert faults[0] == "step 0, rank 0, chunk 0: missing: ranks 1, 2, 3 and 60 more"


def test_a_wrong_schedule_runs_as_far_as_it_can_be():
    late = Schedule("all_reduce", "mine", 2, 1, [Send(0, 0, 1, 0, True)])
    assert [array.tolist() for array in run(late, [[1], [2]])] == [[1], [3]]
    nothing = Schedule("broadcast", "mine", 2, 1, ())
    assert [array.tolist() for array in run(nothing, [[1], [2]])] == [[1], [0]]
    empty = Schedule("broadcast", "mine", 2, 1, [Send(3, 1, 0, 0, False)])
    with pytest.raises(ValueError, match="step 3, rank 1, chunk 0: sent what was not"):
        run(empty, [[1], [2]])


def of(sends):
    return Schedule("all_reduce", "mine", 2, 1, sends)


test_bad_input_is_refused = refusals(
    (
        lambda: Schedule("all_reduce", "x", 2, 1, [(1, 0, 1, 0, 1), (0,) * 5]),
        "send 1",
    ),
    (lambda: Schedule("all_reduce", "x", 2, 1, [(-1, 0, 1, 0, 1)]), "steps -1"),
    (lambda: Schedule("all_reduce", "x", 2, 1, [(0, 0, 1)]), "send 0 is"),
    (lambda: Schedule("all_reduce", "x", 2, 1, [(0, 0.5, 1, 0, True)]), "whole"),
    (lambda: Schedule("all_reduce", "x", 2, 1, [7]), "send 0 is"),
    (lambda: Schedule("all_gather", "x", 2, 3, ()), "multiple of 2"),
    (lambda: Schedule("all_to_all", "x", 2, 2, ()), "has 4"),
    (lambda: Schedule("broadcast", "x", 2, 1, (), root=2), "root = 2"),
    (lambda: Schedule("all_reduce", "x", 0, 1, ()), "ranks = 0"),
    (lambda: Schedule("sum", "x", 1, 1, ()), "unknown collective"),
    error=(ValueError, LookupError),
)


@pytest.mark.slow
def test_a_ring_of_512_is_proved():
    assert verify(all_reduce(512)).holds
