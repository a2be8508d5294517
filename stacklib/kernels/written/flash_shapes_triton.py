"""What attention is asked about: sizes held against one another, and tiles for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .host_triton import (
    FLOATS,
    FP8,
    INTERPRETED,
    Array,
    cdiv,
    dtype_of,
    launch,
    look,
    next_power_of_2,
    tile_side,
    tuned,
    tunes,
)

WIDEST = 256  # columns of a head
SIDES = ("BLOCK_Q", "BLOCK_K")
Tiles = tuple[tuple[int, int, int, int], ...]  # rows of Q and of K, warps, stages


@dataclass(frozen=True, slots=True)
class Lengths:
    """Sequences of different lengths, packed: (tokens, heads, head_dim)."""

    q_starts: Array  # int32, one more than sequences: where each one's queries start
    k_starts: Array
    most_queries: int  # of any of them

    def __post_init__(self) -> None:
        shapes = tuple(self.q_starts.shape), tuple(self.k_starts.shape)
        if len(shapes[0]) != 1 or shapes[0] != shapes[1] or shapes[0][0] < 2:
            raise ValueError(
                f"q_starts {shapes[0]}, k_starts {shapes[1]}: two lists of one length, "
                "one more than there are sequences"
            )
        for name, starts in (("q", self.q_starts), ("k", self.k_starts)):
            if dtype_of(starts) != "int32":
                raise TypeError(f"{name}_starts is {dtype_of(starts)}: int32 is needed")


@dataclass(frozen=True, slots=True)
class Places:
    """Where heads and tokens of an operand lie: steps in elements."""

    batch: int
    head: int
    token: int

    @property
    def steps(self) -> tuple[int, int, int]:
        """All three, as kernels take them."""
        return self.batch, self.head, self.token


@dataclass(frozen=True, slots=True)
class Shapes:
    """Sizes of a call, and the steps through its operands."""

    batch: int
    heads: int
    kv_heads: int
    queries: int  # of the longest sequence
    keys: int
    dim: int
    q: Places
    k: Places
    lse: Places
    lse_shape: tuple[int, ...]  # without the two planes

    @property
    def rows(self) -> int:
        """Rows of scores: elements of a plane of the logarithms."""
        found = 1
        for size in self.lse_shape:
            found *= size
        return found

    @property
    def block_d(self) -> int:
        """Columns of a tile."""
        return max(16, next_power_of_2(self.dim))


def shapes_of(q: Array, k: Array, v: Array, lengths: Lengths | None = None) -> Shapes:
    """Sizes of q, k and v, held against one another.

    - raises ``ValueError, TypeError`` for shapes and formats that do not fit; the
      message has all of them.
    """
    packed = lengths is not None
    lead = () if packed else ("batch",)
    axes = ("queries", "heads") if packed else ("heads", "queries")
    kv_axes = ("keys", "kv_heads") if packed else ("kv_heads", "keys")
    rules = {
        "q": (q, (*lead, *axes, "head_dim")),
        "k": (k, (*lead, *kv_axes, "head_dim")),
        "v": (v, (*lead, *kv_axes, "head_dim")),
    }
    sizes = look(rules, (*FLOATS, *FP8))
    heads, kv_heads, dim = sizes["heads"], sizes["kv_heads"], sizes["head_dim"]
    if heads % kv_heads:
        raise ValueError(
            f"q {tuple(q.shape)}, k {tuple(k.shape)}: {heads} query heads do not "
            f"divide among {kv_heads} heads of keys"
        )
    if dim > WIDEST:
        raise ValueError(f"q {tuple(q.shape)}: head_dim is at most {WIDEST}")
    S, T = sizes["queries"], sizes["keys"]
    if lengths is not None:
        batch = int(lengths.q_starts.shape[0]) - 1
        steps = Places(0, dim, heads * dim), Places(0, dim, kv_heads * dim)
        most, lse = lengths.most_queries, Places(0, S, 1)
        return Shapes(batch, heads, kv_heads, most, T, dim, *steps, lse, (heads, S))
    batch = sizes["batch"]
    q_steps = Places(heads * S * dim, S * dim, dim)
    k_steps = Places(kv_heads * T * dim, T * dim, dim)
    lse, shape = Places(heads * S, S, 1), (batch, heads, S)
    return Shapes(batch, heads, kv_heads, S, T, dim, q_steps, k_steps, lse, shape)


def rows_for(table: dict[int, Tiles], dim: int) -> Tiles:
    """The tiles for heads of so many columns."""
    return next(rows for most, rows in table.items() if dim <= most)


def tiles_for(
    table: dict[int, Tiles],
    dim: int,
    queries: int,
    keys: int,
    blocks: tuple[int, int] | None,
) -> dict[str, int]:
    """Sides of the tiles and how a program is built, from a table or as asked."""
    block_q, block_k, warps, stages = rows_for(table, dim)[0]
    if blocks is not None:
        block_q, block_k = (tile_side("blocks", side, 16) for side in blocks)
    elif INTERPRETED:  # no registers there: fewer, larger tiles are sooner done
        block_q, block_k = 128, 128
    block_q = min(block_q, max(16, next_power_of_2(queries)))
    block_k = min(block_k, max(16, next_power_of_2(keys)))
    sides = {"BLOCK_Q": block_q, "BLOCK_K": block_k}
    return {**sides, "num_warps": warps, "num_stages": stages}


def spread(
    kernel: Any,
    table: dict[int, Tiles],
    key: tuple[str, ...],
    sizes: Shapes,
    along: str,
    many: int,
    blocks: tuple[int, int] | None,
    args: tuple[Any, ...],
    meta: dict[str, Any],
) -> None:
    """Start a kernel on ``many`` heads times the tiles along one side.

    The tiles are those asked for; else a GPU measures the table's; else the first.
    """
    length = sizes.queries if along == "BLOCK_Q" else sizes.keys
    if blocks is None and tunes(args[0]):
        kernel = tuned(kernel, SIDES, rows_for(table, sizes.dim), key)
        launch(kernel, lambda m: (cdiv(length, m[along]), many), *args, **meta)
        return
    held = tiles_for(table, sizes.dim, sizes.queries, sizes.keys, blocks)
    launch(kernel, (cdiv(length, held[along]), many), *args, **held, **meta)


def softmax_scale(scale: float | None, dim: int) -> float:
    """What scores are multiplied by; 1 / sqrt(head_dim) if left out."""
    found = dim**-0.5 if scale is None else float(scale)
    if not 0 < found < float("inf"):
        raise ValueError(f"scale = {scale!r}: a finite number above zero is needed")
    return found


def window_size(window: int | None) -> int:
    """A window as kernels take it; 0 is none."""
    if window is None:
        return 0
    if int(window) != window or window < 1:
        raise ValueError(f"window = {window!r}: a whole number from 1")
    return int(window)


def lse_steps(sizes: Shapes) -> tuple[int, int, int]:
    """Steps through the logarithms: batch, head, plane."""
    return sizes.lse.batch, sizes.lse.head, sizes.rows
