"""Stacks along the edges, and packages of one wafer, are what a walk counts."""

import pytest

from stacklib import hardware
from stacklib.pages.gpu import package as page
from stacklib.pages.gpu import silicon as printed


@pytest.mark.parametrize("layout", page.LAYOUTS)
def test_stacks_fit_and_no_other_would(layout):
    edge, width = page.edge(layout).si, page.stack_width().si
    each = page.sites(layout).si / 2
    assert each * width <= edge * (1 + 1e-9) < (each + 1) * width


def test_the_long_join_has_the_stacks_and_rate_of_a_b200():
    b200 = hardware.get(page.B200)
    assert page.sites("joined at long edges").si == b200.memory_stacks.si
    rate = page.drawn("joined at long edges").si
    assert rate == pytest.approx(b200.memory_bandwidth.si)


def test_a_large_die_must_escape_twice():
    assert page.large_yield().si == pytest.approx(page.small_yield().si ** 2)


def test_tested_dies_are_all_used():
    good = printed.states(0).count(0)
    assert page.good_pairs(True).si == good // 2
    assert page.good_pairs(False).si <= page.good_pairs(True).si
