"""Tiles of attention: what fits the shared memory of a GPU and spills no register.

A table for each generation, as ``ptxas`` and Triton's account of shared memory have it:
`benchmarks/triton_record.py` compiles the rows for each number's format and writes
``tiles.csv``, which a test holds to the limits. The GPUs of sm_86, 89 and 120 have 99
KiB of shared memory a program and the same instructions for products, so they share a
table; sm_80 has 163 KiB, and sm_90 and sm_100 have 227 KiB and instructions of their
own. float32 is multiplied without tensor cores everywhere.
"""

from __future__ import annotations

from typing import Any

from .flash_shapes_triton import Shapes, column_sides
from .host_triton import (
    INTERPRETED,
    capability_of,
    cdiv,
    dtype_of,
    generation,
    launch,
    next_power_of_2,
    tile_side,
    tuned,
    tunes,
)

SIDES = ("BLOCK_Q", "BLOCK_K")
Tiles = tuple[tuple[int, int, int, int], ...]  # rows of Q and of K, warps, stages
# Columns of tiles of q and v together, up to -> rows: the first where nothing is
# measured, all where a GPU can choose.
Table = dict[int, Tiles]

FORWARD: dict[int, Table] = {
    80: {
        128: ((128, 64, 8, 2), (64, 64, 4, 3)),
        256: ((128, 64, 8, 3), (128, 32, 8, 3)),
        320: ((64, 32, 4, 2),),
        512: ((64, 64, 8, 2), (64, 32, 8, 2)),
        1088: ((32, 16, 8, 2),),
    },
    86: {
        128: ((128, 64, 8, 2), (64, 64, 4, 3)),
        256: ((128, 32, 8, 2), (64, 32, 4, 3)),
        320: ((64, 32, 4, 2),),
        512: ((64, 32, 8, 2),),
        1088: ((32, 16, 8, 2),),
    },
    90: {
        128: ((128, 64, 4, 3), (128, 128, 8, 3), (64, 64, 4, 3)),
        256: ((128, 128, 8, 3), (128, 64, 8, 3), (64, 64, 4, 2)),
        320: ((128, 64, 8, 2), (64, 64, 4, 2)),
        512: ((128, 32, 8, 2), (64, 64, 8, 2)),
        1088: ((32, 16, 8, 2),),
    },
}
FORWARD[100] = FORWARD[90]
KEYS_HELD: dict[int, Table] = {
    86: {
        128: ((32, 128, 8, 3), (32, 64, 8, 2)),
        256: ((32, 64, 8, 2), (32, 32, 8, 2)),
        320: ((32, 32, 8, 2), (16, 32, 4, 2)),
        512: ((32, 32, 8, 2), (16, 32, 8, 2)),
    },
    90: {
        128: ((64, 128, 8, 2), (32, 128, 8, 3)),
        256: ((32, 128, 8, 3), (32, 64, 8, 2)),
        320: ((32, 32, 8, 2), (16, 32, 8, 2)),
        512: ((32, 32, 8, 2), (16, 32, 8, 2)),
    },
    100: {
        128: ((64, 128, 8, 2), (32, 128, 8, 3)),
        256: ((32, 128, 8, 1), (32, 32, 8, 2)),
        320: ((32, 64, 8, 1), (32, 32, 8, 2)),
        512: ((32, 32, 8, 2), (16, 32, 8, 2)),
    },
}
KEYS_HELD[80] = KEYS_HELD[86]
QUERIES_HELD: dict[int, Table] = {
    80: {
        128: ((128, 64, 8, 3), (64, 64, 8, 2)),
        256: ((128, 32, 8, 2), (64, 64, 8, 2)),
        320: ((32, 32, 8, 2), (64, 16, 8, 2)),
        512: ((64, 32, 8, 2), (64, 16, 8, 2)),
    },
    86: {
        128: ((128, 64, 8, 3), (64, 64, 8, 2)),
        256: ((64, 64, 8, 2), (128, 32, 8, 2)),
        320: ((32, 32, 8, 2), (64, 16, 8, 2)),
        512: ((64, 16, 8, 2), (32, 32, 4, 2)),
    },
    90: {
        128: ((128, 64, 8, 3), (64, 64, 4, 3)),
        256: ((128, 64, 8, 2), (64, 64, 4, 2)),
        320: ((64, 64, 8, 2), (64, 32, 8, 2)),
        512: ((64, 64, 8, 2),),
    },
}
QUERIES_HELD[100] = {**QUERIES_HELD[90], 320: ((64, 32, 4, 2),)}
# Decode: at most so many query heads a tile, and keys.
DECODE: Table = {
    128: ((64, 64, 4, 3),),
    256: ((32, 64, 4, 3),),
    320: ((64, 32, 4, 2),),
    512: ((16, 32, 4, 2),),
    1088: ((16, 32, 8, 1),),
}
DECODES = dict.fromkeys((80, 86, 90), DECODE)
DECODES[100] = {**DECODE, 320: ((32, 32, 4, 2),)}
# float32, on every generation
WIDE_FORWARD: Table = {128: ((64, 32, 8, 2),), 256: ((32, 16, 8, 1),)}
WIDE_KEYS: Table = {128: ((32, 32, 8, 1),), 256: ((16, 32, 8, 1),)}
WIDE_QUERIES: Table = {128: ((16, 32, 4, 1),), 256: ((16, 32, 8, 1),)}
WIDE_DECODE: Table = {128: ((16, 32, 4, 1),), 256: ((16, 32, 8, 1),)}
TABLES = {
    "forward_kernel": (FORWARD, WIDE_FORWARD),
    "keys_kernel": (KEYS_HELD, WIDE_KEYS),
    "queries_kernel": (QUERIES_HELD, WIDE_QUERIES),
    "split_kernel": (DECODES, WIDE_DECODE),
}


