"""Stacks along an edge: a division, held to rectangles laid down one by one."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.memory.stack.shoreline import (
    Rectangle,
    edge_bandwidth,
    interface_power,
    packed,
    stacks_along,
    ucie_edge,
)
from stacklib.quantity import Quantity

from ...rows import refusals

STEP = 0.25


def quarters(low: int, high: int) -> st.SearchStrategy[float]:
    """Lengths on the grid that the walk steps on."""
    return st.integers(low * 4, high * 4).map(lambda n: n / 4)


@given(
    quarters(4, 80),
    quarters(4, 80),
    quarters(2, 14),
    quarters(2, 14),
    quarters(0, 3),
    st.sampled_from((2, 4)),
)
def test_packing_agrees_with_the_division(a, b, width, depth, gap, sides):
    placed = packed((a, b), (width, depth), sides=sides, gap=gap)
    long, short = max(a, b), min(a, b)
    wanted = 2 * stacks_along(long, width, gap)
    if sides == 4:
        wanted += 2 * stacks_along(short, width, gap)
        # stacks of neighbouring sides stand corner to corner: a gap may push one out
        assert wanted - 4 <= len(placed) <= wanted if gap else len(placed) == wanted
    elif short >= gap:
        assert len(placed) == wanted
    for i, one in enumerate(placed):
        assert not any(one.overlaps(other) for other in placed[:i])


def test_a_reticle_has_six_places_and_two_have_eight():
    long, short = (
        hardware.stack_fact(f"reticle_{s}").to("mm").value for s in ("long", "short")
    )
    made = hardware.stack_generation("hbm3e")
    stack = (made.width.to("mm").value, made.depth.to("mm").value)
    assert len(packed((long, short), stack)) == 2 * stacks_along(long, stack[0]) == 6
    assert len(packed((2 * short, long), stack)) == 8
    assert hardware.get("h200-sxm").memory_stacks.si == 6
    assert hardware.get("b200-sxm").memory_stacks.si == 8


def test_rectangles_overlap_or_touch():
    one = Rectangle(0, 0, 2, 2)
    assert one.overlaps(Rectangle(1, 1, 2, 2)) and not one.overlaps(
        Rectangle(2, 0, 2, 2)
    )
    assert one.overlaps(Rectangle(2, 0, 2, 2), gap=0.5)


def test_the_edge_doubles_with_the_pins_at_one_rate():
    rate = Quantity(8, "Gbit/s")
    three, four = (edge_bandwidth(g, rate=rate).si for g in ("hbm3e", "hbm4"))
    assert four == pytest.approx(2 * three)
    told = hardware.stack_generation("hbm4").memory.bandwidth.si
    assert edge_bandwidth("hbm4").si == pytest.approx(told / 0.011)


def test_ucie_is_counted_in_one_direction():
    told = hardware.stack_fact("ucie_advanced").si
    assert ucie_edge("advanced").si == pytest.approx(told / 2)
    # 512 GB/s of a module through 0.389 mm of edge, both from UCIe 1.0
    assert told / 1e15 == pytest.approx(0.512 / 0.3888, rel=0.02)


def test_a_better_process_takes_less_power_in_the_ratio_named():
    rate = Quantity(2, "TB/s")
    dram, n12, n3p = (
        interface_power(rate, p).to("W").value for p in ("DRAM process", "N12", "N3P")
    )
    assert dram / n12 == pytest.approx(1.5) and dram / n3p == pytest.approx(2)
    assert n3p == pytest.approx(2e12 * 8 * 0.29e-12)
    # pin by pin: so many pins at such a rate, each bit at such an energy
    assert n3p == pytest.approx(sum(2e12 * 8 / 2048 * 0.29e-12 for _ in range(2048)))


test_bad_lengths_are_named = refusals(
    (lambda: stacks_along(0, 11), "edge = 0"),
    (lambda: stacks_along(33, -1), "width = -1"),
    (lambda: stacks_along(33, math.nan), "width = nan"),
    (lambda: stacks_along(33, 11, -1), "gap = -1"),
    (lambda: packed((33, 26), (11, 10), sides=3), "sides = 3"),
    (lambda: packed((33, 0), (11, 10)), "die: 0"),
    (lambda: ucie_edge("silicon"), "package 'silicon'"),
    (lambda: interface_power(Quantity(1, "TB/s"), "N7"), "process 'N7'"),
)
