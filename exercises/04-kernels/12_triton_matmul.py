"""A product of tile programs, in an order that shares.

level: build
project: P4.4

Write `c = a @ b` as a tile program with Triton's names, for `gpu.launch_tiles`. `a` has
M rows and K columns, `b` K rows and N columns, both in fp16 and stored row by row; `c`
is fp32. Each program computes one tile of `BLOCK_M` x `BLOCK_N` and walks along K in
steps of `BLOCK_K`. Sizes are not always multiples of a tile; beyond the arrays nothing
may be read or written.

- `place(number, down, across, group)`: which tile (row, column) the program of this
  number computes, where the result has `down` x `across` tiles: down `group` rows of
  tiles, then one column on; after the last column the next `group` rows. The last group
  may be lower.
- `asked(m, n, k, tile_m, tile_n)`: bytes of `a` and `b` that all programs ask for, in
  fp16, whatever caches hold. Programs at an edge ask only for what exists.
- `roofline(m, n, k, peak, bandwidth)`: the least time in seconds, if each number of `a`
  and `b` (`2` bytes) and of `c` (`4` bytes) crosses to memory once, arithmetic and
  transfers overlap, and nothing else takes time. `peak` in FLOP/s, `bandwidth` in B/s.
- `matmul`: the program. `tl.program_id(0)` is its number. It may call `place`, or
  calculate the same.

With a GPU: `import triton.language as tl` makes the same text a Triton kernel. To come
near `torch.matmul`, give it tiles of 128 x 256 x 64 and eight warps.

hint: `tl.arange(0, BLOCK)[:, None]` is a column of offsets. Load with `mask=` and
`other=0.0`, and give `tl.dot` the running sum as its third argument. A group has `group
* across` programs, or fewer rows in the last.
"""

from functools import cache

import numpy as np

from stacklib import gpu
from stacklib.gpu import tiles as tl
from stacklib.gpu.tiles.launcher import launch_tiles
from stacklib.grading import expect
from stacklib.memory import TiledMatmul

# ---- your answer ----


def place(number, down, across, group):
    """Row and column of the tile of a program."""
    first = number // (group * across) * group
    high = min(group, down - first)
    inside = number % (group * across)
    return first + inside % high, inside // high


