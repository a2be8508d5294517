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
WORDS = LINE // WORD  # of a line
GAP = 0.5  # between sectors
MANY = 8  # lines that are named each
CHUNK = 16  # bytes that an ldmatrix row takes
CHUNKS = BANKS * WORD // CHUNK  # side by side in all banks
NUMBERED = "16 bytes, numbered in their row"

At = tuple[float, float]


# -- sectors --------------------------------------------------------------------


def sector_spec(addresses: Sequence[int], width: int, *, title: str) -> Spec:
    """One request of ``width`` bytes a lane: its lanes, and the words of its lines.

    A row a line, a cell a word of four bytes; what no lane wants of a sector that moves
    travels with it.
    """
    touched = set(coalesce(addresses, width).sectors)
    lines = sorted({sector // PER_LINE for sector in touched})
    wanted = {(a + byte) // WORD for a in addresses for byte in range(width)}
    words = [line * WORDS + i for line in lines for i in range(WORDS)]
    moved = {w for w in words if w * WORD // SECTOR in touched}
    looks = (
        ("read by a lane", [w for w in words if w in wanted], 0, None),
        ("moved with it", sorted(moved - wanted), 4, 0.45),
        ("not moved", [w for w in words if w not in moved], 5, FAINT),
    )
    lanes = [(_column(i % WORDS), i // WORDS) for i in range(len(addresses))]
    top = lanes[-1][1] + 2 if lanes else 0
    names = ["lanes", *(f"line {i}" for i in range(len(lines)))]
    shown = [0, *range(top, top + len(lines))]
    some = slice(None) if len(lines) <= MANY else slice(None, None, MANY)
    return chart(
        title,
        x=axis("128 bytes, in sectors of 32", ticks=(), limits=across(_column(WORDS))),
        y=axis(
            f"{len(addresses)} lanes, and the lines they touch",
            ticks=shown[some],
            names=names[some],
            limits=down(top + max(len(lines), 1)),
        ),
        marks=[
            cells(lanes, "lane", "simulated", series=3),
            *(
                cells(_at_words(some, lines, top), name, "simulated", shade=s, series=n)
                for name, some, n, s in looks
            ),
        ],
    )


def _column(word: int) -> float:
    """Where a word of a line stands, sectors a little apart."""
    return word + GAP * (word * WORD // SECTOR)


def _at_words(words: Sequence[int], lines: Sequence[int], top: int) -> list[At]:
    return [(_column(w % WORDS), top + lines.index(w // WORDS)) for w in words]


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
