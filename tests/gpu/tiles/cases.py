"""What each program of the corpus is run with; NumPy alone, for two processes."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

f16, f32 = np.float16, np.float32


@dataclass(frozen=True)
class Case:
    """A launch: arguments in order, block sizes, and how near the results must be."""

    program: str
    grid: tuple[int, ...]
    args: tuple[Any, ...]
    words: dict[str, Any] = field(default_factory=dict)
    near: float = 0.0  # relative; 0 for equal
    name: str = ""


def up(a: int, b: int) -> int:
    return -(-a // b)


def normal(seed: int, *shape: int, dtype: Any = f32) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def whole(
    seed: int, *shape: int, low: int = -9, high: int = 10, dtype: Any = f32
) -> Any:
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def product(
    name: str, m: int, n: int, k: int, blocks: Any, dtype: Any, **words: Any
) -> Case:
    a, b = whole(1, m, k, dtype=dtype), whole(2, k, n, dtype=dtype)
    c = np.zeros((m, n), f32 if name == "matmul" else f16)
    grid = (up(m, blocks[0]), up(n, blocks[1]))
    if name != "matmul":
        grid = (grid[0] * grid[1],)
    sizes = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), blocks, strict=True))
    strides = (k, 1, n, 1, n, 1)
    return Case(name, grid, (a, b, c, m, n, k, *strides), {**sizes, **words})


def attention(
    seed: int, heads: int, s: int, d: int, block: tuple[int, int], causal: bool
) -> Case:
    q, k, v = (normal(seed + n, heads, s, d, dtype=f16) for n in range(3))
    args = (q, k, v, np.zeros((heads, s, d), f32), d**-0.5, s)
    words = {"D": d, "BLOCK_M": block[0], "BLOCK_N": block[1], "CAUSAL": causal}
    grid = (s // block[0], heads)
    return Case("flash_attention", grid, args, words, 2e-3, f"flash causal={causal}")


def rows(seed: int, n: int, columns: int) -> list[Case]:
    x = normal(seed, n, columns)
    power = 1 << (columns - 1).bit_length()
    w, b = normal(seed + 1, columns), normal(seed + 2, columns)
    stats = (np.zeros(n, f32), np.zeros(n, f32))
    half = normal(seed, n, columns, dtype=f16)
    return [
        Case(
            "softmax_rows", (n,), (x, np.zeros_like(x), columns), {"BLOCK": power}, 1e-5
        ),
        Case(
            "layer_norm",
            (n,),
            (x, w, b, np.zeros_like(x), *stats, columns, 1e-5),
            {"BLOCK": max(16, power // 4)},
            1e-4,
        ),
        Case(
            "rms_norm",
            (n,),
            (half, w.astype(f16), np.zeros_like(half), columns, columns, 1e-6),
            {"BLOCK": power},
            2e-3,
        ),
        Case(
            "top_one",
            (n,),
            (whole(seed, n, columns), np.zeros(n, f32), np.zeros(n, np.int32), columns),
            {"BLOCK": power},
        ),
    ]


def lines(seed: int, n: int, block: int) -> list[Case]:
    x, y = normal(seed, n), normal(seed + 1, n)
    grid, size = (up(n, block),), {"BLOCK": block}
    many = whole(seed, n, low=-1000, high=1000, dtype=np.int32)
    few = whole(seed + 1, n, low=1, high=30, dtype=np.int32)
    few *= np.where(np.arange(n) % 2, 1, -1).astype(np.int32)
    counts = np.zeros(16, np.int32)
    return [
        Case("vector_add", grid, (x, y, np.zeros(n, f32), n), size),
        Case("strided_sum", (3,), (many, np.zeros(1, np.int64), n), size),
        Case("histogram", grid, (abs(many), counts, n), {**size, "BINS": 16}),
        Case("dropout", grid, (x, np.zeros(n, f32), n, 0.7, 1234), size, 1e-6),
        Case(
            "conv1d",
            grid,
            (x, normal(3, 5), np.zeros(n, f32), n),
            {**size, "TAPS": 5},
            1e-5,
        ),
        Case("whole_numbers", grid, (many, few, np.zeros(5 * n, np.int32), n), size),
        Case(
            "last_one_adds",
            grid,
            (
                whole(seed, n),
                np.zeros(grid[0], f32),
                np.zeros(1, np.int32),
                np.zeros(1, f32),
                n,
            ),
            {**size, "PARTS": 1 << (grid[0] - 1).bit_length()},
        ),
    ]


def others(seed: int) -> list[Case]:
    scan = whole(seed, 4, 64, dtype=np.int32)
    wide = normal(seed, 8, 32)
    angle = normal(seed + 1, 8, 16)
    heads = normal(seed + 2, 8, 32)
    a8 = whole(seed, 32, 64, low=-128, high=128, dtype=np.int8)
    b8 = whole(seed + 1, 64, 32, low=-128, high=128, dtype=np.int8)
    table = normal(seed, 50, 32)
    tokens = whole(seed, 21, low=0, high=50, dtype=np.int64)
    kept = {"columns": 64}
    mats = (whole(seed, 32, 64), whole(seed + 1, 64, 32), np.zeros((32, 32), f32))
    small = whole(seed, 6, 32)
    return [
        Case(
            "running_sum", (4,), (scan, np.zeros_like(scan)), {**kept, "REVERSE": False}
        ),
        Case(
            "running_sum", (4,), (scan, np.zeros_like(scan)), {**kept, "REVERSE": True}
        ),
        Case(
            "running_max",
            (1,),
            (wide[:4, :16].copy(), np.zeros((4, 16), f32)),
            {"rows": 4, "columns": 16},
        ),
        Case(
            "rotary",
            (8,),
            (heads, np.cos(angle), np.sin(angle), np.zeros_like(heads)),
            {"HALF": 16},
            1e-6,
        ),
        Case(
            "split_k",
            (2, 2, 2),
            (*mats, 32, 32, 64),
            {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "SPLIT": 2},
        ),
        Case(
            "int8_matmul",
            (1,),
            (a8, b8, np.zeros((32, 32), np.int32)),
            {"N": 32, "K": 64},
        ),
        Case(
            "dequantized_matmul",
            (2,),
            (
                whole(seed, 16, 64, dtype=f16),
                b8,
                abs(normal(3, 32)),
                np.zeros((16, 32), f32),
                64,
            ),
            {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 32},
            1e-6,
        ),
        Case(
            "embedding",
            (3,),
            (table, tokens, np.zeros((21, 32), f32), 21),
            {"WIDTH": 32, "BLOCK": 8},
        ),
        Case(
            "locked_rows",
            (6,),
            (small, np.zeros(2, np.int32), np.zeros((2, 32), f32)),
            {"ROWS": 2, "WIDTH": 32},
        ),
        Case(
            "collatz",
            (16,),
            (np.arange(1, 17, dtype=np.int32), np.zeros(16, np.int32), 16),
        ),
        Case(
            "grouped_places",
            (5, 4),
            (
                whole(seed, 16, low=0, dtype=np.int32),
                np.zeros((5, 4), np.int32),
                *(5, 4, 2),
            ),
            {"BLOCK": 16},
        ),
        Case("shapes", (1,), (normal(seed, 32), np.zeros(160, f32)), {"N": 32}, 1e-5),
        Case(
            "transpose",
            (3, 2),
            (normal(seed, 40, 20), np.zeros((20, 40), f32), 40, 20),
            {"BLOCK": 16},
        ),
    ]


def corners(seed: int, m: int, n: int, k: int) -> list[Case]:
    """Products whose tiles are named by their corners; rows of 16 bytes."""
    x, y = whole(seed, m, k, dtype=f16), whole(seed + 1, n, k, dtype=f16)
    args = (x, y, np.zeros((m, n), f16), m, n, k)
    words = {"BM": 32, "BN": 16, "BK": 16}
    grid = (up(m, 32), up(n, 16))
    return [
        Case("block_pointers", grid, args, words),
        Case("descriptors", (3,), args, words),
    ]


def all_cases() -> list[Case]:
    """The corpus, small."""
    return [
        *lines(0, 1000, 128),
        *rows(0, 5, 100),
        *others(0),
        product("matmul", 33, 40, 50, (16, 16, 16), f32),
        product(
            "matmul_grouped",
            64,
            48,
            64,
            (16, 16, 16),
            f16,
            GROUP=2,
            ACTIVATION="leaky_relu",
        ),
        product(
            "matmul_grouped", 64, 48, 64, (16, 16, 16), f16, GROUP=3, ACTIVATION=""
        ),
        attention(0, 1, 64, 16, (16, 16), False),
        attention(0, 2, 64, 16, (16, 16), True),
        *corners(0, 70, 40, 56),
    ]


def random_cases() -> list[Case]:
    """The corpus at many ragged sizes."""
    found: list[Case] = []
    for seed in range(1, 13):
        of = np.random.default_rng(seed).integers
        found += lines(seed, int(of(1, 3000)), 1 << int(of(5, 9)))
        found += rows(seed, int(of(1, 9)), int(of(2, 300)))
        found += others(seed)
        m, n, k = (int(of(1, 90)) for _ in range(3))
        blocks = tuple(16 << int(of(0, 2)) for _ in range(3))
        found.append(product("matmul", m, n, k, blocks, f32))
        found.append(
            product(
                *("matmul_grouped", m, n, k, blocks, f16),
                GROUP=int(of(1, 5)),
                ACTIVATION="leaky_relu",
            )
        )
        found.append(attention(seed, 2, 128, 32, (32, 16), bool(seed % 2)))
        found += corners(seed, m, 8 * up(n, 8), 8 * up(k, 8))
    return found
