"""Drawings of section 3.3: a column in one bank, and in all of them."""

from collections.abc import Callable

from stacklib.hardware.warp_rules import rule
from stacklib.memory import Tile
from stacklib.memory.warp.swizzle import Place, matching_swizzle, padded
from stacklib.pages.memory import banks as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu
from stacklib.quantity import Quantity, bytes_per_element, chosen, counted

__all__ = ["a_chunk_of_each_row", "column_in_banks", "swizzled_bits"]

BANKS, WORD = round(rule("banks").si), round(rule("word").si)
SQUARE = Tile(BANKS, BANKS, WORD)
WANTED = 3  # the column that the lanes read
ROW = SQUARE.pitch


def column_in_banks() -> d.Drawing:
    """The same column of the same tile: as it lies, padded, and swizzled."""
    ways: list[tuple[str, Place]] = [
        ("as it lies", lambda offset: offset),
        ("a word of padding", padded(ROW, WORD)),
        ("swizzled", matching_swizzle(ROW, WORD)),
    ]
    steps = [(words, _tile(words, place)) for words, place in ways]
    title = "A bank gives one word per pass, so what lies in one bank waits in line."
    return d.draw(steps, name="column-in-banks", title=title)


def _tile(words: str, place: Place) -> d.Node:
    wanted = {place(row * ROW + WANTED * WORD) // WORD for row in range(BANKS)}
    held = {place(byte) // WORD for byte in range(0, SQUARE.bytes, WORD)}
    rows = max(held) // BANKS + 1
    passes = page.column(SQUARE, place=place).named(f"passes, {words}")
    free = frozenset(range(rows * BANKS)) - held
    made = [
        d.Cells(
            "words",
            rows * BANKS,
            BANKS,
            side=side,
            gap=1.2,
            role=gpu.STORE,
            lit=frozenset(wanted),
            dark=free,
            words=f"{len({w % BANKS for w in wanted})} banks hold the column",
        )
        for side in ((16.0, 4.6), (7.4, 4.6))
    ]
    busy = frozenset(w % BANKS for w in wanted)
    row = [
        d.Cells("banks", BANKS, side=side, gap=1.2, role="layer-5", lit=busy)
        for side in ((16.0, 9.0), (7.4, 9.0))
    ]
    memory = d.Box(
        "shared memory",
        d.line("a tile in ", rule("banks"), " banks, ", rule("lanes"), " words wanted"),
        d.below(
            d.Either(made[0], made[1]),
            d.Words("banks that give a word:"),
            d.Either(row[0], row[1]),
            gap=4,
        ),
        role=gpu.STORE,
    )
    clip = d.Clip(
        "passes",
        chosen(0, label="begin"),
        passes,
        rule("lanes"),
        [("passes: ", passes, ", at most ", rule("lanes"))],
        role="layer-4",
        grow=0,
    )
    return d.below(memory, clip, gap=8)


def swizzled_bits() -> d.Drawing:
    """An address in bits: the row is XORed into the bank, and stays itself."""
    steps = [(f"row {words}", _bits(row)) for words, row in ROWS]
    title = "The swizzle flips bits of the bank where the row has ones: rows part."
    return d.draw(steps, name="swizzled-bits", title=title)


ROWS = (("one", 1), ("two", 2), ("five", 5))


def bank_of(row: int) -> int:
    """Bank of the column that is wanted of a row: XORed with it."""
    return WANTED ^ row


def _number(name: str, said: Quantity, role: str) -> d.Box:
    """A number of five bits: a cell a bit, ones lit."""
    value = round(said.si)
    bits = (BANKS - 1).bit_length()
    ones = frozenset(i for i in range(bits) if value >> (bits - 1 - i) & 1)
    cells = d.Cells(
        f"bits of the {name}", bits, side=(17.0, 17.0), gap=3.0, role=role, lit=ones
    )
    return d.Box(name, d.line(name, ": ", said, bold=True), cells, role=role, grow=1)


def _bits(row: int) -> d.Node:
    unchanged = chosen(row, label=f"row {row}")
    after = counted(bank_of, row, label=f"bank of row {row}")
    before = d.right_of(
        _number("row", unchanged, "layer-6"),
        _number("column", chosen(WANTED, label="column"), gpu.STORE),
        gap=6,
        even=True,
    )
    then = d.right_of(
        _number("row, as before", unchanged, "layer-6"),
        _number("bank", after, "layer-4"),
        gap=6,
        even=True,
    )
    told = d.Words(
        [d.line("column XOR row", bold=True), "a bit changes where the row's is one"]
    )
    return d.below(before, told, then, gap=8)


def a_chunk_of_each_row() -> d.Drawing:
    """Eight rows of eight chunks: what one phase of an ldmatrix takes."""
    chunk = (8 * bytes_per_element("fp16")).named("bytes of a chunk")
    side = round((rule("banks") * rule("word") / chunk).si)
    ways: list[tuple[str, Callable[[int], int], Quantity]] = [
        ("as it lies", lambda _: WANTED, page.matrix(matching_swizzle(WORD, WORD))),
        (
            "chunks swizzled",
            lambda row: WANTED ^ row,
            page.matrix(matching_swizzle(ROW, round(chunk.si))),
        ),
    ]
    made = []
    for words, at, found in ways:
        lit = frozenset(row * side + at(row) for row in range(side))
        cells = d.Cells(
            f"chunks, {words}",
            side * side,
            side,
            side=(26.0, 13.0),
            gap=2.5,
            role=gpu.STORE,
            lit=lit,
        )
        passes = found.named(f"passes of an ldmatrix phase, {words}")
        told = [d.line(words, bold=True), (chunk, " per chunk; passes: ", passes)]
        made.append(d.Box(words, told, cells, role=gpu.STORE))
    title = "The same chunk of every row: in one place, then in all of them."
    return d.draw(
        d.flow(*made, gap=10, even=True), name="chunk-of-each-row", title=title
    )
