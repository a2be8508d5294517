"""A tile for its readers.

level: derive
project: P3.2

Suppose that a tile of fp16 lies in shared memory: 32 rows of 64 numbers, so 128 bytes
a row. Three readers want it. A *row* reader takes neighbours in a row, one number a
lane. A *column* reader takes one number of each row. An *ldmatrix* takes a chunk of
`16 B` a lane, from eight rows at a time, and a chunk must start where its size says:
at `0`, `16`, `32` and so on.

Find for rows and columns the least padding that frees both of all conflicts, in bytes
a row. Then for rows and ldmatrix the least padding that keeps chunks where they may
start. Then a swizzle that frees rows and ldmatrix with no padding at all:
`(bits, base, shift)` moves `bits` bits that stand `shift` above bit `base` of the byte
address down to `base`, by XOR.

Last, the proof that nobody can have all three. As long as chunks stay whole and start
where they may, how many ways must the column conflict, at least, however the chunks
are moved about?

hint: Padding: a row of P bytes puts the next row `P / 4` banks further, and where that
is no whole number, two rows may meet in a bank. Swizzle: a byte in its chunk is bits 0
to 3, the place of a chunk in all banks is bits 4 to 6, the row begins at bit 7. Proof:
number 0 of every chunk is in word 0 of it. Which banks can hold word 0 of a chunk?
"""

from stacklib.grading import expect
from stacklib.memory import Swizzle, Tile, bank_access
from stacklib.memory.warp.swizzle import padded
from stacklib.memory.warp.tiles import Pattern, least_ways

# ---- your answer ----


def column_padding():
    """Least bytes to add to a row so that rows and columns are free."""
    return 4


def matrix_padding():
    """Least bytes to add so that rows and ldmatrix are free, and rows aligned."""
    return 16


def matrix_swizzle():
    """(bits, base, shift) of a swizzle of bytes that frees rows and ldmatrix."""
    return 3, 4, 3


def least_column_ways():
    """Least conflict of the column while 16-byte chunks stay whole."""
    return 4


# ---- tests ----

TILE = Tile(32, 64, 2)


def worst(pattern, place):
    """The worst request of a reader, which is also shown as a reading.

    A lane off its width is named as the mistake it is.
    """
    found = 0
    for lanes in pattern.requests:
        placed = [place(offset) for offset in lanes]
        for address in placed:
            if address % pattern.width:
                raise expect.Mistake(
                    f"{pattern.name}: byte {address} is no multiple of "
                    f"{pattern.width}; no lane can start there"
                )
        found = max(found, bank_access(placed, pattern.width).extra)
    expect.reading(f"bank conflicts, {pattern.name}", found)
    return found


def free(readers: list[Pattern], place, what):
    """Hold a placement to no conflict for some readers."""
    for pattern in readers:
        extra = worst(pattern, place)
        if extra:
            raise expect.Mistake(
                f"{what}: the worst {pattern.name} has bank conflicts: {extra}"
            )


def padding(answer, readers, why):
    """A whole number of bytes that frees the readers, and the least."""
    value = expect.whole(expect.read(answer, "B"))
    if value < 0 or value % TILE.width:
        raise expect.Mistake(f"{value}: rows hold whole numbers of two bytes")
    free(readers, padded(TILE.pitch, value), f"{value} bytes of padding")
    if value > next(n for n in range(0, 2 * TILE.pitch, 2) if frees(readers, n)):
        raise expect.Mistake(f"{value} bytes do it, but fewer do too: {why}")


def frees(readers, bytes_a_row):
    """Whether so much padding leaves no conflict, and no chunk off its place."""
    place = padded(TILE.pitch, bytes_a_row)
    return all(
        not any(place(offset) % pattern.width for offset in lanes)
        and not bank_access([place(offset) for offset in lanes], pattern.width).extra
        for pattern in readers
        for lanes in pattern.requests
    )


def test_column_padding():
    padding(
        column_padding(),
        [TILE.along(), TILE.down()],
        "how far must the next row move so that its words start in the next bank?",
    )


def test_matrix_padding():
    padding(
        matrix_padding(),
        [TILE.along(), TILE.matrices()],
        "rows must start at multiples of 16 bytes, and the least of those is enough.",
    )


def test_matrix_swizzle():
    said = expect.sequence(matrix_swizzle(), "(bits, base, shift)", 3)
    answer = tuple(map(expect.whole, said))
    try:
        swizzle = Swizzle(*answer)
    except ValueError as error:
        raise expect.Mistake(f"{answer}: {error}") from None
    if swizzle.base < 4 and swizzle.bits:
        raise expect.Mistake(
            f"base {swizzle.base}: 16 bytes must stay together, bits 0 to 3"
        )
    free([TILE.along(), TILE.matrices()], swizzle, f"Swizzle{answer}")


def test_least_column_ways():
    lanes, banks, words = TILE.rows, 32, 16 // 4
    expect.number(
        least_column_ways(),
        least_ways(TILE.down(), 16),
        mistakes={
            "That would be so if any word could go to any bank. Word 0 of a chunk "
            "can only start a chunk.": lanes / banks,
            "Eight is the number of banks that word 0 of a chunk can reach. How many "
            "lanes share them?": banks / words,
            "That is the tile as it lies. Moving chunks about does help.": lanes,
        },
    )
