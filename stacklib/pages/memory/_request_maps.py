"""Maps of memory as figures: where a request lands, sector by sector, bank by bank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stacklib.memory import Swizzle, Tile
from stacklib.memory.warp.banks import BANKS, WORD, bank_access, phases, words_of
from stacklib.memory.warp.coalescing import LINE, SECTOR, coalesce
from stacklib.memory.warp.swizzle import Place
from stacklib.plots.marks import FAINT, Spec, across, axis, cells, chart, down

PER_LINE = LINE // SECTOR
LINES_ACROSS, GAP = 4, 0.5  # lines side by side, and the gap between them
CHUNK = 16  # bytes that an ldmatrix row takes
CHUNKS = BANKS * WORD // CHUNK  # side by side in all banks
NUMBERED = "16 bytes, numbered in their row"

At = tuple[float, float]


# -- sectors --------------------------------------------------------------------


def sector_spec(addresses: Sequence[int], width: int, *, title: str) -> Spec:
    """Sectors of one request of ``width`` bytes a lane, in the lines it touches."""
    touched = coalesce(addresses, width).sectors
    lines = sorted({sector // PER_LINE for sector in touched})
    at = {s: _at_sector(s, lines) for n in lines for s in _sectors(n)}
    used = {
        sector: width * len({a for a in addresses if a // SECTOR == sector})
        for sector in touched
    }
    part = [s for s in touched if used[s] < SECTOR]
    looks = (
        ("all of it asked for", [s for s in touched if used[s] == SECTOR], 0),
        ("moved for the bytes shown", part, 4),
        ("not moved", [s for s in at if s not in used], 5),
    )
    more: tuple[dict[str, Any], ...]
    more = ({}, {"texts": [str(used[s]) for s in part]}, {"shade": FAINT})
    right = min(len(lines), LINES_ACROSS) * (PER_LINE + GAP) - GAP
    rows = -(-len(lines) // LINES_ACROSS)
    wide, deep = across(max(right, 2 * PER_LINE)), down(max(rows, 2))
    return chart(
        title,
        x=axis("Sectors of 32 bytes, four to a line", ticks=(), limits=wide),
        y=axis("Lines touched, in order of address", ticks=(), limits=deep),
        marks=[
            cells((at[s] for s in some), name, "simulated", series=series, **own)
            for (name, some, series), own in zip(looks, more, strict=True)
        ],
    )


def _sectors(line: int) -> range:
    return range(line * PER_LINE, (line + 1) * PER_LINE)


def _at_sector(sector: int, lines: Sequence[int]) -> At:
    """Column and row of a sector, the lines touched side by side, four a row."""
    row, group = divmod(lines.index(sector // PER_LINE), LINES_ACROSS)
    return group * (PER_LINE + GAP) + sector % PER_LINE, row


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
) -> Spec:
    """A tile as it lies in the banks, and the words that one request wants.

    The request is byte offsets in the tile, lane by lane, before ``place`` moves them;
    it may be empty.
    """
    wanted = _worst_phase([place(offset) for offset in request], width)
    load = [sum(word % BANKS == bank for word in wanted) for bank in range(BANKS)]
    clash = {w for w in wanted if load[w % BANKS] == max(load) and max(load) > 1}
    step = min(tile.width, WORD)
    held = {place(byte) // WORD for byte in range(0, tile.bytes, step)}
    looks = (
        ("the tile", held - wanted, 5, FAINT),
        ("padding", set(range(max(held) + 1)) - held, 3, 0.4),
        ("wanted", wanted - clash, 0, None),
        ("wanted from the busiest bank", clash, 4, None),
    )
    deepest = max(max(held) // BANKS, BANKS)
    every = 8 * max(1, deepest // 48)  # rows that no name of another touches
    rows, deep = [*range(0, deepest + 1, every)], [max(held) // BANKS + 0.6, -0.6]
    return chart(
        title,
        x=axis("Bank", ticks=[0, 8, 16, 24, 31], limits=across(BANKS)),
        y=axis("Words of a bank, from the first down", ticks=rows, limits=deep),
        marks=[
            cells(map(_at_bank, sorted(words)), name, "simulated", shade=s, series=n)
            for name, words, n, s in looks
        ],
    )


def chunk_spec(swizzle: Swizzle, column: int, *, title: str) -> Spec:
    """Eight rows of eight 16-byte chunks, as they come and swizzled.

    ``column`` is the chunk that one ``ldmatrix`` block takes of every row, 0 to 7.
    """
    right = CHUNKS + 1
    found: dict[bool, list[tuple[At, str]]] = {False: [], True: []}
    for row in range(CHUNKS):
        for chunk in range(CHUNKS):
            moved = swizzle((row * CHUNKS + chunk) * CHUNK) // CHUNK
            after = (right + moved % CHUNKS, moved // CHUNKS)
            found[chunk == column] += [((chunk, row), str(chunk)), (after, str(chunk))]
    others, chosen = ([at for at, _ in found[own]] for own in (False, True))
    theirs, mine = ([text for _, text in found[own]] for own in (False, True))
    faint: dict[str, Any] = {"shade": FAINT, "texts": theirs}
    words = "Place in 128 bytes: as it comes, and swizzled"
    name = f"chunk {column} of every row"
    return chart(
        title,
        x=axis(words, ticks=(), limits=across(right + CHUNKS)),
        y=axis("Row", ticks=range(CHUNKS), limits=down(CHUNKS)),
        marks=[
            cells(others, NUMBERED, "simulated", series=5, **faint),
            cells(chosen, name, "simulated", texts=mine, series=0),
        ],
    )
