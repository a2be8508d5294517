"""What stands beside an array, and how fast it may be clocked."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.accelerators.array.control import (
    control_share,
    held_while_waiting,
    overhead,
    sparse_gain,
)
from stacklib.accelerators.array.power import busiest, throttle
from stacklib.quantity import chosen

SOME = st.floats(0.01, 100)


def test_overhead_falls_four_times_a_doubling() -> None:
    assert overhead(4) / overhead(8) == 4
    assert overhead(4) / overhead(128) == 1024
    assert control_share(1, place=3, core=1) == 0.25


@given(st.integers(1, 256), SOME, SOME)
def test_a_larger_array_is_less_control(n: int, place: float, core: float) -> None:
    share = control_share(n, place=place, core=core)
    assert 0 < control_share(n + 1, place=place, core=core) < share < 1


def test_warps_hold_what_a_compiler_does_not() -> None:
    # 500 cycles hidden, a tile used every 100: five ahead and one in use.
    assert held_while_waiting(500, 100, stage=1024, warp=4096) == (6144, 30720)
    assert held_while_waiting(0, 100, stage=1024, warp=0.5)[0] == 1024


def test_one_of_two_gains_two_less_the_choice() -> None:
    assert sparse_gain(100, 0) == 2
    assert sparse_gain(100, 25) == 1.6
    assert sparse_gain(100, 0, kept=2, of=4) == 2
    with pytest.raises(ValueError, match="kept = 3 of 2"):
        sparse_gain(100, 25, kept=3)


@given(st.floats(0.01, 1), st.floats(1, 3), st.floats(0.34, 1))
def test_power_never_passes_the_limit(act: float, clock: float, e: float) -> None:
    told = throttle(act, 100, clock=clock, exponent=e)
    assert told.power <= 100 * (1 + 1e-12) and 0 < told.kept <= 1
    # Just as busy as the clock allows: no bubble, and all of the power.
    most = busiest(clock, e)
    assert math.isclose(throttle(most, 100, clock=clock, exponent=e).kept, 1)
    assert math.isclose(throttle(most, 100, exponent=e).most, clock)


def test_a_quarter_more_clock_pays_below_four_fifths() -> None:
    assert throttle(1, 100, clock=1.25, exponent=1).rate == 1
    assert throttle(0.8, 100, clock=1.25, exponent=1).rate == 1.25
    assert throttle(1, 100, clock=1.25, exponent=1 / 3).rate == pytest.approx(0.64)
    assert throttle(1, 90, full=100).kept == 0.9
    assert busiest(0.5) == 1  # no chip switches more than all of it
    assert throttle(0.5, chosen(250, "W"), exponent=1).power.to("W").value == 125


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: throttle(0, 100), "activity = 0"),
        (lambda: throttle(1.5, 100), "activity = 1.5"),
        (lambda: throttle(float("nan"), 100), "activity = nan"),
        (lambda: throttle(1, -1), "tdp = -1"),
        (lambda: throttle(1, 1, clock=0), "clock = 0"),
        (lambda: busiest(1.25, 0), "exponent = 0"),
        (lambda: control_share(0, place=1, core=1), "n = 0"),
        (lambda: control_share(4, place=0, core=1), "place = 0"),
        (lambda: overhead(1.5), "n = 1.5"),
        (lambda: held_while_waiting(1, 0, stage=1, warp=1), "every = 0"),
        (lambda: sparse_gain(1, -1), "choice = -1"),
    ],
)
def test_what_makes_no_chip_is_refused(call, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        call()
