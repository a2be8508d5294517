"""Layout algebra: each operation by its definition, and equal to pycute."""

import json
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stacklib.memory.layout import (
    Layout,
    coalesced,
    complement,
    composed,
    divided,
    multiplied,
    row_major,
)

KNOWN = json.loads(Path(__file__).with_name("pycute.json").read_text())


def tuples(tree):
    """JSON lists as nested tuples."""
    return tuple(map(tuples, tree)) if isinstance(tree, list) else tree


def layout(pair) -> Layout:
    """A layout from JSON."""
    return Layout(tuples(pair[0]), tuples(pair[1]))


@pytest.mark.parametrize("case", KNOWN["offsets"], ids=lambda c: str(c[0]))
def test_offsets_are_those_of_pycute(case):
    assert layout(case[0]).offsets == case[1]
    assert layout(case[0]).cosize == case[2]


@pytest.mark.parametrize("case", KNOWN["coalesce"], ids=lambda c: str(c[0]))
def test_coalescing_gives_the_layout_of_pycute(case):
    assert coalesced(layout(case[0])) == layout(case[1])


@pytest.mark.parametrize("case", KNOWN["compose"], ids=lambda c: f"{c[0]} {c[1]}")
def test_composition_is_the_function_of_pycute(case):
    assert composed(layout(case[0]), layout(case[1])).offsets == case[2]


@pytest.mark.parametrize("case", KNOWN["complement"], ids=lambda c: f"{c[0]} {c[1]}")
def test_the_complement_is_that_of_pycute(case):
    assert complement(layout(case[0]), case[1]).offsets == layout(case[2]).offsets


@pytest.mark.parametrize("case", KNOWN["divide"], ids=lambda c: f"{c[0]} {c[1]}")
def test_division_is_the_function_of_pycute(case):
    assert divided(layout(case[0]), layout(case[1])).offsets == case[2]


@pytest.mark.parametrize("case", KNOWN["product"], ids=lambda c: f"{c[0]} {c[1]}")
def test_the_product_is_the_function_of_pycute(case):
    assert multiplied(layout(case[0]), layout(case[1])).offsets == case[2]


SIZES = st.sampled_from([1, 2, 3, 4, 6, 8])
FLAT = st.lists(st.tuples(SIZES, st.sampled_from([1, 2, 3, 4, 8, 12])), min_size=1,
                max_size=3).map(lambda p: Layout(tuple(s for s, _ in p),
                                                 tuple(d for _, d in p)))  # fmt: skip


@given(FLAT)
def test_coalescing_keeps_the_function(any_layout):
    assert coalesced(any_layout).offsets == any_layout.offsets


@given(FLAT, FLAT)
def test_composition_is_one_function_after_the_other_or_is_refused(outer, inner):
    assume(inner.cosize <= outer.size)
    try:
        made = composed(outer, inner)
    except ValueError:
        return
    assert made.offsets == [outer(inner(i)) for i in range(inner.size)]


@given(FLAT, st.integers(1, 96))
def test_a_complement_covers_what_was_skipped_and_nothing_twice(part, size):
    try:
        rest = complement(part, size)
    except ValueError:
        return
    met = [a + b for a in part.offsets for b in rest.offsets]
    assert len(set(met)) == len(met)
    assert set(range(size)) <= set(met) or part.cosize > size


def test_row_major_is_how_numpy_stores():
    numpy = pytest.importorskip("numpy")
    made = row_major(3, 4, 5)
    array = numpy.arange(60).reshape(3, 4, 5)
    for place in numpy.ndindex(3, 4, 5):
        assert made(*place) == array[place]


def test_a_matrix_divides_into_tiles():
    tiled = divided(row_major(4, 6), Layout(4, 1))
    assert tiled.modes[0].size == 4 and tiled.modes[1].size == 6
    assert sorted(tiled.offsets) == list(range(24))


@pytest.mark.parametrize(
    ("shape", "stride", "message"),
    [((2, 3), (1,), "other brackets"), ((2, (2, 2)), (1, 2), "other brackets"),
     ((0, 2), None, "no size from 1"), ((2.0,), None, "no size from 1"),
     ((2,), (-1,), "below zero"), ((True,), None, "no size from 1")],
)  # fmt: skip
def test_what_is_no_layout_is_refused(shape, stride, message):
    with pytest.raises(ValueError, match=message):
        Layout(shape, stride)


def test_a_coordinate_outside_is_refused():
    tile = Layout((2, 4), (4, 1))
    for bad in ((8,), (-1,), (2, 0), (0, 4)):
        with pytest.raises(ValueError, match="outside"):
            tile(*bad)
    with pytest.raises(ValueError, match="3 coordinates for 2 modes"):
        tile(0, 0, 0)


def test_a_cut_through_a_mode_is_refused():
    with pytest.raises(ValueError, match="do not divide"):
        composed(Layout((4, 3), (1, 8)), Layout(3, 3))
