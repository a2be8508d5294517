"""How many bytes does attention in tiles ask for?

level: estimate

One head of N tokens, each of d numbers of w bytes. Suppose the order of loops of
FlashAttention-2: a tile of queries is read once, all keys and values are passed over
for it, and its result is written once. Nothing else crosses to memory, and no cache is
looked at: these are the bytes that the kernel *asks* for.

- `rows_that_fit(sram, d, w)`: rows of a tile, a whole number, where `sram` bytes hold
  four tiles of equally many rows: queries, keys, values and result.
- `asked(n, d, rows, w)`: bytes, read and written, with `rows` queries in a tile. The
  last tile may be smaller, and needs its own pass.
- `unfused(n, d, w)`: bytes of three kernels. The matrix of N by N scores crosses four
  times, in w bytes each number; queries, keys, values and result cross once.
- `factor()`: suppose 8,192 tokens in 2 bytes a number, and a chip with 228 KiB. By what
  factor do the bytes of keys and values alone grow when d goes from 128 to 256, with
  the tallest tiles that fit?

hint: before you count, guess the last one. Then: how many tiles of queries are there
when a row gets wider, and how many bytes does each of them read?
"""

import math

from stacklib.grading import expect
from stacklib.kernels.attention.count import io_count

# ---- your answer ----


def rows_that_fit(sram, d, w):
    """Rows of each of four tiles."""
    return sram // (4 * d * w)


def asked(n, d, rows, w):
    """Bytes that the tiles ask for."""
    passes = -(-n // rows)
    return 2 * n * d * w + passes * 2 * n * d * w


def unfused(n, d, w):
    """Bytes of three kernels."""
    return 4 * n * d * w + 4 * n * n * w


def factor():
    """Bytes of keys and values, d = 256 over d = 128."""
    passes = [-(-8192 // rows_that_fit(228 * 1024, d, 2)) for d in (128, 256)]
    return 2 * passes[1] / passes[0]


# ---- tests ----

SIZES = [(4096, 128, 128, 2), (1000, 64, 128, 2), (8192, 128, 228, 2), (100, 256, 7, 4)]
CASES = [dict(zip(("n", "d", "rows", "w"), size, strict=True)) for size in SIZES]
CHIPS = [
    (228 * 1024, 128, 2),
    (164 * 1024, 64, 2),
    (228 * 1024, 256, 1),
    (10_000, 96, 4),
]


def test_rows_that_fit():
    expect.function_matches(
        rows_that_fit,
        lambda sram, d, w: sram // (4 * d * w),
        [dict(zip(("sram", "d", "w"), chip, strict=True)) for chip in CHIPS],
        rel=1e-9,
        mistakes={
            "That is a quarter of the numbers that fit. A row is d of them.": (
                lambda sram, d, w: sram // (4 * w)
            ),
            "Four tiles share the room.": lambda sram, d, w: sram // (d * w),
            "A number takes w bytes.": lambda sram, d, w: sram // (4 * d),
        },
    )


def told(n, d, rows, w):
    return io_count(tokens=n, head_dim=d, tile_q=rows, tile_k=rows, width=w)


def test_asked():
    expect.function_matches(
        asked,
        lambda **size: told(**size).bytes,
        CASES,
        unit="",
        rel=1e-6,
        mistakes={
            "Keys and values are read once for each tile of queries, not once.": (
                lambda n, d, rows, w: 4 * n * d * w
            ),
            "The last tile of queries, which is smaller, needs a pass of its own.": (
                lambda n, d, rows, w: 2 * n * d * w * (1 + n // rows)
            ),
            "Keys are read, and values too.": lambda **size: (
                told(**size).bytes - told(**size).read["v"]
            ),
            "Queries are read and the result is written, too.": lambda **size: (
                told(**size).kv
            ),
        },
    )


def test_unfused():
    cases = [{k: case[k] for k in "ndw"} for case in CASES]
    expect.function_matches(
        unfused,
        lambda n, d, w: told(n, d, 1, w).unfused,
        cases,
        unit="B",
        rel=1e-6,
        mistakes={
            "The matrix is written, read, written as weights and read: four times.": (
                lambda n, d, w: 4 * n * d * w + 2 * n * n * w
            ),
            "Queries, keys, values and the result cross as well.": (
                lambda n, d, w: 4 * n * n * w
            ),
        },
    )


def test_factor():
    found = []
    for d in (128, 256):
        rows = 228 * 1024 // (8 * d)
        found.append(told(8192, d, rows, 2).kv)
    expect.number(
        factor(),
        found[1] / found[0],
        rel=0.02,
        mistakes={
            "A row is twice as wide, and so only half as many rows fit a tile: there "
            "are twice as many passes, too.": 2.0,
            "Twice as many passes, and each reads twice the bytes.": math.sqrt(2),
            "Half as many rows of a tile of queries. Those of keys do not matter.": 8.0,
        },
    )
    expect.reading("keys and values at d = 256", f"{found[1] / 1e6:.0f}", "MB")
