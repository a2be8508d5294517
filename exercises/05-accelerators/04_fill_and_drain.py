"""What filling an array costs.

level: derive

An array has `rows` x `cols` multipliers. A product of m x k activations by k x n
weights runs on it in tiles: `rows` x `cols` weights stand still at a time, one in each
multiplier, and the m rows of activations pass. A tile's weights come in from above,
one row of weights a cycle, before its activations. Activations enter from the left,
row r of the array r cycles late; each number moves on by one multiplier a cycle. A
tile ends with the last multiply-add; then the next one begins. The last tiles may be
ragged, and take as long.

- `tiles(n, k, rows, cols)`: how many tiles the weights are cut into.
- `passed(m, n, k, rows, cols)`: cycles that pass for the whole product.
- `used(m, n, k, rows, cols)`: share of all multiplier-cycles in which a multiply-add of
  the product is done, at most all of them.
- `rows_for(share, rows, cols)`: the fewest rows of activations with which an array is
  used in at least `share` of its multiplier-cycles, where weights fill whole tiles.
- `hidden(m, n, k, rows, cols)`: cycles that pass if each multiplier has a second
  register, so that a tile's weights come in while the one before is multiplied. A tile
  may start as soon as its weights are there and the activations before have entered.

hint: Follow the last row of activations: when does it enter, when does it reach the
multiplier in the far corner? Only the first tile's loading and the last tile's way
through are seen when the rest is hidden.
"""

import math

from stacklib.accelerators import SystolicArray, cycles, utilisation
from stacklib.grading import expect

# ---- your answer ----


def tiles(n, k, rows, cols):
    """Tiles of weights."""
    return math.ceil(k / rows) * math.ceil(n / cols)


def passed(m, n, k, rows, cols):
    """Cycles of the product, tile after tile."""
    return tiles(n, k, rows, cols) * (rows + m + rows + cols - 2)


def used(m, n, k, rows, cols):
    """Share of the multipliers' cycles that are used."""
    return m * n * k / (passed(m, n, k, rows, cols) * rows * cols)


def rows_for(share, rows, cols):
    """The fewest rows of activations that use so much of the array."""
    lost = 2 * rows + cols - 2
    return math.ceil(share * lost / (1 - share) - 1e-9)


def hidden(m, n, k, rows, cols):
    """Cycles of the product where loading is hidden."""
    last = rows + m + rows + cols - 2
    return (tiles(n, k, rows, cols) - 1) * max(m, rows) + last


# ---- tests ----

PRODUCTS = (
    {"m": 1, "n": 256, "k": 256, "rows": 128, "cols": 128},
    {"m": 512, "n": 512, "k": 512, "rows": 32, "cols": 32},
    {"m": 20, "n": 50, "k": 70, "rows": 16, "cols": 8},
    {"m": 5, "n": 3, "k": 9, "rows": 4, "cols": 2},
    {"m": 64, "n": 1, "k": 1, "rows": 8, "cols": 8},
)


def counted(m, n, k, rows, cols):
    made = SystolicArray(rows, cols, "ws").run([[1] * k] * m, [[1] * n] * k)
    return made.last_cycle + 1


def test_tiles():
    expect.function_matches(
        tiles,
        lambda n, k, rows, cols: len(range(0, n, cols)) * len(range(0, k, rows)),
        [{x: case[x] for x in ("n", "k", "rows", "cols")} for case in PRODUCTS],
        rel=1e-9,
        mistakes={
            "A ragged tile is a tile: round up on each side.": (
                lambda n, k, rows, cols: max(1, n // cols) * max(1, k // rows)
            ),
            "Weights are k rows by n columns: k lies on the rows.": (
                lambda n, k, rows, cols: math.ceil(n / rows) * math.ceil(k / cols)
            ),
        },
    )


def test_passed_by_the_formula():
    expect.function_matches(
        passed,
        lambda **case: cycles(**case, dataflow="ws") + 1,
        list(PRODUCTS),
        unit="cycle",
        rel=1e-9,
        mistakes={
            "The cycles that pass are one more than the number of the last.": (
                lambda **case: cycles(**case, dataflow="ws")
            ),
            "Weights have to come in first, a row a cycle.": (
                lambda m, n, k, rows, cols: (
                    math.ceil(k / rows) * math.ceil(n / cols) * (m + rows + cols - 2)
                )
            ),
            "The last activations still have to cross the array.": (
                lambda m, n, k, rows, cols: (
                    math.ceil(k / rows) * math.ceil(n / cols) * (m + rows)
                )
            ),
        },
    )


def test_passed_by_a_stepped_array():
    few = [case for case in PRODUCTS if case["rows"] <= 16]
    expect.function_matches(passed, counted, few, unit="cycle", rel=1e-9)


def test_used():
    def right(m, n, k, rows, cols):
        case = {"m": m, "n": n, "k": k, "rows": rows, "cols": cols}
        last = cycles(**case, dataflow="ws")
        return utilisation(**case, dataflow="ws") * last / (last + 1)

    expect.function_matches(
        used,
        right,
        list(PRODUCTS),
        rel=1e-9,
        mistakes={
            "Count multiply-adds, not operations: one each.": (
                lambda **case: 2 * right(**case)
            ),
            "All multipliers of the array count, in every cycle.": (
                lambda rows, cols, **case: (
                    right(rows=rows, cols=cols, **case) * rows * cols
                )
            ),
        },
    )
    expect.reading("used by one row of activations", used(**PRODUCTS[0]))


def test_rows_for():
    def fewest(share, rows, cols):
        m, lost = 1, 2 * rows + cols - 2
        while m / (m + lost) < share - 1e-12:
            m += 1
        return m

    expect.function_matches(
        rows_for,
        fewest,
        [
            {"share": s, "rows": r, "cols": c}
            for s in (0.5, 0.8, 0.9, 0.99)
            for r, c in ((128, 128), (256, 256), (16, 8))
        ],
        rel=1e-9,
        mistakes={
            "Solve m / (m + lost) = share for m; lost stays below the line, too.": (
                lambda share, rows, cols: math.ceil(share * (2 * rows + cols - 2))
            ),
            "Loading costs the rows once more.": (
                lambda share, rows, cols: math.ceil(
                    share * (rows + cols - 2) / (1 - share) - 1e-9
                )
            ),
        },
    )


def test_hidden():
    expect.function_matches(
        hidden,
        lambda **case: cycles(**case, dataflow="ws", overlap=True) + 1,
        list(PRODUCTS),
        unit="cycle",
        rel=1e-9,
        mistakes={
            "With few rows of activations a tile waits for its weights.": (
                lambda m, n, k, rows, cols: (
                    (math.ceil(k / rows) * math.ceil(n / cols) - 1) * m
                    + 2 * rows
                    + m
                    + cols
                    - 2
                )
            ),
            "The first tile's loading and the last one's way through stay.": (
                lambda m, n, k, rows, cols: (
                    math.ceil(k / rows) * math.ceil(n / cols) * max(m, rows)
                )
            ),
        },
    )
