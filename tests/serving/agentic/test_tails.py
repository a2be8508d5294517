"""Tails of chains, three ways: in closed form, drawn, and by an engine."""

from __future__ import annotations

import math
import random
from functools import partial

import pytest

from stacklib import tinylm
from stacklib.quantity import UnknownName
from stacklib.serving import Engine, tail
from stacklib.serving.agentic.tails import (
    Hop,
    alone,
    drawn,
    exponential_tail,
    order_interval,
    quantile,
    replayed,
)
from stacklib.serving.engine.dry import DryRun
from stacklib.serving.slots.batches import drawn_lengths

# Half of chi-square's 99th percentile with 2 n degrees of freedom, from its tables.
CHI_SQUARE = {1: 9.2103, 2: 13.2767, 3: 16.8119, 4: 20.0902, 5: 23.2093, 7: 29.1412}


def dry():
    return DryRun(blocks=2048, block_size=16, max_batch=8, chunk=128)


def served(run, lengths, at_once):
    """Chains through an engine that only counts."""
    return replayed(
        lambda tokens, most: run.submit(tokens, most=most),
        run.step,
        lengths,
        at_once=at_once,
    )


def chains(many, hops, mean=20.0):
    flat = drawn_lengths(many * hops, mean)
    return [flat[hops * n : hops * (n + 1)] for n in range(many)]


@pytest.mark.parametrize("hops", CHI_SQUARE)
def test_equal_hops_are_chi_square(hops):
    found = exponential_tail([Hop(1.0)] * hops)
    assert found.chain == pytest.approx(CHI_SQUARE[hops] / 2, rel=1e-5)
    assert found.summed == pytest.approx(hops * -math.log(0.01))


def test_several_calls_end_with_the_last():
    """(1 - exp(-t)) ** k: the same of the formula and of k waits in a row."""
    short = exponential_tail([Hop(1e-3)])  # in any unit of time
    assert short.chain == pytest.approx(1e-3 * CHI_SQUARE[1] / 2, rel=1e-5)
    for calls in (1, 2, 8, 40):
        found = exponential_tail([Hop(2.0, calls)], 0.9)
        assert found.chain == pytest.approx(found.hops[0], rel=1e-9)
        assert (1 - math.exp(-found.chain / 2)) ** calls == pytest.approx(0.9)


def test_unequal_hops_have_a_formula_of_their_own():
    """P(later) = (a exp(-t / a) - b exp(-t / b)) / (a - b), of means a and b."""
    a, b = 3.0, 1.0
    t = exponential_tail([Hop(a), Hop(b)], 0.95).chain
    later = (a * math.exp(-t / a) - b * math.exp(-t / b)) / (a - b)
    assert later == pytest.approx(0.05, rel=1e-9)


def test_drawing_agrees_with_the_closed_form():
    hops = [Hop(1.0, 3), Hop(2.0), Hop(0.5)]
    found, told = tail(drawn(hops, 4000, seed=3)), exponential_tail(hops)
    assert found.low <= told.chain <= found.high
    assert found.ratio == pytest.approx(told.ratio, rel=0.05)


def test_the_sum_is_too_large_as_claimed_and_right_only_together():
    """The ledger's check: seven lognormal hops whose logarithms spread by a half."""
    hops = [Hop(1.0)] * 7
    found = tail(drawn(hops, 6000, law="lognormal"))
    assert found.ratio == pytest.approx(1.8, rel=0.04)
    assert 1.5 < found.ratio < exponential_tail(hops).ratio < 2.3
    assert tail(drawn(hops, 500, law="lognormal", together=True)).ratio == (
        pytest.approx(1)
    )


def test_an_engine_alone_answers_as_the_closed_form_says():
    lengths = chains(40, 3)
    rows = served(dry(), lengths, 1)
    assert rows == [[alone(8, tokens) for tokens in each] for each in lengths]
    # Its latencies, of as many chains as a tail needs, against exponential hops.
    many = [[alone(8, n) for n in each] for each in chains(4000, 7)]
    found, told = tail(many), exponential_tail([Hop(9 * 20.0)] * 7)
    extra = alone(8, 1) - 9 / 2  # lengths are rounded up: half a token on average
    assert found.chain == pytest.approx(told.chain + 7 * extra, rel=0.04)
    assert found.summed == pytest.approx(told.summed + 7 * extra, rel=0.04)


