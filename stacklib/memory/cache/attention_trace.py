"""Attention tile by tile, as a cache below the chip sees it.

A block holds one tile of queries of one head and passes over the keys and values of
that head, tile by tile (Dao et al., 2022). Blocks differ in which queries they hold;
what they read is the same for all blocks of a head, and for all heads that share keys
and values. So the order in which blocks start decides how much the L2 can save: see
`TiledAttention.order`. The arithmetic that goes with it is `recorded.attend`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heapreplace
from math import ceil
from typing import TYPE_CHECKING, Any

from stacklib.quantity.bounds import whole

from .waves import Reads, wave_reads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .cache import Cache


@dataclass(frozen=True, slots=True)
class Start:
    """A block on the chip: its head and tile of queries, where and when it runs."""

    head: int
    tile: int  # which tile of its queries
    slot: int  # one of the places for blocks that the chip has
    begins: int  # first step, and how many tiles of keys it passes over, one a step
    steps: int

    @property
    def ends(self) -> int:
        """The first step after its last."""
        return self.begins + self.steps


@dataclass(frozen=True, slots=True)
class Trace:
    """Accesses in the order a cache sees them."""

    addresses: NDArray[Any]  # (accesses,) byte address of the line that is touched
    stores: NDArray[Any]  # (accesses,) which accesses write

    def read_hit_rate(self, cache: Cache) -> float:
        """Share of the reads that hit in ``cache``, writes passing through it too."""
        hit = cache.run(self.addresses, self.stores).hit
        return float(hit[~self.stores].mean())


@dataclass(frozen=True)
class TiledAttention:
    """The forward pass of attention over all heads of one sequence, and its tiles."""

    heads: int
    kv_heads: int
    queries: int  # length of the sequence on either side
    keys: int
    head_dim: int = 128  # numbers of a head
    tile_q: int = 128  # rows of a tile of queries, and of keys and values
    tile_k: int = 128
    width: int = 2  # bytes of a number
    causal: bool = False  # whether a query sees only keys that are not after it

    def __post_init__(self) -> None:
        whole(
            heads=self.heads,
            kv_heads=self.kv_heads,
            queries=self.queries,
            keys=self.keys,
            head_dim=self.head_dim,
            tile_q=self.tile_q,
            tile_k=self.tile_k,
            width=self.width,
        )
        for name, part in (
            ("heads", "kv_heads"),
            ("queries", "tile_q"),
            ("keys", "tile_k"),
        ):
            if getattr(self, name) % getattr(self, part):
                raise ValueError(
                    f"{name} = {getattr(self, name)} is no multiple of {part} = "
                    f"{getattr(self, part)}"
                )
        if self.causal and self.queries != self.keys:
            raise ValueError(
                f"causal with {self.queries} queries and {self.keys} keys: as many of "
                "each are needed"
            )

    # -- sizes ---------------------------------------------------------------------

    @cached_property
    def group(self) -> int:
        """Heads that share their keys and values."""
        return self.heads // self.kv_heads

    @cached_property
    def q_tiles(self) -> int:
        """Tiles of queries of a head, and so its blocks."""
        return self.queries // self.tile_q

    @cached_property
    def kv_bytes(self) -> int:
        """Bytes of the keys and values that a group of heads shares."""
        return 2 * self.keys * self.head_dim * self.width

    @cached_property
    def q_tile_bytes(self) -> int:
        """Bytes of a tile of queries, and of a tile of the result."""
        return self.tile_q * self.head_dim * self.width

    @cached_property
    def k_tile_bytes(self) -> int:
        """Bytes of a tile of keys, and of one of values."""
        return self.tile_k * self.head_dim * self.width

    def steps(self, tile: int) -> int:
        """Tiles of keys that the block of a tile of queries passes over."""
        if not self.causal:
            return self.keys // self.tile_k
        return ceil((tile + 1) * self.tile_q / self.tile_k)

    @cached_property
    def bytes_read(self) -> int:
        """Bytes that all blocks read, whatever holds them."""
        passed = sum(map(self.steps, range(self.q_tiles)))
        each = self.q_tiles * self.q_tile_bytes + 2 * passed * self.k_tile_bytes
        return self.heads * each

    @cached_property
    def bytes_once(self) -> int:
        """Bytes there are to read: queries, keys and values, each once."""
        return self.heads * self.q_tiles * self.q_tile_bytes + (
            self.kv_heads * self.kv_bytes
        )

    # -- order ---------------------------------------------------------------------

    def order(
        self, section: int = 1, longest_first: bool = False
    ) -> Iterator[tuple[int, int]]:
        """Head and tile of the blocks in the order they start.

        Heads are taken ``section`` at a time; within a section the head changes
        fastest. So 1 runs all tiles of a head before the next head, ``group`` keeps
        the heads that share keys and values together, and ``heads`` runs one tile of
        every head before the next tile.
        """
        whole(section=section)
        tiles = range(self.q_tiles)
        for start in range(0, self.heads, section):
            for tile in reversed(tiles) if longest_first else tiles:
                for head in range(start, min(start + section, self.heads)):
                    yield head, tile

    def schedule(
        self, at_once: int, section: int = 1, longest_first: bool = False
    ) -> list[Start]:
        """When and where each block runs, if a free slot takes the next in order."""
        whole(at_once=at_once)
        free = [(0, slot) for slot in range(at_once)]
        heapify(free)
        started = []
        for head, tile in self.order(section, longest_first):
            begins, slot = free[0]
            start = Start(head, tile, slot, begins, self.steps(tile))
            started.append(start)
            heapreplace(free, (start.ends, slot))
        return started

    # -- what the cache makes of it ------------------------------------------------

    def reads(self, *, at_once: int, capacity: float, section: int = 1) -> Reads:
        """Bytes asked for and missed, by the waves in closed form."""
        if self.causal:
            raise ValueError("causal blocks form no waves: run the trace instead")
        return wave_reads(
            ((head // self.group,) for head, _ in self.order(section)),
            lambda _: self.kv_bytes,
            at_once=at_once,
            capacity=capacity,
            own_read=self.q_tile_bytes,
            own_written=self.q_tile_bytes,
        )

    def trace(
        self,
        *,
        at_once: int,
        section: int = 1,
        longest_first: bool = False,
        line: int = 128,  # bytes of an access
    ) -> Trace:
        """The lines that all blocks touch: queries, then keys and values by turns.

        In a step each slot does its part in turn. Queries, keys, values and the result
        lie one behind the other, each head by head and row by row.
        """
        import numpy as np

        for name, size in (("queries", self.q_tile_bytes), ("keys", self.k_tile_bytes)):
            if line < 1 or size % line:
                raise ValueError(
                    f"line = {line}: a tile of {name} of {size} bytes is no whole "
                    "number of them"
                )
        starts = self.schedule(at_once, section, longest_first)
        rows = [(s.head, s.tile, s.slot, s.begins, s.steps) for s in starts]
        head, tile, slot, begins, steps = np.array(rows, dtype=np.int64).T
        # One event for each thing a block does, in lines: time, slot, place in the
        # step, first address, whether it writes.
        q_size = self.heads * self.queries * self.head_dim * self.width
        kv_size = self.kv_heads * self.kv_bytes // 2
        own = (head * self.q_tiles + tile) * self.q_tile_bytes
        which: NDArray[Any] = np.repeat(np.arange(len(head)), steps)
        step = np.arange(len(which)) - np.repeat(steps.cumsum() - steps, steps)
        key = (head // self.group)[which] * (self.kv_bytes // 2)
        key += q_size + step * self.k_tile_bytes
        time = begins[which] + step
        events = [
            (begins, slot, 0, own, self.q_tile_bytes),
            (time, slot[which], 1, key, self.k_tile_bytes),
            (time, slot[which], 2, key + kv_size, self.k_tile_bytes),
            (
                begins + steps - 1,
                slot,
                3,
                own + q_size + 2 * kv_size,
                self.q_tile_bytes,
            ),
        ]
        when = np.concatenate([(t * at_once + s) * 4 + k for t, s, k, _, _ in events])
        order = np.argsort(when, kind="stable")
        first = np.concatenate([a for *_, a, _ in events])[order]
        writes = (when[order] & 3) == 3
        if self.q_tile_bytes == self.k_tile_bytes == line:
            return Trace(first, writes)
        length = np.concatenate([np.full(len(a), b // line) for *_, a, b in events])
        length = length[order]
        offset = np.arange(length.sum()) - np.repeat(length.cumsum() - length, length)
        addresses = np.repeat(first, length) + offset * line
        return Trace(addresses, np.repeat(writes, length))
