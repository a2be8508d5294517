"""The best tile under a cap.

level: derive
project: P3.3

A product Y = X W of m x n x k is computed in blocks of tile_m x tile_n sums. For one
block, a band of X and a band of W are read once, `tile_k` steps of the sum at a time.
Every number of Y is written once.

- `moved(m, n, k, tile_m, tile_n)`: numbers read and written by the whole product. The
  tiles of the tests divide the matrices.
- `staged(tile_m, tile_n, tile_k, stages, width)`: bytes of shared memory of one block,
  which holds `stages` steps of both operands, `width` bytes a number.
- `best(n, staging, sums, sides, tile_k=64, stages=2, width=2)`: of all pairs of `sides`
  the `(tile_m, tile_n)` that fits and moves least for square matrices of n rows. It
  fits if what is staged is at most `staging` bytes and the sums, in fp32, at most
  `sums` bytes. Of pairs that move equally little take the one with fewer rows. If none
  fits, return None.

The tests use what one block may ask for on an A100, an H100 and a B200.

hint: A block needs tile_m rows of X, k numbers each, so X is read n / tile_n times in
all. The sums are not staged: they stay in registers, or in tensor memory. They are
fp32, however narrow the operands.
"""

from stacklib.grading import expect
from stacklib.memory import TiledMatmul
from stacklib.memory.tile.fit import tile_store

# ---- your answer ----


def moved(m, n, k, tile_m, tile_n):
    """Numbers read and written for the whole product."""
    return m * n * k * (1 / tile_n + 1 / tile_m) + m * n


def staged(tile_m, tile_n, tile_k, stages, width):
    """Bytes of shared memory that one block's operands take."""
    return stages * tile_k * (tile_m + tile_n) * width


def best(n, staging, sums, sides, tile_k=64, stages=2, width=2):
    """The pair of sides that fits and moves least; None if none fits."""
    fitting = [
        (a, b)
        for a in sides
        for b in sides
        if staged(a, b, tile_k, stages, width) <= staging and 4 * a * b <= sums
    ]
    return min(fitting, key=lambda t: (moved(n, n, n, *t), t[0]), default=None)


# ---- tests ----

SHAPES = [
    {"m": m, "n": n, "k": k, "tile_m": a, "tile_n": b}
    for m, n, k in ((1024, 1024, 1024), (512, 2048, 256))
    for a, b in ((64, 64), (128, 256), (32, 128))
]


def counted(m, n, k, tile_m, tile_n):
    return sum(TiledMatmul(m, n, k, tile_m, tile_n).count())


def test_moved():
    expect.function_matches(
        moved,
        counted,
        SHAPES,
        rel=1e-9,
        mistakes={
            "You read X once a row of tiles: X goes with tile_n, W with tile_m.": (
                lambda m, n, k, tile_m, tile_n: (
                    k * (m * m / tile_m + n * n / tile_n) + m * n
                )
            ),
            "You left out that the result is written.": (
                lambda m, n, k, tile_m, tile_n: m * n * k * (1 / tile_m + 1 / tile_n)
            ),
            "You read one operand only.": (
                lambda m, n, k, tile_m, tile_n: m * n * k / tile_n + m * n
            ),
        },
    )


def test_staged():
    expect.function_matches(
        staged,
        lambda tile_m, tile_n, tile_k, stages, width: (
            stages * tile_k * (tile_m + tile_n) * width
        ),
        [
            {"tile_m": a, "tile_n": b, "tile_k": 64, "stages": s, "width": w}
            for a, b in ((128, 128), (128, 256))
            for s in (3, 2)
            for w in (2, 1)
        ],
        unit="B",
        mistakes={
            "You hold one step; the next is under way already.": (
                lambda tile_m, tile_n, tile_k, stages, width: (
                    tile_k * (tile_m + tile_n) * width
                )
            ),
            "You staged the sums too; they stay in registers.": (
                lambda tile_m, tile_n, tile_k, stages, width: (
                    stages * tile_k * (tile_m + tile_n) * width + 4 * tile_m * tile_n
                )
            ),
            "You counted numbers; each has several bytes.": (
                lambda tile_m, tile_n, tile_k, stages, width: (
                    stages * tile_k * (tile_m + tile_n)
                )
            ),
        },
    )


def reference(n, staging, sums, sides, tile_k=64, stages=2, width=2, sum_width=4):
    fitting = [
        (a, b)
        for a in sides
        for b in sides
        if stages * tile_k * (a + b) * width <= staging and sum_width * a * b <= sums
    ]
    key = lambda t: (n * n * n * (1 / t[0] + 1 / t[1]), t[0])  # noqa: E731
    return min(fitting, key=key, default=None)


def test_best():
    sides = range(64, 513, 64)
    for key in ("a100-sxm-80gb", "h100-sxm", "b200-sxm"):
        store = tile_store(key)
        caps = {"staging": store.staging.si, "sums": store.sums.si}
        right = reference(8192, sides=sides, **caps)
        said = expect.sequence(best(8192, sides=sides, **caps), "a pair of sides", 2)
        mine = tuple(map(expect.whole, said))
        if mine == reference(8192, sides=sides, sum_width=2, **caps) != right:
            raise expect.Mistake(
                f"{key}: {mine}: your sums are as narrow as the operands; they are fp32"
            )
        square = reference(8192, sides=sides, **caps)[0]
        if mine == (square, square) and mine != right:
            raise expect.Mistake(
                f"{key}: {mine}: you tried squares only; a rectangle has room for more"
            )
        if 4 * mine[0] * mine[1] > caps["sums"]:
            raise expect.Mistake(f"{key}: {mine}: its sums do not fit the registers")
        expect.reading(f"best tile, {key}", mine)
        if mine == right[::-1] != right:
            raise expect.Mistake(
                f"{key}: {mine}: {right} moves as little, and has fewer rows"
            )
        if mine != right:
            raise expect.Mistake(f"{key}: {mine}: {right} fits and moves least")


def test_nothing_fits():
    mine = best(1024, 1024, 1024, (64, 128))
    if mine is not None:
        raise expect.Mistake(
            f"{expect.clip(mine)} for 1 KiB of staging, into which no tile fits: "
            "return None"
        )
