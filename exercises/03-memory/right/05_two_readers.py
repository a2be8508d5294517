# ---- searched: all paddings and swizzles are tried, by a count of one's own
from itertools import product


def place(row, column, padding=0):
    return row * (128 + padding) + 2 * column


def worst(requests, width):
    found = 0
    for lanes in requests:
        words = {(a + b) // 4 for a in lanes for b in range(width)}
        banks = [w % 32 for w in words]
        found = max(found, *(banks.count(b) for b in banks))
    return found


def rows(put):
    return [[put(r, c) for c in range(32)] for r in range(32)]


def columns(put):
    return [[put(r, c) for r in range(32)] for c in range(64)]


def chunks(put):
    # Eight rows of one chunk are served together, four words each.
    tops = range(0, 32, 8)
    return [[put(r + i, 8 * c) for i in range(8)] for r in tops for c in range(8)]


def column_padding():
    for padding in range(0, 128, 2):

        def put(row, column, padding=padding):
            return place(row, column, padding)

        if worst(rows(put), 2) == worst(columns(put), 2) == 1:
            return padding


def matrix_padding():
    for padding in range(0, 128, 16):

        def put(row, column, padding=padding):
            return place(row, column, padding)

        if worst(rows(put), 2) == worst(chunks(put), 16) == 1:
            return padding


def matrix_swizzle():
    for bits, shift in product(range(1, 5), range(1, 5)):

        def put(row, column, bits=bits, shift=shift):
            at = place(row, column)
            return at ^ (at >> shift & (2**bits - 1) << 4)

        if bits <= shift and worst(chunks(put), 16) == 1:
            return [bits, 4, shift]


def least_column_ways():
    reachable = {word % 32 for word in range(0, 1024, 4)}
    return 32 / len(reachable)


# ---- quantities: a word, a chunk, and the pigeonholes
from stacklib.quantity import Quantity

WORD, CHUNK = Quantity(4, "B"), Quantity(16, "B")


def column_padding():
    return WORD


def matrix_padding():
    return CHUNK


def matrix_swizzle():
    eight = 3  # two to the third: rows, and chunks of 128 bytes
    return (n for n in (eight, 4, eight))


def least_column_ways():
    holes = 32 * WORD / CHUNK
    return 32 / holes
