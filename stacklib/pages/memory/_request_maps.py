"""Maps of memory as figures: where a request lands, sector by sector, bank by bank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from stacklib.memory import Swizzle, Tile
from stacklib.memory.warp.banks import BANKS, WORD, bank_access, phases, words_of
from stacklib.memory.warp.coalescing import LINE, SECTOR, coalesce
from stacklib.memory.warp.swizzle import Place

__all__ = ["bank_spec", "chunk_spec", "sector_spec"]

PER_LINE = LINE // SECTOR
LINES_ACROSS, GAP = 4, 0.5  # lines side by side, and the gap between them
CHUNK = 16  # bytes that an ldmatrix row takes
CHUNKS = BANKS * WORD // CHUNK  # side by side in all banks

At = tuple[float, float]


def _cells(name: str, places: Iterable[At], **more: Any) -> list[dict[str, Any]]:
    """A mark of cells; none where there is no place."""
    at = list(places)
    mark = {"kind": "cells", "evidence": "simulated", "name": name,
            "x": [x for x, _ in at], "y": [y for _, y in at], **more}  # fmt: skip
    return [mark] if at else []


def _faint(places: Sequence[At], series: int) -> dict[str, Any]:
    """Looks of cells that stand back."""
    return {"series": series, "shades": [0.16] * len(places)}


# -- sectors --------------------------------------------------------------------


def sector_spec(addresses: Sequence[int], width: int, *, title: str) -> dict[str, Any]:
    """Spec of the sectors of one request, in the lines it touches.

    Parameters
    ----------
    addresses : sequence of int
        Byte address of each lane.
    width : int
        Bytes each lane accesses.
    title : str
        Sentence that says what is seen.
    """
    touched = coalesce(addresses, width).sectors
    lines = sorted({sector // PER_LINE for sector in touched})
    used = {
        sector: width * len({a for a in addresses if a // SECTOR == sector})
        for sector in touched
    }
    at: dict[int, At] = {}
    for number, line in enumerate(lines):
        row, group = divmod(number, LINES_ACROSS)
        for i in range(PER_LINE):
            at[line * PER_LINE + i] = (group * (PER_LINE + GAP) + i, row)
    whole = [s for s in touched if used[s] == SECTOR]
    part = [s for s in touched if used[s] < SECTOR]
    idle = [at[s] for s in at if s not in used]
    marks = [
        *_cells("all of it asked for", [at[s] for s in whole], series=0),
        *_cells("moved for the bytes shown", [at[s] for s in part], series=4,
                texts=[str(used[s]) for s in part]),
        *_cells("not moved", idle, **_faint(idle, 5)),
    ]  # fmt: skip
    across = min(len(lines), LINES_ACROSS) * (PER_LINE + GAP) - GAP
    down = -(-len(lines) // LINES_ACROSS)
    return {
        "title": title,
        "x": {"label": "Sectors of 32 bytes, four to a line", "ticks": [],
              "limits": [-0.6, max(across, 2 * PER_LINE) - 0.4]},
        "y": {"label": "Lines touched, in order of address", "ticks": [],
              "limits": [max(down, 2) - 0.4, -0.6]},
        "marks": marks,
    }  # fmt: skip


# -- banks ----------------------------------------------------------------------


def _at_bank(word: int) -> At:
    """Column and row of a word: its bank, and how deep it lies in it."""
    return word % BANKS, word // BANKS


def _worst_phase(asked: list[int], width: int) -> set[int]:
    """The words that the lanes want which are served together and wait longest."""
    if not asked:
        return set()
    ways = bank_access(asked, width).ways
    phase = phases([*asked], width)[ways.index(max(ways))]
    return {w for a in phase if a is not None for w in words_of(a, width)}


def bank_spec(
    tile: Tile, place: Place, request: Sequence[int], width: int, *, title: str
) -> dict[str, Any]:
    """Spec of a tile as it lies in the banks, and the words one request wants.

    Parameters
    ----------
    tile : Tile
        What lies there.
    place : callable
        Where a byte of it goes.
    request : sequence of int
        Byte offsets in the tile, lane by lane, before they are placed; may be empty.
    width : int
        Bytes each lane accesses.
    title : str
        Sentence that says what is seen.
    """
    wanted = _worst_phase([place(offset) for offset in request], width)
    load = [sum(word % BANKS == bank for word in wanted) for bank in range(BANKS)]
    clash = {w for w in wanted if load[w % BANKS] == max(load) and max(load) > 1}
    step = min(tile.width, WORD)
    held = {place(byte) // WORD for byte in range(0, tile.bytes, step)}
    empty = [_at_bank(w) for w in range(max(held) + 1) if w not in held]
    tiles = [_at_bank(w) for w in sorted(held - wanted)]
    return {
        "title": title,
        "x": {"label": "Bank", "ticks": [0, 8, 16, 24, 31],
              "limits": [-0.6, BANKS - 0.4]},
        "y": {"label": "Words of a bank, from the first down",
              "ticks": [0, 8, 16, 24, 32], "limits": [max(held) // BANKS + 0.6, -0.6]},
        "marks": [
            *_cells("the tile", tiles, **_faint(tiles, 5)),
            *_cells("padding", empty, series=3, shades=[0.4] * len(empty)),
            *_cells("wanted", [_at_bank(w) for w in sorted(wanted - clash)], series=0),
            *_cells("wanted from the busiest bank", map(_at_bank, sorted(clash)),
                    series=4),
        ],
    }  # fmt: skip


def chunk_spec(swizzle: Swizzle, column: int, *, title: str) -> dict[str, Any]:
    """Spec of eight rows of eight 16-byte chunks: as they come, and swizzled.

    Parameters
    ----------
    swizzle : Swizzle
        Of bytes.
    column : int
        The chunk that one ``ldmatrix`` block takes of every row, 0 to 7.
    title : str
        Sentence that says what is seen.
    """
    right = CHUNKS + 1
    found: dict[bool, list[tuple[At, str]]] = {False: [], True: []}
    for row in range(CHUNKS):
        for chunk in range(CHUNKS):
            byte = (row * CHUNKS + chunk) * CHUNK
            moved = swizzle(byte) // CHUNK
            after = (right + moved % CHUNKS, moved // CHUNKS)
            found[chunk == column] += [((chunk, row), str(chunk)), (after, str(chunk))]
    others = [at for at, _ in found[False]]
    return {
        "title": title,
        "x": {"label": "Place in 128 bytes: as it comes, and swizzled", "ticks": [],
              "limits": [-0.6, right + CHUNKS - 0.4]},
        "y": {"label": "Row", "ticks": list(range(CHUNKS)),
              "limits": [CHUNKS - 0.4, -0.6]},
        "marks": [
            *_cells("16 bytes, numbered in their row", others, **_faint(others, 5),
                    texts=[text for _, text in found[False]]),
            *_cells(f"chunk {column} of every row", [at for at, _ in found[True]],
                    series=0, texts=[text for _, text in found[True]]),
        ],
    }  # fmt: skip
