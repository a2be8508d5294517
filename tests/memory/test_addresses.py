"""Coalescing, banks and swizzles: known patterns, every pattern, and pycute."""

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.memory import Swizzle, bank_conflicts, sectors
from stacklib.memory.banks import bank_access
from stacklib.memory.coalescing import coalesce
from stacklib.memory.lanes import strided
from stacklib.memory.swizzle import find_swizzle, padded, tile_requests, worst

KNOWN = json.loads(Path(__file__).with_name("pycute.json").read_text())


def same(offset: int) -> int:
    """No swizzle."""
    return offset


# -- sectors ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stride", "width", "expected"),
    [(1, 4, 4), (2, 4, 8), (4, 4, 16), (8, 4, 32), (32, 4, 32), (0, 4, 1),
     (1, 1, 1), (1, 2, 2), (1, 8, 8), (1, 16, 16), (2, 2, 4)],
)  # fmt: skip
def test_a_strided_request_touches_the_known_sectors(stride, width, expected):
    assert sectors(strided(stride, width=width), width) == expected


def test_a_request_off_its_sector_touches_one_more():
    for base in range(0, 32, 4):
        assert sectors(strided(1, base=base)) == (4 if base == 0 else 5)


def test_stride_32_moves_eight_times_the_bytes():
    one, far = coalesce(strided(1)), coalesce(strided(32))
    assert far.moved == 8 * one.moved and far.asked == one.asked == 128
    assert one.efficiency == 1 and far.efficiency == 1 / 8
    assert (one.lines, far.lines) == (1, 32)


@given(
    st.lists(st.none() | st.integers(0, 500), min_size=1, max_size=32),
    st.sampled_from([1, 2, 4, 8, 16]),
)
def test_sectors_are_those_of_the_bytes_touched(places, width):
    lanes = [None if p is None else p * width for p in places]
    touched = {
        (a + byte) // 32 for a in lanes if a is not None for byte in range(width)
    }
    found = coalesce(lanes, width)
    assert set(found.sectors) == touched
    assert 0 <= found.efficiency <= 1


# -- banks -----------------------------------------------------------------------


@pytest.mark.parametrize("stride", range(1, 65))
def test_a_stride_conflicts_by_its_common_divisor(stride):
    import math

    assert bank_conflicts(strided(stride)) == math.gcd(stride, 32)


@pytest.mark.parametrize(
    ("addresses", "width", "ways"),
    [
        ([0] * 32, 4, 1),  # one word for all
        ([128 * row for row in range(32)], 2, 32),  # a column of 64 fp16
        ([132 * row for row in range(32)], 4, 1),  # fp32, 33 columns
        ([130 * row for row in range(32)], 2, 2),  # fp16, 65 columns
        (strided(1, width=8), 8, 1), (strided(1, width=16), 16, 1),
        ([128 * (lane % 8) for lane in range(32)], 16, 8),  # ldmatrix, unswizzled
    ],
)  # fmt: skip
def test_known_patterns_conflict_as_known(addresses, width, ways):
    assert bank_conflicts(addresses, width) == ways


def test_wide_accesses_run_in_phases():
    assert len(bank_access(strided(1, width=8), 8).ways) == 2
    wide = bank_access(strided(1, width=16), 16)
    assert wide.ways == (1, 1, 1, 1) and wide.passes == 4 and wide.extra == 0
    # half-warps do not conflict with each other
    lanes = [0] * 16 + [128 * 32] * 16
    assert bank_conflicts(lanes, 8) == 1
    assert bank_access([128 * row for row in range(32)]).extra == 31


