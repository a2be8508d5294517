"""Which keys a query sees: all, those not after it, those within a window.

What a row of the score matrix keeps is one run of keys, ``[first, last)``. So a tile
is empty, whole or cut, and a pass over tiles need not touch the empty ones. Where there
are fewer queries than keys, the last query stands at the last key (decode).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from stacklib.quantity.bounds import whole

MOST_DIM = 256  # numbers of a head, as the kernels for a device have it
APART = 64  # keys that are worth a tile of their own because nothing there is masked


@dataclass(frozen=True, slots=True)
class Mask:
    """The pairs of a query and a key that count.

    - ``queries``, ``keys``: int; length of each side.
    - ``causal``: bool; whether a query sees only keys that are not after it.
    - ``window``: int, optional; a query at place p sees keys from p - window + 1; up to
      p + window - 1 where the mask is not causal.
    - raises ``ValueError`` for a length or window that is no whole number from 1.
    """

    queries: int
    keys: int
    causal: bool = False
    window: int | None = None

    def __post_init__(self) -> None:
        whole(queries=self.queries, keys=self.keys)
        if self.window is not None:
            whole(window=self.window)

    @property
    def all(self) -> bool:
        """Whether every query sees every key."""
        return not self.causal and self.window is None

    @property
    def behind(self) -> int:
        """Place of the first query among the keys."""
        return self.keys - self.queries

    @property
    def ahead(self) -> int:
        """Places from a query's own to the first that it no longer sees, if any."""
        return 1 if self.causal else self.window or self.queries + self.keys

    def first(self, row: int) -> int:
        """The first key that a query sees."""
        if self.window is None:
            return 0
        return max(0, row + self.behind - self.window + 1)

    def last(self, row: int) -> int:
        """One past the last key that a query sees; at most `first` if it sees none."""
        return min(self.keys, max(0, row + self.behind + self.ahead))

    def seen(self, top: int, bottom: int) -> tuple[int, int]:
        """Keys that any row of ``[top, bottom)`` sees: from, and up to."""
        return self.first(top), self.last(bottom - 1)

    def cut(self, top: int, bottom: int, left: int, right: int) -> bool:
        """Whether some pair of these rows and keys is masked."""
        return self.first(bottom - 1) > left or self.last(top) < right

    def steps(self, top: int, bottom: int, tile_k: int) -> Iterator[tuple[int, int]]:
        """The tiles of keys, ``[left, right)``, that a tile of queries must pass."""
        begin, end = self.seen(top, bottom)
        for left in range(begin // tile_k * tile_k, end, tile_k):
            yield left, min(left + tile_k, self.keys)

    def runs(self, top: int, bottom: int, most: int) -> Iterator[tuple[int, int]]:
        """The keys that rows ``[top, bottom)`` see, ``most`` of them at a time.

        Keys that all of the rows see, if there are many, lie apart from those that a
        mask cuts.
        """
        begin, end = self.seen(top, bottom)
        inner = max(begin, self.first(bottom - 1)), min(self.last(top), end)
        edges = {begin, end, *(inner if inner[1] - inner[0] >= APART else ())}
        for start, stop in pairwise(sorted(edges)):
            for left in range(start, stop, most):
                yield left, min(left + most, stop)

    @property
    def pairs(self) -> int:
        """Pairs that count."""
        if self.all:
            return self.queries * self.keys
        rows = range(self.queries)
        return sum(max(0, self.last(row) - self.first(row)) for row in rows)


@dataclass(frozen=True, slots=True)
class Call:
    """A checked call: its mask, its scale, and how many heads share keys and values."""

    mask: Mask
    scale: float
    group: int


def checked(
    q: Any, k: Any, v: Any, causal: bool, window: int | None, scale: float | None
) -> Call:
    """What a call asks for, from shapes alone; refused where they make no sense."""
    shapes = {name: tuple(x.shape) for name, x in (("q", q), ("k", k), ("v", v))}
    said = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
    q_shape, k_shape = shapes["q"], shapes["k"]
    if any(len(shape) != 4 for shape in shapes.values()):
        raise ValueError(f"{said}: each is (batch, heads, tokens, head_dim)")
    if any(0 in shape for shape in shapes.values()):
        raise ValueError(f"{said}: no axis may be empty")
    if k_shape[:3] != shapes["v"][:3]:
        raise ValueError(f"{said}: k and v have as many heads and tokens as each other")
    if q_shape[0] != k_shape[0] or q_shape[3] != k_shape[3]:
        raise ValueError(f"{said}: batch and head_dim must be the same in q and k")
    if q_shape[1] % k_shape[1]:
        raise ValueError(
            f"{said}: {q_shape[1]} query heads do not divide among {k_shape[1]} heads "
            "of keys and values"
        )
    if max(q_shape[3], shapes["v"][3]) > MOST_DIM:
        raise ValueError(f"{said}: head_dim is at most {MOST_DIM}")
    for one in ("dtype", "device"):
        found = [str(getattr(x, one, "cpu")) for x in (q, k, v)]
        if len(set(found)) > 1:
            raise TypeError(f"q, k, v of {', '.join(found)}: one {one} is needed")
    factor = q_shape[3] ** -0.5 if scale is None else float(scale)
    if not abs(factor) < 2.0**127:
        raise ValueError(f"scale = {scale!r}: a number within 2**127 is needed")
    mask = Mask(q_shape[2], k_shape[2], causal, window)
    return Call(mask, factor, q_shape[1] // k_shape[1])
