"""How often keys and values come from memory: once only behind a large enough L2.

Tiles ask for every key and value once a tile of queries. Blocks that run together ask
for the same ones at about the same time, so that an L2 that holds what they share
answers all but the first. The trace is `memory.cache.attention_trace`'s.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.memory.cache.attention_trace import TiledAttention
from stacklib.memory.cache.cache import Cache


@dataclass(frozen=True, slots=True)
class Reread:
    """Bytes of queries, keys and values, on their way to the tiles."""

    once: int  # there are
    asked: int  # by the tiles, of the L2
    missed: int  # by the L2, of memory

    @property
    def times_asked(self) -> float:
        """How often each byte is asked for."""
        return self.asked / self.once

    @property
    def times_read(self) -> float:
        """How often each byte comes from memory; 1 where the guide's *once* holds."""
        return self.missed / self.once


def read_once(
    plan: TiledAttention, cache: Cache, *, at_once: int, section: int = 1
) -> Reread:
    """The tiles' accesses through a cache, run.

    - ``plan``: TiledAttention; all heads, and how they are cut.
    - ``cache``: Cache; the L2, such as `memory.cache.l2.l2_cache` of a device.
    - ``at_once``: int; blocks that run together: units times blocks a unit.
    - ``section``: int; heads whose tiles start by turns; see `TiledAttention.order`.
    """
    trace = plan.trace(at_once=at_once, section=section, line=cache.line)
    hit = cache.run(trace.addresses, trace.stores).hit
    missed = int((~hit & ~trace.stores).sum()) * cache.line
    return Reread(plan.bytes_once, plan.bytes_read, missed)