def rows_for(
    kernel: str,
    capability: int,
    dtype: str,
    dim: int,
    dim_v: int,
    crowded: bool = False,
) -> Tiles:
    """The tiles of a kernel on a GPU, for heads of so many columns.

    - ``kernel``: str; such as ``forward_kernel``.
    - ``capability``: int; such as 90.
    - ``dtype``: str; of q, k and v.
    - ``dim``, ``dim_v``: int; columns of q and k, and of v.
    - ``crowded``: bool; a window has one more loop and packed sequences have longer
      numbers, for which the first row has no registers left.
    - raises ``ValueError`` where none fits; it says what does.
    """
    found = generation(capability)
    if dtype.startswith("float8") and capability < 89:
        raise ValueError(
            f"{dtype} on sm_{capability}: FP8 products need sm_89 or later"
        )
    narrow, wide = TABLES[kernel]
    table = wide if dtype == "float32" else narrow[found]
    whole, rest = column_sides(dim).values()
    columns = whole + (rest if dim > whole else 0) + next_power_of_2(dim_v)
    for most, rows in table.items():
        if columns <= most:
            return rows[1:] if crowded and len(rows) > 1 else rows
    raise ValueError(
        f"{kernel} of {dtype} on sm_{capability}: head_dim {dim} and v_dim {dim_v} fit "
        f"no tile; together they are at most {max(table)}"
    )


def tiles_for(
    kernel: Any,
    like: Any,
    sizes: Shapes,
    crowded: bool,
    blocks: tuple[int, int] | None,
) -> dict[str, int]:
    """Sides of the tiles and how a program is built, from a table or as asked."""
    built = {}
    if blocks is not None:
        block_q, block_k = (tile_side("blocks", side, 16) for side in blocks)
    elif INTERPRETED:  # no registers there: fewer, larger tiles are sooner done
        block_q, block_k = 128, 128
    else:
        block_q, block_k, warps, stages = _rows(kernel, like, sizes, crowded)[0]
        built = {"num_warps": warps, "num_stages": stages}
    block_q = min(block_q, max(16, next_power_of_2(sizes.queries)))
    block_k = min(block_k, max(16, next_power_of_2(sizes.keys)))
    return {"BLOCK_Q": block_q, "BLOCK_K": block_k, **built}


def _rows(kernel: Any, like: Any, sizes: Shapes, crowded: bool) -> Tiles:
    asked = capability_of(like), dtype_of(like), sizes.dim, sizes.dim_v, crowded
    return rows_for(kernel.__name__, *asked)


def decode_tiles(like: Any, dim: int, dim_v: int) -> tuple[int, int, int, int]:
    """Most query heads of a tile, its keys, warps and stages."""
    if INTERPRETED:
        return 64, 64, 4, 1
    return rows_for("split_kernel", capability_of(like), dtype_of(like), dim, dim_v)[0]


def spread(
    kernel: Any,
    key: tuple[str, ...],
    sizes: Shapes,
    along: str,
    many: int,
    blocks: tuple[int, int] | None,
    args: tuple[Any, ...],
    meta: dict[str, Any],
) -> None:
    """Start a kernel on ``many`` heads times the tiles along one side.

    The tiles are those asked for; else a GPU measures the table's, once for each value
    of ``key`` and each power of two that the lengths fall under; else the first.
    """
    crowded = bool(meta["WINDOW"]) or sizes.packed
    length = sizes.queries if along == "BLOCK_Q" else sizes.keys
    if blocks is None and tunes(args[0]):
        bucket = next_power_of_2(sizes.queries), next_power_of_2(sizes.keys)
        rows = _rows(kernel, args[0], sizes, crowded)
        kernel = tuned(kernel, SIDES, rows, key, bucket)
        launch(kernel, lambda m: (cdiv(length, m[along]) * many,), *args, **meta)
        return
    held = tiles_for(kernel, args[0], sizes, crowded, blocks)
    launch(kernel, (cdiv(length, held[along]) * many,), *args, **held, **meta)
