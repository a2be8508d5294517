"""Numbers of the section on banks: ways, padding, swizzles, and what proves them."""

from __future__ import annotations

from functools import cache
from random import Random

from stacklib.memory import Swizzle, Tile, bank_conflicts
from stacklib.memory.warp.rules import rule
from stacklib.memory.warp.swizzle import MODES, matching_swizzle, padded
from stacklib.memory.warp.swizzle_proof import FAMILY, requests
from stacklib.memory.warp.swizzle_search import search_swizzle
from stacklib.memory.warp.tiles import least_ways
from stacklib.memory.warp.transposing import transpose
from stacklib.quantity import Quantity, Source

from ..addresses import given, ways
from .registry import number

HALVES = Tile(32, 64, 2)  # 64 columns of fp16
SQUARE = Tile(32, 32, 4)
RANDOM = 3_000  # requests for words at random
TOP = 12  # bits of an address that a swizzle may touch
SIDE = 64  # of the matrix that is transposed


def counted(value: float, label: str, where: str) -> Quantity:
    """A count, and who made it."""
    source = Source("this section", f"counted by {where}", "2026-11-22", "secondary")
    return Quantity(value, "", label=label, kind="assumption", source=source)


def _column(tile: Tile, padding: int = 0) -> Quantity:
    place = padded(tile.pitch, padding)
    lanes = [place(offset) for offset in tile.down().requests[0]]
    return ways(lanes, tile.width, "a column")


@number("bank.banks", evidence="spec")
def banks() -> Quantity:
    """Banks of shared memory."""
    return rule("banks")


@number("bank.word", evidence="spec")
def word() -> Quantity:
    """Bytes a bank gives in one pass."""
    return rule("word")


@number("bank.pass_bytes")
def pass_bytes() -> Quantity:
    """Bytes that all banks give in one pass."""
    return rule("banks") * rule("word")


@number("bank.lanes", evidence="spec")
def lanes() -> Quantity:
    """Lanes of a warp."""
    return rule("lanes")


@number("bank.columns", evidence="spec")
def columns() -> Quantity:
    """Columns of the fp16 tile."""
    return given(HALVES.columns, "", "columns of the tile")


@number("bank.fp32_column")
def fp32_column() -> Quantity:
    """Conflict of a column of a square fp32 tile."""
    return _column(SQUARE)


@number("bank.fp16_column")
def fp16_column() -> Quantity:
    """Conflict of a column of 64 columns of fp16."""
    return _column(HALVES)


@number("bank.extra")
def extra() -> Quantity:
    """Passes beyond the first: what a profiler counts as bank conflicts."""
    return _column(SQUARE) - 1


@number("bank.padded_fp32")
def padded_fp32() -> Quantity:
    """Conflict of a column of fp32 when each row is one number longer."""
    return _column(SQUARE, 4)


@number("bank.padded_fp16")
def padded_fp16() -> Quantity:
    """Conflict of a column of fp16 when each row is one number longer."""
    return _column(HALVES, 2)


@number("bank.padded_word")
def padded_word() -> Quantity:
    """Conflict of a column of fp16 when each row is one word longer."""
    return _column(HALVES, 4)


@number("bank.waste_33", unit="%", digits=2)
def waste_33() -> Quantity:
    """Memory that one more number a row of 32 costs."""
    return given(1, "", "numbers added") / given(32, "", "numbers of a row")


@number("bank.waste_narrow", unit="%")
def waste_narrow() -> Quantity:
    """Memory that 16 bytes more cost a row of 64."""
    return given(16, "B", "bytes added") / narrow()


@number("bank.chunk", evidence="spec")
def chunk() -> Quantity:
    """Bytes of a row of an ldmatrix block."""
    return given(16, "B", "bytes an ldmatrix lane takes")


@number("bank.wide", evidence="spec")
def wide() -> Quantity:
    """Bytes a lane takes when a warp is served in halves."""
    return given(8, "B", "bytes a lane takes")


@number("bank.half")
def half() -> Quantity:
    """Lanes that are served together at that width."""
    return pass_bytes() / wide()


@number("bank.narrow", evidence="spec")
def narrow() -> Quantity:
    """Bytes of the narrow row that the document pads."""
    return given(64, "B", "bytes of a row")


@number("bank.chunk_rows", evidence="spec")
def chunk_rows() -> Quantity:
    """Rows of an ldmatrix block, served together."""
    return pass_bytes() / chunk()