def test_the_model_behind_it_changes_no_latency():
    model = tinylm.load()
    engine = Engine(model, blocks=32, block_size=16, max_batch=2, chunk=16)
    submit = partial(engine.submit, sampling=tinylm.Sampling(0.0))
    lengths = [[3, 5], [4, 2], [6, 1]]
    given = replayed(
        lambda tokens, most: submit(tokens, most=most), engine.step, lengths, at_once=2
    )
    run = DryRun(blocks=32, block_size=16, max_batch=2, chunk=16)
    made = [len(request.output) for request in engine.requests.values()]
    assert sum(made) == sum(map(sum, lengths))  # none ended by itself
    assert given == served(run, lengths, 2)


def test_waiting_in_one_line_is_shared():
    """A full engine is slow for all hops alike: the sum is less wrong there."""
    lengths = chains(120, 5)
    free, full = (tail(served(dry(), lengths, many)) for many in (4, 40))
    assert full.chain > 2 * free.chain
    assert 1 < full.ratio < free.ratio


def test_order_statistics_hold_the_quantile_as_often_as_they_say():
    draw, inside = random.Random(1), 0
    first, last = order_interval(50, 0.8)
    for _ in range(400):
        sample = sorted(draw.random() for _ in range(50))
        inside += sample[first - 1] <= 0.8 <= sample[last - 1]
    assert 0.9 <= inside / 400 < 0.97  # at least: ranks are whole
    # So many are needed for the largest to be beyond the 99th percentile.
    need = math.ceil(math.log(0.05) / math.log(0.99))
    assert order_interval(need, 0.99)[1] == need == 299
    assert order_interval(need - 1, 0.99)[1] is None
    assert order_interval(3, 0.01)[0] is None


def test_a_chains_interval_are_two_of_its_sums():
    sums = [float(n) for n in range(400)]
    first, last = order_interval(400, 0.9)
    found = tail([(each,) for each in sums], 0.9)
    assert (found.low, found.chain, found.high) == (first - 1, 359, last - 1)
    assert tail([(1.0,)] * 3, 0.01).low is None


def test_no_two_prompts_are_alike():
    run, asked = dry(), []

    def submit(tokens, most):
        asked.append(tuple(tokens))
        return run.submit(tokens, most=most)

    replayed(submit, run.step, [[1]] * 200, prompt=2)
    assert len(set(asked)) == 200 and {len(each) for each in asked} == {2}


def test_a_quantile_is_a_value_of_the_sample():
    assert quantile([3, 1, 2], 0.99) == 3
    assert quantile(range(1, 101), 0.99) == 99
    assert quantile([5], 0.01) == 5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tail([]), r"chains of \[\] hops"),
        (lambda: tail([(1, 2), (1,)]), r"chains of \[1, 2\] hops"),
        (lambda: tail([()]), r"chains of \[0\] hops"),
        (lambda: tail([(1, math.nan)]), "hop 1 of chain 0 = nan"),
        (lambda: tail([(1,), (-1,)]), "hop 0 of chain 1 = -1"),
        (lambda: tail([(0,)]), "no time"),
        (lambda: tail([(1,)], 1.0), "1 - q = 0.0"),
        (lambda: tail([(1,)], 99), "q = 99: a number from 0 to 1"),
        (lambda: tail([(1,)], math.nan), "q = nan"),
        (lambda: exponential_tail([]), "no hops"),
        (lambda: exponential_tail([Hop(0.0)]), "mean = 0.0"),
        (lambda: exponential_tail([Hop(1.0, 0)]), "calls = 0"),
        (lambda: exponential_tail([Hop(1.0), Hop(1e4)]), "1000 times apart"),
        (lambda: drawn([Hop(1.0)], 0), "chains = 0"),
        (lambda: served(dry(), [[1], []], 1), "chain 1 has no hops"),
        (lambda: served(dry(), [[0]], 1), "most = 0"),
        (lambda: served(dry(), [[1]], 0), "at_once = 0"),
    ],
)
def test_bad_input_gives_no_number(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_an_unknown_law_is_refused():
    with pytest.raises(UnknownName, match="did you mean: lognormal"):
        drawn([Hop(1.0)], 5, law="log-norml")
