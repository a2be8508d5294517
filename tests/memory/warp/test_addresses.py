"""Sectors and banks: known patterns, every stride, and memories that really serve."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.memory import bank_conflicts, sectors, transpose
from stacklib.memory.cache.walk import sawtooth, strided_walk
from stacklib.memory.warp.banked import BankedMemory
from stacklib.memory.warp.banks import bank_access, strided_ways
from stacklib.memory.warp.batches import bank_ways, coalesce_all
from stacklib.memory.warp.coalescing import coalesce, pieces, strided_pieces
from stacklib.memory.warp.lanes import WIDTHS, strided
from stacklib.memory.warp.sectored import SectoredMemory
from stacklib.memory.warp.transposing import WAYS
from stacklib.quantity import Quantity

from ...rows import refusals

PLACES = st.lists(st.none() | st.integers(0, 500), min_size=1, max_size=32)
WIDTH = st.sampled_from(WIDTHS)


def scaled(places, width):
    """Places as addresses of so many bytes each."""
    return [None if p is None else p * width for p in places]


# -- sectors ---------------------------------------------------------------------


@pytest.mark.rows(
    ("stride", "width", "expected"),
    [
        (1, 4, 4),
        (2, 4, 8),
        (4, 4, 16),
        (8, 4, 32),
        (32, 4, 32),
        (0, 4, 1),
        (1, 1, 1),
        (1, 2, 2),
        (1, 8, 8),
        (1, 16, 16),
        (2, 2, 4),
    ],
)
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


@pytest.mark.rows("stride", range(1, 65))
def test_a_stride_conflicts_by_its_common_divisor(stride):
    assert bank_conflicts(strided(stride)) == math.gcd(stride, 32)


@pytest.mark.rows(
    ("addresses", "width", "ways"),
    [
        ([0] * 32, 4, 1),  # one word for all
        ([128 * row for row in range(32)], 2, 32),  # a column of 64 fp16
        ([132 * row for row in range(32)], 4, 1),  # fp32, 33 columns
        ([130 * row for row in range(32)], 2, 2),  # fp16, 65 columns
        (strided(1, width=8), 8, 1),
        (strided(1, width=16), 16, 1),
        ([128 * (lane % 8) for lane in range(32)], 16, 8),  # ldmatrix, unswizzled
    ],
)
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


@pytest.mark.rows("count", [sectors, bank_conflicts])
@pytest.mark.rows(
    ("addresses", "width", "message"),
    [
        ([0], 3, "width = 3"),
        ([0], True, "width = True"),
        ([], 4, "0 addresses"),
        ([0] * 33, 4, "33 addresses"),
        ([0, -4], 4, "lane 1: address -4"),
        ([2], 4, "lane 0: address 2 is no multiple of its 4"),
        ([0.0], 4, "no whole number"),
        ([float("nan")], 4, "no whole number"),
    ],
)
def test_impossible_requests_name_the_lane(count, addresses, width, message):
    with pytest.raises(ValueError, match=message):
        count(addresses, width)


# -- the closed forms, exhaustively -------------------------------------------------

STRIDES = range(-40, 41)
LANES = (32, 17, 5)


def every_walk():
    """Each stride, width, start within 128 bytes and some numbers of lanes."""
    for width in WIDTHS:
        far = 40 * 32 * width
        for stride in STRIDES:
            for base in range(far, far + 128, width):
                for lanes in LANES:
                    yield stride, width, base, lanes


def test_the_closed_forms_are_the_counters_on_every_small_walk():
    checked = 0
    for stride, width, base, lanes in every_walk():
        walk = strided(stride, width=width, base=base, lanes=lanes)
        given = (stride, width, base, lanes)
        step = stride * width
        for size in (32, 64, 128):
            found = strided_pieces(step, first=base, lanes=lanes, size=size)
            assert found == pieces(walk, width, size), given
        ways = strided_ways(stride, width=width, base=base, lanes=lanes)
        assert ways == bank_conflicts(walk, width), given
        checked += 1
    assert checked == len(STRIDES) * len(LANES) * (128 + 64 + 32 + 16 + 8) == 60_264


def test_a_closed_form_runs_on_quantities_and_arrays():
    q = Quantity(128, "B", label="step")
    found = strided_pieces(q, first=Quantity(0, "B"), size=Quantity(32, "B"))
    assert found.si == 32 and found.unit == ""
    steps = np.array([0, 4, 8, -8, 400])
    many = strided_pieces(steps, first=4096)
    assert [strided_pieces(int(s), first=4096) for s in steps] == many.tolist()


test_what_cannot_be_is_refused_with_its_value = refusals(
    (lambda: strided_ways(1, width=3), "width = 3"),
    (lambda: strided_ways(1.5), "stride = 1.5: a whole number"),
    (lambda: strided_ways(True), "stride = True"),
    (lambda: strided_ways(1, base=2), "base = 2"),
    (lambda: strided_ways(1, lanes=33), "lanes = 33"),
    (lambda: strided(float("nan")), "stride = nan"),
    (lambda: strided(-1, base=0), "start at 124 or above"),
    (lambda: strided(1, lanes=40), "lanes = 40"),
    (lambda: pieces([0], 4, 30), "size = 30"),
    (lambda: BankedMemory(30), "size = 30"),
    (lambda: BankedMemory(0), "size = 0"),
    (lambda: SectoredMemory(bytes(40)), "40 bytes"),
    (lambda: transpose(33, "tile"), "side = 33"),
    (lambda: transpose(32, "diagonal"), "way = 'diagonal'"),
)


# -- memories that serve -------------------------------------------------------------


@given(PLACES, WIDTH, st.randoms())
def test_a_banked_memory_gives_what_is_there_in_the_passes_counted(places, width, rng):
    lanes = scaled(places, width)
    plain = bytearray(rng.randbytes(501 * width + 128))
    memory = BankedMemory(len(plain) // 128 * 128)
    rows = [range(at, at + 128, 4) for at in range(0, memory.size, 128)]
    for row in rows:
        assert memory.store(row, [bytes(plain[at : at + 4]) for at in row]) == 1
    served = memory.load(lanes, width)
    assert served.values == tuple(
        None if a is None else bytes(plain[a : a + width]) for a in lanes
    )
    assert served.passes == bank_access(lanes, width).passes
    values = [rng.randbytes(width) for _ in lanes]
    assert memory.store(lanes, values, width) == served.passes
    for address, value in zip(lanes, values, strict=True):
        if address is not None:
            plain[address : address + width] = value  # the highest lane stays
    everything = b"".join(b"".join(memory.load(row).values) for row in rows)
    assert everything == bytes(plain[: memory.size])


@given(PLACES, WIDTH, st.randoms())
def test_a_sectored_memory_gives_what_is_there_in_the_sectors_counted(
    places, width, rng
):
    lanes = scaled(places, width)
    plain = bytearray(rng.randbytes((501 * width + 63) // 32 * 32))
    memory = SectoredMemory(bytes(plain))
    assert memory.load(lanes, width) == tuple(
        None if a is None else bytes(plain[a : a + width]) for a in lanes
    )
    values = [rng.randbytes(width) for _ in lanes]
    memory.store(lanes, values, width)
    for address, value in zip(lanes, values, strict=True):
        if address is not None:
            plain[address : address + width] = value
    assert memory.data == bytes(plain)
    assert memory.read == memory.written == sectors(lanes, width)


def test_lanes_past_the_end_and_values_of_another_size_are_named():
    memory = BankedMemory(128)
    with pytest.raises(IndexError, match="lane 1: 4 bytes at 128"):
        memory.load([0, 128])
    with pytest.raises(IndexError, match="lane 0: byte 64"):
        SectoredMemory(bytes(64)).load([64])
    for holder in (memory, SectoredMemory(bytes(64))):
        with pytest.raises(ValueError, match="lane 0: b'x' is not 4 bytes"):
            holder.store([0], [b"x"])
    with pytest.raises(ValueError, match="2 values for 1 lanes"):
        memory.store([0], [b"abcd"] * 2)


@pytest.mark.parametrize("side", [32, 64])
def test_a_matrix_is_transposed_and_only_the_cost_differs(side):
    right = tuple(np.arange(side * side).reshape(side, side).T.ravel().tolist())
    tiles, least = (side // 32) ** 2, side * side * 4 // 32
    done = {way: transpose(side, way) for way in WAYS}
    assert all(result.values == right for result in done.values())
    assert {way: result.read for way, result in done.items()} == dict.fromkeys(
        WAYS, least
    )
    assert done["straight"].written == 8 * least
    assert all(done[way].written == least for way in WAYS[1:])
    assert done["tile"].passes == tiles * (32 + 32 * 32)
    for way in ("padded tile", "swizzled tile"):
        assert done[way].passes == tiles * (32 + 32)
    assert done["padded tile"].shared_bytes == done["tile"].shared_bytes + 128


# -- many requests at once -------------------------------------------------------------


@given(st.lists(PLACES, min_size=1, max_size=8), WIDTH)
def test_a_batch_is_its_requests_one_by_one(many, width):
    rows = [scaled(places + [None] * (32 - len(places)), width) for places in many]
    active = np.array([[a is not None for a in row] for row in rows])
    at = np.array([[a or 0 for a in row] for row in rows])
    batch, ways = coalesce_all(at, width, active), bank_ways(at, width, active)
    for i, row in enumerate(rows):
        one = coalesce(row, width)
        assert (batch.sectors[i], batch.lines[i]) == (len(one.sectors), one.lines)
        assert (batch.asked[i], batch.moved[i]) == (one.asked, one.moved)
        assert tuple(ways[i]) == bank_access(row, width).ways


@pytest.mark.rows("lanes", [1, 5, 16, 20, 32])
def test_a_batch_of_short_warps_has_their_phases(lanes):
    at = np.arange(3 * lanes).reshape(3, lanes) * 16
    expected = [bank_access(row, 16).ways for row in at.tolist()]
    assert [tuple(row) for row in bank_ways(at, 16)] == expected


@pytest.mark.rows("count", [coalesce_all, bank_ways])
@pytest.mark.rows(
    ("addresses", "active", "message"),
    [
        ([0, 4], None, "shape"),
        ([[0] * 33], None, "shape"),
        ([[0.0]], None, "float64"),
        ([[0, -4]], None, "request 0, lane 1"),
        ([[0], [2]], None, "request 1, lane 0"),
        ([[0]], [[1]], "active is int64"),
        ([[0]], [True], "active is bool of shape"),
    ],
)
def test_a_bad_batch_names_what_is_wrong(count, addresses, active, message):
    with pytest.raises(ValueError, match=message):
        count(addresses, 4, active)


def test_a_masked_lane_may_hold_anything():
    at = np.array([[0, -7, 4]])
    assert coalesce_all(at, 4, np.array([[True, False, True]])).sectors.tolist() == [1]
    assert coalesce_all(at, 4, np.zeros((1, 3), bool)).efficiency == 0


# -- walks over this machine's memory --------------------------------------------------


@pytest.mark.rows("stride", [1, 2, 4, 8, 16, 32, 128, 1024])
def test_a_walk_reads_the_sum_that_is_there_and_every_line_once(stride):
    data = sawtooth(2**16)
    walk = strided_walk(data, stride)
    met = [i for first in range(0, stride, 16) for i in range(first, len(data), stride)]
    assert walk.total == sum(int(data[i]) for i in met)
    assert walk.elements == len(met)
    assert data.ctypes.data % 64 == 0
    assert walk.lines == len({i // 16 for i in met}) == 2**16 // 64
    assert math.isclose(walk.efficiency, 1 / min(stride, 16))


def test_a_walk_is_the_same_uncompiled(monkeypatch):
    from stacklib.memory.cache import walk as module

    data = sawtooth(2**12)
    compiled = strided_walk(data, 4)
    monkeypatch.setattr(module, "fast", lambda loop: loop)
    assert strided_walk(data, 4) == compiled
    assert len(module.walk_seconds(data, 4, 3)) == 3


@pytest.mark.rows(
    ("data", "stride", "message"),
    [
        (np.zeros(16), 1, "int32"),
        (np.zeros((4, 16), np.int32), 1, "one row"),
        (sawtooth(256)[1:17], 1, "whole cache lines"),
        (sawtooth(256), 0, "stride = 0"),
        (sawtooth(256), 7, "stride = 7: does not divide 64"),
    ],
)
def test_what_cannot_be_walked_is_refused(data, stride, message):
    with pytest.raises(ValueError, match=message):
        strided_walk(data, stride)
    with pytest.raises(ValueError, match="size = 100"):
        sawtooth(100)
