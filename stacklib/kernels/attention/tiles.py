"""What a pass over tiles takes at a time: rows, keys, and how many heads of them.

Small heads go many together, so that what a library costs a call is paid once for all
of them. However many heads there are, no more than `NUMBERS` scores exist at a time, in
float32 half a MiB, and keys of no more than `COLUMNS` numbers are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from .mask import Call

TILE_Q, TILE_K = 512, 256
TILE_CUT = 256  # queries where a mask cuts: less is computed only to be masked
FEWEST = 32  # queries that are worth a tile, however few a mask leaves
NUMBERS = TILE_Q * TILE_K
COLUMNS = 4 * NUMBERS

Block: TypeAlias = tuple[slice, slice, slice]  # batch, key heads, members of each


@dataclass(frozen=True, slots=True)
class Tiles:
    """Rows and keys of a tile, and the heads that are taken together."""

    call: Call
    batch: int
    kv_heads: int
    rows: int
    keys: int
    members: int  # query heads of one head of keys and values
    heads: int  # heads of keys and values

    @property
    def numbers(self) -> int:
        """Of the scores that exist at a time."""
        heads = min(self.heads, self.batch * self.kv_heads)
        return heads * self.members * self.rows * self.keys

    def blocks(self) -> Iterator[Block]:
        """Every head once; those that share keys and values follow each other."""
        at_once = max(1, self.heads // self.kv_heads)
        for one in range(0, self.batch, at_once):
            for head in range(0, self.kv_heads, self.heads):
                for member in range(0, self.call.group, self.members):
                    yield (
                        slice(one, one + at_once),
                        slice(head, head + self.heads),
                        slice(member, member + self.members),
                    )

    def steps(self) -> Iterator[tuple[int, int]]:
        """Rows ``[top, bottom)``, tile by tile."""
        queries = self.call.mask.queries
        for top in range(0, queries, self.rows):
            yield top, min(top + self.rows, queries)


def tiles_of(k: Any, v: Any, call: Call) -> Tiles:
    """The tiles of a checked call, from shapes alone."""
    mask, most = call.mask, TILE_Q
    if not mask.all:
        most = min(TILE_CUT, max(FEWEST, mask.window or mask.queries // 2))
    rows = _even(mask.queries, most)
    keys = _even(mask.keys, TILE_K * min(4, max(1, TILE_Q // rows)))
    members = min(call.group, max(1, NUMBERS // (rows * keys)))
    wide = max(k.shape[3], v.shape[3])
    heads = NUMBERS // (members * rows * keys), COLUMNS // (keys * wide)
    return Tiles(call, k.shape[0], k.shape[1], rows, keys, members, max(1, min(heads)))


def _even(length: int, most: int) -> int:
    """A tile, so that the last of them is not much smaller: in steps of 16 numbers."""
    tiles = -(-length // most)
    return min(length, most, -(-length // tiles // 16) * 16)