def _matrix(swizzle: Swizzle) -> Quantity:
    """Ways of eight rows of 16 bytes, 128 bytes apart."""
    places = {swizzle(128 * row) // 16 % 8 for row in range(8)}
    return chunk_rows() / given(len(places), "", "places the chunks fall in")


@number("bank.matrix_plain")
def matrix_plain() -> Quantity:
    """Conflict of an ldmatrix block as it lies."""
    return _matrix(Swizzle(0, 4, 3))


@number("bank.matrix_swizzled")
def matrix_swizzled() -> Quantity:
    """Conflict of an ldmatrix block under the 128-byte swizzle."""
    return _matrix(matching_swizzle(128, 16))


@number("bank.scalar_swizzled")
def scalar_swizzled() -> Quantity:
    """Conflict of a column of single fp16 numbers under the 128-byte swizzle."""
    swizzle = matching_swizzle(128, 16)
    return ways([swizzle(a) for a in HALVES.down().requests[0]], 2, "a column")


@number("bank.element_xor")
def element_xor() -> Quantity:
    """Conflict of a column of fp16 whose single numbers were swizzled."""
    swizzle = Swizzle(5, 0, 6).on_bytes(2)
    return ways([swizzle(a) for a in HALVES.down().requests[0]], 2, "a column")


@number("bank.word_xor")
def word_xor() -> Quantity:
    """Conflict of a column of fp16 whose words were swizzled."""
    swizzle = matching_swizzle(128, 4)
    return ways([swizzle(a) for a in HALVES.down().requests[0]], 2, "a column")


# -- proofs and searches -----------------------------------------------------------


@number("bank.proof_tiles")
def proof_tiles() -> Quantity:
    """Tiles of the family that the proof covers."""
    return counted(len(FAMILY), "tiles", "stacklib.memory.warp.swizzle_proof")


@cache
def _served() -> int:
    return sum(1 for width, pitch in FAMILY for _ in requests(width, pitch))


@number("bank.proof_requests", digits=4, evidence="simulated")
def proof_requests() -> Quantity:
    """Requests that were served to prove them."""
    return counted(_served(), "requests", "stacklib.memory.warp.swizzle_proof")


@cache
def _search() -> tuple[int, int, int]:
    patterns = [HALVES.along(), HALVES.down(), HALVES.matrices()]
    found = search_swizzle(patterns, keep=16, top=TOP)
    return found.tried, found.requests, found.ways


@number("bank.search_tried", evidence="simulated")
def search_tried() -> Quantity:
    """Swizzles tried for rows, columns and ldmatrix at once."""
    return counted(
        _search()[0],
        "swizzles tried",
        "stacklib.memory.warp.swizzle_search.search_swizzle",
    )


@number("bank.search_bits", evidence="spec")
def search_bits() -> Quantity:
    """Bits of an address that the swizzles tried may touch."""
    return given(TOP, "", "bits of an address")


@number("bank.search_requests", evidence="simulated")
def search_requests() -> Quantity:
    """Requests that each of them had to serve."""
    return counted(
        _search()[1], "requests", "stacklib.memory.warp.swizzle_search.search_swizzle"
    )


@number("bank.search_ways", evidence="simulated")
def search_ways() -> Quantity:
    """The mildest conflict that any of them reached."""
    return counted(
        _search()[2], "ways", "stacklib.memory.warp.swizzle_search.search_swizzle"
    )


@number("bank.floor")
def floor() -> Quantity:
    """What no placement can beat that keeps 16 bytes whole, for that column."""
    chunk_words = chunk() / rule("word")
    reachable = rule("banks") / chunk_words
    found = rule("lanes") / reachable
    assert found.si == least_ways(HALVES.down(), 16)
    return found.named("ways at least")


@number("bank.modes", evidence="spec")
def modes() -> Quantity:
    """Layouts that tcgen05 can be told to read."""
    where = "tcgen05 shared memory descriptor, bits 61 to 63"
    source = Source("NVIDIA, PTX ISA", where, "2026-11-22", "vendor")
    return Quantity(len(MODES), "", label="modes", kind="spec", source=source)


@cache
def _random_ways() -> float:
    rng = Random(0)
    words = range(2**12)
    ways = [
        bank_conflicts([4 * rng.choice(words) for _ in range(32)])
        for _ in range(RANDOM)
    ]
    return sum(ways) / RANDOM


@number("bank.random", digits=2, evidence="simulated")
def random_ways() -> Quantity:
    """Mean conflict of 32 words at random in 16 KiB."""
    return counted(_random_ways(), "mean ways", "stacklib.memory.bank_conflicts")


@cache
def _passes(way: str) -> int:
    return transpose(SIDE, way).passes


@number("bank.tile_passes", digits=4, evidence="simulated")
def tile_passes() -> Quantity:
    """Passes over the banks to transpose a square of 64 through a plain tile."""
    return counted(_passes("tile"), "passes", "stacklib.memory.transpose")


@number("bank.swizzled_passes", digits=4, evidence="simulated")
def swizzled_passes() -> Quantity:
    """The same through a swizzled tile."""
    return counted(_passes("swizzled tile"), "passes", "stacklib.memory.transpose")


@number("bank.transpose_gain", digits=3, evidence="simulated")
def transpose_gain() -> Quantity:
    """Passes of the plain tile over those of the swizzled one."""
    return tile_passes() / swizzled_passes()
