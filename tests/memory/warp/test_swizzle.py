"""Swizzles: equal to pycute, proved tile by tile, found, and shown not to exist."""

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.memory import Swizzle, Tile, bank_conflicts, find_swizzle
from stacklib.memory.warp.swizzle import MODES, matching_swizzle, padded
from stacklib.memory.warp.swizzle_proof import FAMILY, prove, rank, rank_ways
from stacklib.memory.warp.swizzle_search import candidates, search_swizzle
from stacklib.memory.warp.tiles import Pattern, extra, least_ways, worst

from ...rows import refusals

KNOWN = json.loads(Path(__file__).with_name("pycute.json").read_text())
HALVES = Tile(32, 64, 2)  # the tile of the posts: 64 columns of fp16


def same(offset: int) -> int:
    """No swizzle."""
    return offset


@pytest.mark.rows("case", KNOWN["swizzle"])
def test_swizzles_are_those_of_pycute(case):
    bits, base, shift, offsets, expected = case
    assert [Swizzle(bits, base, shift)(x) for x in offsets] == expected


def every_swizzle():
    """All with up to five bits, low bases and shifts either way."""
    for bits, base, shift in itertools.product(range(6), range(4), range(-6, 7)):
        if abs(shift) >= bits:
            yield Swizzle(bits, base, shift)


def test_every_swizzle_is_a_permutation_that_undoes_itself():
    proved = offsets = 0
    for swizzle in every_swizzle():
        period = swizzle.period
        image = [swizzle(x) for x in range(period)]
        assert sorted(image) == list(range(period))
        assert all(swizzle(y) == x for x, y in enumerate(image))
        together = 1 << swizzle.base
        assert all(y % together == x % together for x, y in enumerate(image))
        proved, offsets = proved + 1, offsets + period
    assert (proved, offsets) == (212, 200_955)


@given(st.integers(0, 5), st.integers(0, 4), st.integers(5, 8), st.integers(0, 9999))
def test_a_swizzle_of_elements_is_one_of_their_bytes(bits, base, shift, offset):
    elements = Swizzle(bits, base, shift)
    for width in (1, 2, 4, 8, 16):
        assert elements.on_bytes(width)(offset * width) == elements(offset) * width


# -- proofs ----------------------------------------------------------------------------


def test_every_tile_of_the_family_is_free_under_its_swizzle():
    proofs = [prove(width, pitch) for width, pitch in FAMILY]
    assert len(proofs) == 18 and sum(p.requests for p in proofs) == 30_870
    for proof in proofs:
        assert proof.worst == 1
        places = min(proof.pitch, 128) // proof.width
        assert proof.plain == 1 << proof.swizzle.bits == places


@pytest.mark.rows(("width", "pitch"), FAMILY)
def test_one_bit_fewer_is_not_enough(width, pitch):
    full = matching_swizzle(pitch, width)
    less = Swizzle(full.bits - 1, full.base, full.shift)
    assert prove(width, pitch, less).worst == 2


def test_the_modes_of_the_hardware_are_the_matching_swizzles():
    by_name = {mode.name: mode.swizzle for mode in MODES}
    for pitch in (32, 64, 128):
        assert by_name[f"{pitch}B"] == matching_swizzle(pitch, 16)
    assert [by_name["none"](x) for x in range(4096)] == list(range(4096))
    assert len({mode.code for mode in MODES}) == len(MODES) == 5


@given(
    st.sampled_from([s for s in every_swizzle() if s.shift >= 0]),
    st.lists(st.integers(0, 11), min_size=1, max_size=5, unique=True),
    st.sampled_from([1, 2, 4, 8, 16]),
    st.integers(0, 63),
)
def test_the_rank_is_the_conflict_of_lanes_that_differ_in_bits(s, bits, width, start):
    steps = [width << bit for bit in bits]
    swizzle = s.on_bytes(width)
    lanes = [
        start * width ^ sum(step for i, step in enumerate(steps) if lane >> i & 1)
        for lane in range(1 << len(steps))
    ]
    placed = [swizzle(address) for address in lanes]
    assert rank_ways(steps, swizzle, width) == bank_conflicts(placed, width)


@given(st.lists(st.integers(0, 255), max_size=6))
def test_the_rank_is_the_size_of_the_span(vectors):
    span = {0}
    for vector in vectors:
        span |= {vector ^ other for other in span}
    assert 1 << rank(vectors) == len(span)


# -- the tile of the posts --------------------------------------------------