@given(
    st.lists(st.none() | st.integers(0, 300), min_size=1, max_size=32),
    st.sampled_from([1, 2, 4]),
)
def test_the_degree_is_the_fullest_bank(places, width):
    lanes = [None if p is None else p * width for p in places]
    words = {a // 4 for a in lanes if a is not None}
    fullest = max(sum(w % 32 == b for w in words) for b in range(32))
    assert bank_conflicts(lanes, width) == fullest


@pytest.mark.parametrize("count", [sectors, bank_conflicts])
@pytest.mark.parametrize(
    ("addresses", "width", "message"),
    [([0], 3, "width = 3"), ([0], True, "width = True"), ([], 4, "0 addresses"),
     ([0] * 33, 4, "33 addresses"), ([0, -4], 4, "lane 1: address -4"),
     ([2], 4, "lane 0: address 2 is no multiple of its 4"),
     ([0.0], 4, "no whole number"), ([float("nan")], 4, "no whole number")],
)  # fmt: skip
def test_impossible_requests_name_the_lane(count, addresses, width, message):
    with pytest.raises(ValueError, match=message):
        count(addresses, width)


# -- swizzles --------------------------------------------------------------------


@pytest.mark.parametrize("case", KNOWN["swizzle"], ids=lambda c: str(c[:3]))
def test_swizzles_are_those_of_pycute(case):
    bits, base, shift, offsets, expected = case
    assert [Swizzle(bits, base, shift)(x) for x in offsets] == expected


def every_swizzle():
    """All with up to five bits, low bases and shifts either way."""
    for bits, base, shift in itertools.product(range(6), range(4), range(-6, 7)):
        if abs(shift) >= bits:
            yield Swizzle(bits, base, shift)


def test_every_swizzle_is_a_permutation_that_undoes_itself():
    proved = 0
    for swizzle in every_swizzle():
        period = swizzle.period
        image = [swizzle(x) for x in range(period)]
        assert sorted(image) == list(range(period))
        assert all(swizzle(y) == x for x, y in enumerate(image))
        together = 1 << swizzle.base
        assert all(y % together == x % together for x, y in enumerate(image))
        proved += 1
    assert proved > 200


def test_the_column_of_a_square_tile():
    requests = list(tile_requests(32, 32, 4))
    assert worst(requests, same, width=4) == 32
    assert worst(requests, padded(32, 1), width=4) == 1
    assert worst(requests, Swizzle(5, 0, 5), width=4) == 1
    assert find_swizzle(requests, width=4) == Swizzle(5, 0, 5)


def test_the_128_byte_swizzle_frees_ldmatrix():
    # eight rows of 128 bytes, 16 bytes a lane: on bytes it is Swizzle<3, 4, 3>
    rows = [[128 * row + 16 * chunk for row in range(8)] for chunk in range(8)]
    swizzle = Swizzle(3, 4, 3)
    for column in rows:
        assert bank_conflicts(column, 16) == 8
        assert bank_conflicts([swizzle(a) for a in column], 16) == 1


def test_swizzling_single_halves_still_conflicts_in_pairs():
    # two fp16 share a word: a column of 64 of them cannot do better than 2-way
    requests = [[64 * row + column for row in range(32)] for column in range(64)]
    assert worst(requests, same, width=2) == 32
    assert worst(requests, Swizzle(5, 0, 6), width=2) == 2


@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize("side", [8, 16, 32])
def test_a_found_swizzle_is_free_of_conflicts_in_every_request(side, width):
    requests = list(tile_requests(side, side, width))
    found = find_swizzle(requests, width=width)
    assert found is not None
    for request in requests:
        places = [width * found(offset) for offset in request]
        assert bank_conflicts(places, width) == 1


def test_where_no_swizzle_helps_none_is_found():
    same_bank = [[4096 * lane for lane in range(32)]]
    assert find_swizzle(same_bank, width=4, most=8) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((2, 0, 1), "shift of at least 2"), ((-1, 0, 0), "0 or more"),
     ((1, -1, 1), "0 or more"), ((1.0, 0, 1), "bits = 1.0")],
)  # fmt: skip
def test_what_is_no_swizzle_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Swizzle(*arguments)


def test_bad_tiles_and_offsets_are_refused():
    with pytest.raises(ValueError, match="offset -1"):
        Swizzle(1, 0, 1)(-1)
    with pytest.raises(ValueError, match="6 columns do not divide"):
        list(tile_requests(4, 6, 4, vector=4))
    with pytest.raises(ValueError, match="a lane takes 16 at most"):
        list(tile_requests(4, 8, 4, vector=8))
