"""Steps that are timed, and the host's law that is fitted to them."""

from random import Random

import pytest

from stacklib import tinylm
from stacklib.serving.engine.timed import timed_steps
from stacklib.serving.simulation.pace import PARTS, Timed, counts, pace_of
from stacklib.serving.simulation.steps import Work

MODEL = tinylm.load("draft")
COSTS = (1e-3, 3e-4, 6e-5, 2e-4, 5e-4, 1e-7, 8e-8)


def account(work):
    return 1e-4 + 2e-5 * work.rows


def steps(rounds=3, many=128, noise=0.0, slower=1.0):
    """Works of all kinds whose seconds follow a law; the last round may be slower."""
    draw, found = Random(0), []
    for turn in range(rounds):
        for _ in range(many):
            decodes = draw.randint(0, 16)
            pieces = tuple(
                (past, past + draw.randint(1, 60))
                for past in [draw.choice((0, 64))] * draw.randint(decodes == 0, 2)
            )
            work = Work(decodes, decodes * draw.randint(1, 400), pieces, len(pieces))
            seconds = account(work) + sum(
                cost * count for cost, count in zip(COSTS, counts(work), strict=True)
            )
            seconds *= 1 + noise * draw.uniform(-1, 1)
            seconds *= slower if turn == rounds - 1 else 1
            found.append(Timed(turn, work, seconds))
    return found


def test_a_law_is_found_again():
    pace = pace_of(steps(), account)
    assert pace.costs == pytest.approx(COSTS, rel=1e-6, abs=1e-12)
    assert (pace.low, pace.high) == pytest.approx((1, 1))
    noisy = pace_of(steps(noise=0.2), account)
    assert noisy.seconds(Work(8, 800)) == pytest.approx(pace.seconds(Work(8, 800)), 0.1)
    assert 0.9 < noisy.low <= 1 <= noisy.high < 1.1


def test_a_round_that_is_another_widens_the_band():
    pace = pace_of(steps(slower=1.3), account)
    assert pace.high == pytest.approx(1.3, abs=0.02)


def test_what_is_not_the_hosts_has_no_cost():
    free = [each._replace(seconds=account(each.work)) for each in steps()]
    assert max(pace_of(free, account).costs) < 1e-9
    burst = steps()
    burst[5] = burst[5]._replace(seconds=9.0)  # the system was elsewhere
    assert pace_of(burst, account).costs == pytest.approx(COSTS, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize(
    "timed, says",
    [
        ([], "0 steps of 0 rounds"),
        (steps(rounds=1), "at least two rounds"),
        (steps(many=20), "60 steps of 3 rounds"),
        ([each._replace(seconds=0.0) for each in steps()], "seconds = 0"),
    ],
)
def test_too_few_steps_are_no_law(timed, says):
    with pytest.raises(ValueError, match=says):
        pace_of(timed, account)


def test_steps_of_an_engine_are_what_its_clock_says():
    ticks = iter(range(100_000))
    sizes = {"blocks": 64, "block_size": 16, "max_batch": 3, "chunk": 32}
    timed = timed_steps(
        MODEL, clock=lambda: float(next(ticks)), rounds=2, steps=12, **sizes
    )
    assert [each.round for each in timed] == [0] * 36 + [1] * 36
    for each in timed:
        work = each.work
        assert 0 < work.rows <= 32 and work.decodes + len(work.pieces) <= 3
        assert work.ends <= len(work.pieces) and each.seconds > 0
        assert work.context >= work.decodes and len(counts(work)) == len(PARTS)
    assert {w.work.decodes for w in timed} == {0, 1, 2, 3}
