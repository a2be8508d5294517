"""Banks, live: a tile, its padding or swizzle, and the words that one request wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stacklib.memory import Swizzle, Tile, bank_access
from stacklib.memory.warp.banks import BANKS, WORD
from stacklib.memory.warp.swizzle import Place, padded
from stacklib.memory.warp.tiles import MATRIX_ROW, Pattern
from stacklib.pages.memory._request_maps import bank_spec
from stacklib.plots.live import choices
from stacklib.plots.live.parts import chosen, counted
from stacklib.plots.marks import Spec
from stacklib.plots.spec import readout

ROWS = 32
WIDTHS = {"2": "fp16", "4": "fp32", "8": "fp64"}
COLUMNS = (16, 32, 64)
BITS = (0, 1, 2, 3, 4, 5)
KEEP = {"2": "single fp16 numbers", "4": "words", "16": "16-byte chunks"}
ACCESSES: dict[str, Callable[[Tile], Pattern]] = {
    "row": Tile.along,
    "column": Tile.down,
    "ldmatrix": Tile.matrices,
}


def controls() -> list[dict[str, Any]]:
    """Menus and sliders of ``explore``."""
    return [
        choices.select("access", "Read", {a: a for a in ACCESSES}, "column"),
        choices.select("width", "Numbers", WIDTHS, "4"),
        choices.slider("columns", "Columns", COLUMNS, 32),
        choices.slider("padding", "Padding (bytes a row)", range(0, 33, 2), 0),
        choices.slider("bits", "Swizzled bits", BITS, 0),
        choices.select("keep", "Swizzled are", KEEP, "4"),
    ]


def explore(
    *, access: str, width: str, columns: int, padding: int, bits: int, keep: str
) -> Spec:
    """A tile of 32 rows in the banks, and the worst request of one kind of access.

    Rows are ``columns`` numbers of ``width`` bytes, with ``padding`` bytes added. A
    swizzle mixes ``bits`` of the row into the place in it, by pieces of ``keep`` bytes.
    """
    tile = Tile(ROWS, columns, int(width))
    pattern = ACCESSES[access](tile)
    place = _place(tile, padding, bits, int(keep))
    placed = [[place(offset) for offset in lanes] for lanes in pattern.requests]
    title = message = _impossible(placed, pattern.width)
    ways, request = 0, pattern.requests[0][:0]
    if not message:
        degrees = [bank_access(lanes, pattern.width).degree for lanes in placed]
        ways = max(degrees)
        request = pattern.requests[degrees.index(ways)]
        title = f"The worst {access} needs {ways} passes where one would do."
        if ways == 1:
            title = f"Every {access} comes in one pass."
    return {
        **bank_spec(tile, place, request, pattern.width, title=title),
        "readouts": _readouts(tile, padding, access, ways),
        "message": message or None,
    }


def _readouts(tile: Tile, padding: int, access: str, ways: int) -> list[dict[str, Any]]:
    row = chosen(tile.pitch, "B", "bytes of a row")
    waste = chosen(padding, "B", "padding") / row
    found = counted(ways, f"worst {access}, counted, request by request")
    return [
        readout("ways", "Ways", found if ways else "not possible"),
        readout("waste", "Bytes added", waste.named("padding"), unit="%"),
    ]


def _place(tile: Tile, padding: int, bits: int, keep: int) -> Place:
    """Swizzled first, by bits that number the row, then padded."""
    base = keep.bit_length() - 1
    row = max(tile.pitch, BANKS * WORD).bit_length() - 1
    swizzle = Swizzle(bits, base, max(bits, row - base))
    longer = padded(tile.pitch, padding)
    return lambda offset: longer(swizzle(offset))


def _impossible(placed: list[list[int]], width: int) -> str:
    """Why no lane can make the access; empty where all can."""
    if not any(address % width for lanes in placed for address in lanes):
        return ""
    what = "ldmatrix" if width == MATRIX_ROW else "a lane"
    return (
        f"These rows do not start at multiples of the {width} bytes that {what} takes."
    )
