"""Checkpoints: formulas against runs, Daly's interval against the best there is."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import models
from stacklib.memory.tiers import checkpoint as cp
from stacklib.memory.tiers.checkpoint import checkpoint_bytes

SECONDS = st.floats(0.1, 50)


def test_fourteen_bytes_a_parameter():
    size = checkpoint_bytes("llama-3-70b")
    assert size.si == pytest.approx(14 * models.get("llama-3-70b").parameters.si)
    more = checkpoint_bytes("llama-3-8b", state={**cp.ADAM, "gradients": 2})
    assert more.si == pytest.approx(16 * models.get("llama-3-8b").parameters.si)
    assert cp.write_time(14e12, 14, 10e9) == pytest.approx(100)
    for bad in ((0, 1, 1), (1, 0, 1), (1, 1, 0), (math.nan, 1, 1)):
        with pytest.raises(ValueError):
            cp.write_time(*bad)


@given(SECONDS, SECONDS, SECONDS, st.integers(1, 4), st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_run_that_has_settled_stalls_as_the_formula_says(
    interval, copy, write, buffers, behind
):
    run = cp.run_checkpoints(
        interval=interval,
        copy=copy,
        write=write,
        count=400,
        buffers=buffers,
        behind=behind,
    )
    said = cp.stall(interval, copy, write, behind=behind, buffers=buffers)
    late = run.stalls[200:]
    # buffers fill up by the excess of each write, so settling may take many rounds
    excess = write - interval - copy
    if not behind or abs(excess) > 0.02 * write:
        assert sum(late) / len(late) == pytest.approx(said, rel=1e-6)
    assert run.time == pytest.approx(400 * interval + sum(run.stalls))


def test_writing_behind_hides_the_write():
    assert cp.stall(100, 1, 30, behind=False) == 31
    assert cp.stall(100, 1, 30, behind=True) == 1
    assert cp.stall(10, 1, 30, behind=True) == 20
    with pytest.raises(ValueError, match="buffers"):
        cp.stall(1, 1, 1, behind=True, buffers=0)
    with pytest.raises(ValueError, match="count"):
        cp.run_checkpoints(interval=1, copy=1, write=1, count=0)


@pytest.mark.rows(
    "interval, cost, restart, mean",
    [
        (200, 30, 300, 11_000),
        (3000, 30, 300, 11_000),
        (50, 5, 20, 400),
        (400, 0, 0, 400),
    ],
)
def test_drawn_failures_cost_what_the_formula_expects(interval, cost, restart, mean):
    expected = cp.expected_time(
        interval, cost=cost, restart=restart, between_failures=mean
    )
    drawn = cp.run_failures(
        interval, cost=cost, restart=restart, between_failures=mean, segments=30_000
    )
    assert drawn - 1 == pytest.approx(expected - 1, rel=0.05)


def best(cost, mean):
    """The interval of least expected time, by golden section."""
    low, high = 1e-6 * mean, 20 * mean
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(200):
        a, b = high - golden * (high - low), low + golden * (high - low)
        fa, fb = (
            cp.expected_time(x, cost=cost, restart=0, between_failures=mean)
            for x in (a, b)
        )
        low, high = (low, b) if fa < fb else (a, high)
    return (low + high) / 2


@given(st.floats(1e-4, 0.5))
@settings(deadline=None)
def test_daly_is_near_the_best_and_nearer_than_young(share):
    mean = 10_000.0
    cost = share * mean
    right = best(cost, mean)
    daly = cp.daly_interval(cost, mean)
    assert daly == pytest.approx(right, rel=0.01)
    young = cp.young_interval(cost, mean)
    assert abs(daly - right) <= abs(young - right) + 1e-9
    assert young == pytest.approx(right, rel=0.75)


def test_checkpoints_that_take_longer_than_failures_last():
    assert cp.daly_interval(30, 10) == 10
    for bad in (0, -1, math.nan, True):
        with pytest.raises(ValueError):
            cp.daly_interval(bad, 10)
        with pytest.raises(ValueError):
            cp.young_interval(10, bad)
    with pytest.raises(ValueError, match="interval"):
        cp.expected_time(0, cost=1, restart=1, between_failures=1)
    with pytest.raises(ValueError, match="cost = -1"):
        cp.expected_time(1, cost=-1, restart=1, between_failures=1)
