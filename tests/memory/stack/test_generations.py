"""Parts of a stack, held to what is printed of its generation."""

import pytest

from stacklib.memory.stack.generations import generation_rows, growth


@pytest.mark.rows("row", generation_rows())
def test_parts_give_the_printed_figures(row):
    assert row.bandwidth_gap == pytest.approx(0, abs=0.01)
    assert row.capacity_gap == pytest.approx(0, abs=0.01)


@pytest.mark.rows("step", growth())
def test_growth_is_the_product_of_its_parts(step):
    assert step.bandwidth == pytest.approx(step.pins * step.rate)
    assert step.capacity == pytest.approx(step.height * step.die)
    assert step.access == 1  # no generation moved more at a time


def test_only_hbm4_doubled_its_pins():
    assert [g.name for g in growth() if g.pins == 2] == ["HBM3E to HBM4"]
