"""A section summed layer by layer, held to its closed form, and what follows."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.memory.stack.height import Section, gap_share, inferred, thickest_die
from stacklib.quantity import Quantity

from ...rows import refusals

LENGTH = st.floats(0, 300)


@given(st.integers(1, 24), st.floats(1, 120), st.floats(0, 30), LENGTH)
def test_layers_add_up_to_the_height(dies, die, gap, rest):
    section = Section(dies, die, gap, rest)
    layers = list(section.layers())
    assert layers[0].bottom == 0
    for below, above in pairwise(layers):
        assert above.bottom == pytest.approx(below.top)
    assert layers[-1].top == pytest.approx(section.height)
    assert sum(layer.name.startswith("die") for layer in layers) == dies


@given(st.integers(1, 20), st.floats(0, 12), st.floats(0, 250), st.floats(700, 900))
def test_the_thickest_die_fills_the_height(dies, gap, rest, height):
    lengths = {"gap": Quantity(gap, "µm"), "rest": Quantity(rest, "µm")}
    if (height - rest) / dies <= gap:
        with pytest.raises(ValueError, match="leave nothing"):
            thickest_die(Quantity(height, "µm"), dies, **lengths)
        return
    die = thickest_die(Quantity(height, "µm"), dies, **lengths).to("µm").value
    assert Section(dies, die, gap, rest).height == pytest.approx(height)


def test_two_press_releases_fix_gap_and_rest():
    found = inferred()
    thick, gap, rest = (q.to("µm").value for q in (found.thick, found.gap, found.rest))
    thin = hardware.stack_fact("thin_die").to("µm").value
    height = hardware.stack_generation("hbm3").module_height.to("µm").value
    assert Section(8, thick, gap, rest).height == pytest.approx(height)
    assert Section(12, thin, gap, rest).height == pytest.approx(height)


def test_the_gaps_are_what_another_maker_saves():
    found = inferred()
    module = hardware.stack_generation("hbm3").module_height
    saved = gap_share(12, module, found.gap).si
    told = hardware.stack_fact("hybrid_shorter").si
    assert told < saved < told * 1.2  # "more than 15 %"


def test_a_ratio_that_leaves_no_gap_is_refused():
    with pytest.raises(ValueError, match="no gap is left"):
        inferred(8, 16)
    with pytest.raises(ValueError, match="the second must be more"):
        inferred(12, 8)


test_what_is_no_section_is_refused = refusals(
    ({"dies": 0}, "dies = 0"),
    ({"dies": True}, "dies = True"),
    ({"die": 0}, "die = 0"),
    ({"gap": -1}, "gap = -1"),
    ({"rest": float("nan")}, "rest = nan"),
    by=lambda fields: Section(
        **{"dies": 8, "die": 50, "gap": 10, "rest": 240, **fields}
    ),
)