def asked(m, n, k, tile_m, tile_n):
    """Bytes of a and b that all programs ask for."""
    return 2 * k * (m * -(-n // tile_n) + n * -(-m // tile_m))


def roofline(m, n, k, peak, bandwidth):
    """The least time of the product in seconds."""
    moved = 2 * (m * k + k * n) + 4 * m * n
    return max(2 * m * n * k / peak, moved / bandwidth)


def matmul(
    a,
    b,
    c,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    """The tile of one program."""
    down, across = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    number = tl.program_id(0)
    first = number // (GROUP * across) * GROUP
    high = tl.minimum(GROUP, down - first)
    inside = number % (GROUP * across)
    row = (first + inside % high) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    column = inside // high * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        deep = start + tl.arange(0, BLOCK_K)
        along, under = deep[None, :], deep[:, None]
        left = tl.load(a + row * K + along, mask=(row < M) & (along < K), other=0.0)
        other = (under < K) & (column < N)
        right = tl.load(b + under * N + column, mask=other, other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + row * N + column, total, mask=(row < M) & (column < N))


# ---- tests ----

GRIDS = ((4, 6, 2), (5, 3, 2), (3, 4, 8), (7, 5, 3), (6, 6, 1))
SHAPES = ((64, 64, 64), (48, 80, 40), (70, 33, 17))
BIG = ((8192, 8192, 8192), (4096, 7168, 8192), (4096, 8192, 1024), (1, 8192, 8192))
CHIP = {"peak": 989e12, "bandwidth": 3.35e12}
SIDE, NOBODY = 16, -7.0


def order(down, across, group):
    """Every tile in the order asked for, by walking."""
    for first in range(0, down, group):
        for column in range(across):
            for row in range(first, min(first + group, down)):
                yield row, column


def pair(value):
    try:
        row, column = value
    except TypeError:
        raise expect.Mistake(f"{value!r}: a row and a column are asked for") from None
    return expect.whole(row), expect.whole(column)


def test_place():
    for down, across, group in GRIDS:
        right = list(order(down, across, group))
        mine = [
            pair(
                expect.call(
                    place,
                    {"number": n, "down": down, "across": across, "group": group},
                )
            )
            for n in range(down * across)
        ]
        if mine == right:
            continue
        told = f"{down} x {across} tiles in groups of {group}: "
        if mine == list(order(down, across, 1)):
            raise expect.Mistake(f"{told}that is row by row, without groups")
        if len(set(mine)) < len(mine):
            raise expect.Mistake(
                f"{told}some tiles come twice. The last group may have fewer rows."
            )
        at = next(i for i, (x, y) in enumerate(zip(mine, right, strict=True)) if x != y)
        raise expect.Mistake(
            f"{told}program {at} has tile {mine[at]}, and {right[at]} is its tile: "
            "down the group first"
        )


def needed(m, n, k, tile_m, tile_n):
    return 2 * TiledMatmul(m, n, k, tile_m, tile_n).numbers_read


def test_asked():
    tiles = ({"tile_m": 128, "tile_n": 256}, {"tile_m": 16, "tile_n": 32})
    cases = [
        {**dict(zip("mnk", shape, strict=True)), **tile}
        for shape in BIG + SHAPES
        for tile in tiles
    ]
    expect.function_matches(
        asked,
        needed,
        cases,
        unit="B",
        rel=1e-12,
        mistakes={
            "Those are numbers; in fp16 one has 2 bytes.": (
                lambda **case: needed(**case) // 2
            ),
            "A is read once for each column of tiles, B for each row: you have them "
            "the other way round.": lambda m, n, k, tile_m, tile_n: (
                2 * k * (m * -(-m // tile_m) + n * -(-n // tile_n))
            ),
            "Each number once: that is with caches that hold everything.": (
                lambda m, n, k, tile_m, tile_n: 2 * k * (m + n)
            ),
        },
    )


def least(m, n, k, peak, bandwidth):
    compute = 2 * m * n * k / peak
    return max(compute, (2 * k * (m + n) + 4 * m * n) / bandwidth)


def test_roofline():
    expect.function_matches(
        roofline,
        least,
        [{**dict(zip("mnk", shape, strict=True)), **CHIP} for shape in BIG],
        unit="s",
        rel=1e-9,
        mistakes={
            "A multiply-add is two operations.": (
                lambda m, n, k, peak, bandwidth: least(m, n, k, 2 * peak, bandwidth)
            ),
            "Arithmetic and transfers overlap: the longer of the two counts.": (
                lambda m, n, k, peak, bandwidth: (
                    2 * m * n * k / peak + (2 * k * (m + n) + 4 * m * n) / bandwidth
                )
            ),
        },
    )


def given(m, n, k):
    rng = np.random.default_rng(m + n + k)
    return tuple(rng.integers(-3, 4, s).astype(np.float16) for s in ((m, k), (k, n)))


@cache
def run(shape, programs=0, group=2):
    """Launch the program; what the machine refuses is told with what it means."""
    m, n, k = shape
    (a, b), c = given(m, n, k), np.full((m, n), NOBODY, np.float32)
    count = programs or -(-m // SIDE) * -(-n // SIDE)
    try:
        return launch_tiles(
            matmul,
            count,
            *(a, b, c, m, n, k),
            BLOCK_M=SIDE,
            BLOCK_N=SIDE,
            BLOCK_K=SIDE,
            GROUP=group,
        )
    except gpu.KernelError as error:
        said = str(error)
        if "raise" in said.lower() or "write matmul" in said:
            raise NotImplementedError("write matmul") from None
        edge = " Offsets at an edge need a mask." if "beyond" in said else ""
        raise expect.Mistake(f"{m} x {n} x {k}: {said}.{edge}") from None


def test_product():
    for shape in SHAPES:
        a, b = (x.astype(np.float32) for x in given(*shape))
        found, right = run(shape).results["c"].reshape(shape[:2]), a @ b
        if np.array_equal(found, right):
            continue
        untouched = int((found == NOBODY).sum())
        why = f"{int((found != right).sum())} numbers differ"
        if np.array_equal(
            found,
            a[:, -(-shape[2] // SIDE) * SIDE - SIDE :]
            @ b[-(-shape[2] // SIDE) * SIDE - SIDE :],
        ):
            why = "only the last step is in it: give `tl.dot` the running sum"
        elif untouched:
            why = f"{untouched} numbers have not been written"
        raise expect.Mistake(f"{' x '.join(map(str, shape))}: {why}")


def test_order():
    """The first programs alone: which tiles have they written?"""
    shape, programs, group = (64, 96, 16), 5, 2
    found = run(shape, programs, group).results["c"].reshape(shape[:2])
    corners = found[::SIDE, ::SIDE] != NOBODY
    mine = {(int(r), int(c)) for r, c in np.argwhere(corners)}
    right = set(list(order(4, 6, group))[:programs])
    expect.reading("tiles of the first five programs", str(sorted(mine)))
    if mine != right:
        why = f"they are {sorted(mine)}"
        if mine == set(list(order(4, 6, 1))[:programs]):
            why = "the program goes row by row: GROUP is not used"
        raise expect.Mistake(f"groups of {group}, the first {programs} programs: {why}")