@pytest.mark.rows(
    ("place", "row", "column", "matrix"),
    [
        (same, 1, 32, 8),
        (padded(128, 2), 1, 2, None),
        (padded(128, 4), 1, 1, None),
        (padded(128, 16), 1, 4, 1),
        (Swizzle(5, 0, 6).on_bytes(2), 1, 2, None),
        (Swizzle(5, 2, 5), 1, 1, None),
        (Swizzle(3, 4, 3), 1, 4, 1),
    ],
)
def test_what_each_remedy_does_for_64_columns_of_fp16(place, row, column, matrix):
    assert worst(HALVES.along(), place) == row
    assert worst(HALVES.down(), place) == column
    if matrix:
        assert worst(HALVES.matrices(), place) == matrix


def test_padding_and_swizzle_of_a_square_tile():
    tile = Tile(32, 32, 4)
    assert worst(tile.down(), same) == 32 and extra(tile.down(), same) == 32 * 31
    assert worst(tile.down(), padded(128, 4)) == 1
    assert extra(tile.down(), Swizzle(5, 2, 5)) == 0
    assert find_swizzle([tile.along(), tile.down()]) == Swizzle(5, 2, 5)


@pytest.mark.rows("width", [4, 8, 16])
@pytest.mark.rows("side", [8, 16, 32])
def test_a_found_swizzle_is_free_of_conflicts_in_every_request(side, width):
    tile = Tile(side, side, width)
    patterns = [tile.along(), tile.down()]
    found = find_swizzle(patterns, keep=width)
    assert found is not None
    assert [worst(pattern, found) for pattern in patterns] == [1, 1]


def test_no_swizzle_frees_columns_and_ldmatrix_at_once():
    patterns = [HALVES.along(), HALVES.down(), HALVES.matrices()]
    search = search_swizzle(patterns, keep=16)
    assert not search.found and find_swizzle(patterns, keep=16) is None
    assert (search.ways, search.tried, search.requests) == (4, 51, 136)
    assert search.best == Swizzle(3, 4, 3)
    # and no placement that keeps 16 bytes whole can do better
    assert least_ways(HALVES.down(), 16) == 4
    assert least_ways(HALVES.matrices(), 16) == least_ways(HALVES.down(), 4) == 1


@given(st.permutations(range(16)), st.integers(0, 3), st.sampled_from([4, 8, 16]))
def test_no_placement_beats_the_bound(order, column, keep):
    tile = Tile(16, 16, 4)  # chunks moved about by a random permutation of rows
    pattern = tile.down()

    def place(offset):
        chunk, inside = divmod(offset, keep)
        row, rest = divmod(chunk, 64 // keep)
        moved = order[row] * (64 // keep) + (rest + column * row) % (64 // keep)
        return moved * keep + inside

    assert worst(pattern, place) >= least_ways(pattern, keep)


def test_where_no_swizzle_helps_the_search_says_so():
    far = Pattern("far", 4, (tuple(4096 * lane for lane in range(32)),))
    search = search_swizzle([far], top=8)
    assert search.ways == 32 and search.best.bits == 0
    assert search.tried == len(set(candidates(4, 8)))


test_what_cannot_be_is_refused_with_its_value = refusals(
    (lambda: Swizzle(2, 0, 1), "shift of at least 2"),
    (lambda: Swizzle(-1, 0, 0), "bits = -1"),
    (lambda: Swizzle(1, -1, 1), "base = -1"),
    (lambda: Swizzle(1.0, 0, 1), "bits = 1.0"),
    (lambda: Swizzle(1, 0, 1)(-1), "offset = -1"),
    (lambda: Swizzle(1, 0, 1)(0.5), "offset = 0.5"),
    (lambda: Swizzle(1, 0, 1).on_bytes(3), "width = 3"),
    (lambda: matching_swizzle(96, 4), "pitch = 96"),
    (lambda: matching_swizzle(8, 16), "pitch = 8"),
    (lambda: matching_swizzle(128, 2), "width = 2"),
    (lambda: padded(0, 4), "row = 0"),
    (lambda: padded(8, -4), "padding = -4"),
    (lambda: Tile(0, 4, 4), "rows = 0"),
    (lambda: Tile(4, 4, 3), "width = 3"),
    (lambda: Tile(8, 9, 2).matrices(), "rows of 18 bytes"),
    (lambda: worst(HALVES.matrices(), padded(128, 2)), "no multiple of its 16"),
    (lambda: least_ways(HALVES.down(), 12), "together = 12"),
    (lambda: search_swizzle([]), "no request"),
    (lambda: search_swizzle([HALVES.matrices()], keep=4), "keep = 4"),
    (lambda: rank_ways([1] * 6, same), "6 bits of lanes"),
)
