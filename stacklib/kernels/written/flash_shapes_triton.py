"""What attention is asked about: sizes held against one another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import sub

from .host_triton import (
    FLOATS,
    FP8,
    Array,
    device_of,
    dtype_of,
    look,
    next_power_of_2,
)

WIDEST = 576  # columns of a head: those of multi-head latent attention


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

    def hold(self, queries: int, keys: int, most_keys: int) -> None:
        """Refuse starts that are not of so many tokens; a GPU's are not waited for."""
        if device_of(self.q_starts) != "cpu":
            return
        own = self.q_starts, queries, self.most_queries
        for starts, tokens, most in (own, (self.k_starts, keys, most_keys)):
            at = starts.tolist()
            longest = max(map(sub, at[1:], at))
            if at != sorted(at) or [at[0], at[-1]] != [0, tokens] or longest > most:
                raise ValueError(
                    f"starts from {at[0]} to {at[-1]}, {longest} tokens of one, at "
                    f"most {most}: they rise from 0 to {tokens}"
                )


@dataclass(frozen=True, slots=True)
class Places:
    """Where heads and tokens of an operand lie: steps in rows of a head's columns."""

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
    dim: int  # columns of q and k
    dim_v: int  # of v and the result
    q: Places
    k: Places
    lse: Places
    lse_shape: tuple[int, ...]  # without the two planes

    @property
    def rows(self) -> int:
        """Rows of scores: elements of a plane of the logarithms."""
        return math.prod(self.lse_shape)

    @property
    def packed(self) -> bool:
        """Whether sequences lie one after another, not each in a row of a batch."""
        return not self.q.batch

    @property
    def columns(self) -> dict[str, int]:
        """Columns of heads and of their tiles, as kernels take them."""
        wide = {"DV": self.dim_v, "BLOCK_V": max(16, next_power_of_2(self.dim_v))}
        return {"D": self.dim, **column_sides(self.dim), **wide}


def column_sides(dim: int) -> dict[str, int]:
    """Tiles that a head's columns lie in: one, or one and what is left.

    192 columns are 128 and 64, not three quarters of 256; a smaller rest (96, 160)
    costs more registers than the empty columns do. A tile of the rest that is not
    needed (``BLOCK_D`` holds all) is never read.
    """
    whole = max(16, next_power_of_2(dim))
    rest = next_power_of_2(dim - whole // 2)
    if whole > dim and 64 <= rest < whole // 2:
        return {"BLOCK_D": whole // 2, "BLOCK_R": rest}
    return {"BLOCK_D": whole, "BLOCK_R": 16}


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
        "v": (v, (*lead, *kv_axes, "v_dim")),
    }
    sizes = look(rules, (*FLOATS, *FP8))
    heads, kv_heads, dim = sizes["heads"], sizes["kv_heads"], sizes["head_dim"]
    dim_v = sizes["v_dim"]
    if heads % kv_heads:
        raise ValueError(
            f"q {tuple(q.shape)}, k {tuple(k.shape)}: {heads} query heads do not "
            f"divide among {kv_heads} heads of keys"
        )
    if max(dim, dim_v) > WIDEST:
        raise ValueError(
            f"q {tuple(q.shape)}, v {tuple(v.shape)}: head_dim is at most {WIDEST}"
        )
    S, T = sizes["queries"], sizes["keys"]
    if lengths is not None:
        batch = int(lengths.q_starts.shape[0]) - 1
        lengths.hold(S, T, T)
        steps = Places(0, 1, heads), Places(0, 1, kv_heads), Places(0, S, 1)
        own = heads, kv_heads, int(lengths.most_queries), T, dim, dim_v
        return Shapes(batch, *own, *steps, (heads, S))
    batch, steps_q = sizes["batch"], Places(heads * S, S, 1)
    steps = steps_q, Places(kv_heads * T, T, 1), steps_q
    own = heads, kv_heads, S, T, dim, dim_v
    return Shapes(batch, *own, *steps, (batch, heads, S))


def softmax_scale(scale: float | None, dim: int) -> float:
    """What scores are multiplied by; 1 / sqrt(head_dim) if left out."""
    found = dim**-0.5 if scale is None else float(scale)
    if not 0 < found < 2.0**127:
        raise ValueError(f"scale = {scale!r}: above zero and below 2**127 is needed")
    return max(found, 2.0**-126)  # what float32 has no exact number for is no less


def window_size(window: int | None) -> int:
    """A window as kernels take it; 0 is none, and places plus one stay in int32."""
    if window is None:
        return 0
    if int(window) != window or window < 1:
        raise ValueError(f"window = {window!r}: a whole number from 1")
    return min(int(window), 2**30)


def lse_steps(sizes: Shapes) -> tuple[int, int, int]:
    """Steps through the logarithms: batch, head, plane."""
    return sizes.lse.batch, sizes.lse.head, sizes.rows
