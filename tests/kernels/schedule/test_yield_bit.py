"""The yield bit: found in recorded code, and what it is worth on the scheduler."""

import pytest

from stacklib.gpu.code.compiled import compiled, kernels
from stacklib.kernels.schedule.yield_bit import BIT, cycles, found, gain, promotion


def test_the_bit_is_found_in_recorded_code():
    rows = [found(name) for name in kernels()]
    assert all(0 < row.switches < row.instructions for row in rows)
    assert any(0 < row.fp32_switches < row.fp32 for row in rows)


def test_it_is_one_bit_of_the_machine_code():
    for at in compiled("two_ways").sass.useful:
        assert at.control.switch == (not at.high >> (BIT - 64) & 1)


def test_it_gains_a_fifth_where_runs_and_products_are_equally_long():
    for mma in (32, 64, 128):
        assert 1.1 < gain(mma=mma, ffma=mma).times < 1.35


def test_it_gains_nothing_where_products_are_long_and_costs_slots_everywhere():
    assert gain(mma=256, ffma=64).times == pytest.approx(1, abs=0.01)
    assert gain(mma=128, ffma=128, every=1).times < 1


def test_no_schedule_beats_its_tensor_core_or_its_issue_slots():
    for mma, ffma, every in ((32, 64, 0), (64, 32, 4), (64, 64, 1)):
        took = cycles(promotion(mma=mma, ffma=ffma, steps=16, every=every))
        assert took >= 2 * 16 * max(mma, ffma)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="ffma = 0"):
        gain(mma=64, ffma=0)
    with pytest.raises(LookupError, match="two_ways"):
        found("three_ways")
