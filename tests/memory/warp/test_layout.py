"""Layout algebra: each operation by its definition, and equal to pycute."""

import json
from pathlib import Path

import numpy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stacklib.memory import Swizzle, bank_conflicts, sectors
from stacklib.memory.warp.arranged import Swizzled, addresses, tiled, vector_width
from stacklib.memory.warp.layout import (
    Layout,
    coalesced,
    complement,
    composed,
    divided,
    multiplied,
    row_major,
)

from ...rows import refusals

HERE = Path(__file__)
KNOWN = json.loads(HERE.with_name("pycute.json").read_text())
RANDOM = json.loads(HERE.with_name("pycute_random.json").read_text())
OURS = {
    "composition": lambda a, b: composed(a, layout(b)),
    "complement": complement,
    "logical_divide": lambda a, b: divided(a, layout(b)),
    "logical_product": lambda a, b: multiplied(a, layout(b)),
    "zipped_divide": lambda a, shape: tiled(a, *shape),
}


def tuples(tree):
    """JSON lists as nested tuples."""
    return tuple(map(tuples, tree)) if isinstance(tree, list) else tree


def layout(pair) -> Layout:
    """A layout from JSON."""
    return Layout(tuples(pair[0]), tuples(pair[1]))


@pytest.mark.rows("case", KNOWN["offsets"])
def test_offsets_are_those_of_pycute(case):
    assert layout(case[0]).offsets == case[1]
    assert layout(case[0]).cosize == case[2]


@pytest.mark.rows("case", KNOWN["coalesce"])
def test_coalescing_gives_the_layout_of_pycute(case):
    assert coalesced(layout(case[0])) == layout(case[1])


@pytest.mark.rows("case", KNOWN["compose"])
def test_composition_is_the_function_of_pycute(case):
    assert composed(layout(case[0]), layout(case[1])).offsets == case[2]


@pytest.mark.rows("case", KNOWN["complement"])
def test_the_complement_is_that_of_pycute(case):
    assert complement(layout(case[0]), case[1]).offsets == layout(case[2]).offsets


@pytest.mark.rows("case", KNOWN["divide"])
def test_division_is_the_function_of_pycute(case):
    assert divided(layout(case[0]), layout(case[1])).offsets == case[2]


@pytest.mark.rows("case", KNOWN["product"])
def test_the_product_is_the_function_of_pycute(case):
    assert multiplied(layout(case[0]), layout(case[1])).offsets == case[2]


@pytest.mark.rows("operation", OURS)
def test_random_layouts_are_those_of_pycute(operation):
    cases = RANDOM[operation]
    assert len(cases) == 150
    for one, other, expected in cases:
        made = OURS[operation](layout(one), other)
        assert made.offsets == layout(expected).offsets, (one, other)


@pytest.mark.rows("operation", RANDOM["stride_zero"])
def test_modes_of_stride_zero_are_filtered_as_pycute_filters_them(operation):
    cases = RANDOM["stride_zero"][operation]
    assert len(cases) == 60
    for one, other, expected in cases:
        made = OURS[operation](layout(one), other)
        assert made.offsets == layout(expected).offsets, (one, other)


def test_what_pycute_refuses_is_refused():
    assert len(RANDOM["refused"]) == 150
    for operation, one, other in RANDOM["refused"]:
        with pytest.raises(ValueError, match=r"\d"):
            OURS[operation](layout(one), other)


SIZES = st.sampled_from([1, 2, 3, 4, 6, 8])
FLAT = st.lists(
    st.tuples(SIZES, st.sampled_from([0, 1, 2, 3, 4, 8, 12])), min_size=1, max_size=3
).map(lambda p: Layout(tuple(s for s, _ in p), tuple(d for _, d in p)))


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
    # A mode of stride 0 meets its offsets again; the rest does not.
    met = [a + b for a in set(part.offsets) for b in rest.offsets]
    assert len(set(met)) == len(met)
    assert set(range(size)) <= set(met) or part.cosize > size


def test_row_major_is_how_numpy_stores():
    made = row_major(3, 4, 5)
    array = numpy.arange(60).reshape(3, 4, 5)
    for place in numpy.ndindex(3, 4, 5):
        assert made(*place) == array[place]


def test_a_matrix_divides_into_tiles():
    tiled = divided(row_major(4, 6), Layout(4, 1))
    assert tiled.modes[0].size == 4 and tiled.modes[1].size == 6
    assert sorted(tiled.offsets) == list(range(24))


test_what_is_no_layout_is_refused = refusals(
    ((2, 3), (1,), "other brackets"),
    ((2, (2, 2)), (1, 2), "other brackets"),
    ((0, 2), None, "no size from 1"),
    ((2.0,), None, "no size from 1"),
    ((2,), (-1,), "below zero"),
    ((True,), None, "no size from 1"),
    by=Layout,
)


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


# -- laws ------------------------------------------------------------------------


@given(FLAT)
def test_composing_with_the_identity_changes_nothing(any_layout):
    size = any_layout.size
    assert composed(any_layout, Layout(size)).offsets == any_layout.offsets


@given(FLAT, FLAT, FLAT)
def test_composition_is_associative_where_it_is_defined(a, b, c):
    assume(b.cosize <= a.size and c.cosize <= b.size)
    try:
        left, right = composed(composed(a, b), c), composed(a, composed(b, c))
    except ValueError:
        return
    assert left.offsets == right.offsets


@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 4), st.integers(1, 4))
def test_a_tiled_matrix_has_every_offset_of_the_matrix_once(rows, columns, h, w):
    matrix = row_major(rows * h, columns * w)
    cut = tiled(matrix, h, w)
    assert [m.size for m in cut.modes] == [h * w, rows * columns]
    assert sorted(cut.offsets) == sorted(matrix.offsets)
    for i in range(rows * columns):  # each tile: h rows of w neighbours
        first, *_ = inside = [cut(j, i) for j in range(h * w)]
        assert inside == [
            first + r * columns * w + c for c in range(w) for r in range(h)
        ]


def test_a_tile_that_does_not_divide_is_refused():
    with pytest.raises(ValueError, match="tiles of 4 do not divide a mode of 6"):
        tiled(row_major(6, 6), 4, 4)
    with pytest.raises(ValueError, match="3 modes for a layout of 2"):
        tiled(row_major(6, 6), 2, 2, 2)


# -- layouts as requests ------------------------------------------------------------


def test_coalescing_is_a_layout_that_coalesces():
    matrix = row_major(64, 64)
    row = composed(matrix, Layout(32, 64))  # mode 0 runs fastest: along a row
    column = composed(matrix, Layout(32, 1))
    assert (vector_width(row), vector_width(column)) == (32, 1)
    assert sectors(addresses(row, width=4)) == 4
    assert sectors(addresses(column, width=4)) == 32


def test_a_swizzled_layout_is_the_function_after_the_function():
    tile = row_major(32, 32)
    free = Swizzled(Swizzle(5, 0, 5), composed(tile, Layout(32, 1)))
    assert free.size == 32 and free(3) == free.offsets[3] == 3 * 32 + 3
    assert bank_conflicts(addresses(free.layout, width=4)) == 32
    assert bank_conflicts(addresses(free, width=4)) == 1
    by_bytes = addresses(free.layout, width=4, place=Swizzle(5, 2, 5))
    assert by_bytes == addresses(free, width=4)
    with pytest.raises(ValueError, match="64 lanes"):
        addresses(Layout(64), width=4)
