"""The loop of the cache simulator: compiled by numba where it is installed.

Without numba the same function runs as plain Python and gives the same answer. `loop`
says what a cache does, for every policy; ``_quick_kernel.quick`` does the same faster
where numba is there and replacement goes by order.
"""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

import numpy as np

from ..warp._fast import fast, soon
from ._quick_kernel import MOST_WAYS, quick, quickly

POLICIES = ("lru", "fifo", "plru", "random")
LRU, FIFO, PLRU, RANDOM = range(len(POLICIES))
# Park and Miller's generator (CACM 31(10), 1988; the factor is that of 1993): modulo a
# prime, so that no bit of it repeats early.
FACTOR, PRIME = 48271, 2**31 - 1


class Shape(NamedTuple):
    """What the loops need to know of a cache."""

    line: int  # bytes
    sector: int  # bytes
    sets: int
    ways: int
    policy: int
    seed: int
    stores_renew: bool
    through: bool  # stores go on to the next level and take no place here
    validate: bool  # a store fetches nothing
    fold: int  # bits of a group that the set's number is hashed from; 0: no hash


def loop(
    addresses: Any,
    stores: Any,
    parts: Any,
    shape: Shape,
    kept: Any,
    trees: Any,
    hit: Any,
    backs: Any,
    counts: Any,
) -> None:
    """Fill ``hit``, ``backs`` and ``counts``.

    ``kept``: rows of zeros, a place each: 1 + its line's number, when it was used (0:
    empty), a bit for each sector held, a bit for each that is dirty. ``trees``: node 1
    is a set's root.

    ``stores`` and ``parts``, which stores write a part of their sector, may be empty:
    none does. A row of ``backs`` is an access that drove a dirty line out, the line's
    number and its dirty sectors, a bit each; ``counts``: how many rows, lines driven
    out, and sectors that became dirty.
    """
    tags, stamps, held, dirty = kept
    state = shape.seed
    written = driven_out = dirtied = 0
    for i in range(len(addresses)):
        line = addresses[i] // shape.line
        bit = 1 << ((addresses[i] - line * shape.line) // shape.sector)
        store = len(stores) > 0 and stores[i]
        part = shape.validate and store and len(parts) > 0 and parts[i]
        passes = shape.through and store
        index = line
        if shape.fold > 0:  # the groups of a line's number are combined by XOR
            rest = line >> shape.fold
            while rest > 0:
                index ^= rest
                rest >>= shape.fold
        first = shape.ways * (index % shape.sets)
        at, oldest, least = -1, first, stamps[first]
        for place in range(first, first + shape.ways):
            if tags[place] == line + 1:
                at = place
                break
            if stamps[place] < least:
                oldest, least = place, stamps[place]
        if at >= 0:
            # A sector that was stored in part cannot be read before it is fetched.
            there = held[at] | (dirty[at] if shape.validate and store else 0)
            hit[i] = (there & bit) != 0
            if shape.policy == LRU and (shape.stores_renew or not store):
                stamps[at] = i + 1
        elif passes:
            continue  # what is written through takes no place
        else:
            at = oldest  # the first empty place, or the oldest stamp
            if least > 0 and shape.policy == PLRU:
                node = 1
                while node < shape.ways:  # follow the bits to the leaf not used lately
                    node = 2 * node + (1 if trees[first + node] else 0)
                at = first + node - shape.ways
            elif least > 0 and shape.policy == RANDOM:
                state = state * FACTOR % PRIME
                at = first + state * shape.ways // PRIME
            if least > 0:
                driven_out += 1
            if dirty[at]:
                backs[written, 0] = i
                backs[written, 1] = tags[at] - 1
                backs[written, 2] = dirty[at]
                written += 1
            tags[at] = line + 1
            stamps[at] = i + 1
            held[at] = 0
            dirty[at] = 0
        if not (passes or part):
            held[at] |= bit
        if store and not passes:
            dirtied += (dirty[at] & bit) == 0
            dirty[at] |= bit
        if shape.policy == PLRU and (shape.stores_renew or not store):
            node = at - first + shape.ways
            while node > 1:  # every bit on the path points away from here
                trees[first + (node >> 1)] = (node & 1) == 0
                node >>= 1
    counts[0] = written
    counts[1] = driven_out
    counts[2] = dirtied


def empty(places: int) -> tuple[Any, Any]:
    """A cache that holds nothing: of zeros, which cost nothing before they are used."""
    kept: Any = tuple(np.zeros(places, np.int64) for _ in range(4))
    trees: Any = np.zeros(places, np.bool_)
    return kept, trees


def run(addresses: Any, stores: Any, parts: Any, shape: Shape) -> tuple[Any, Any, Any]:
    """Whether each access hit, the write-backs, and the counts; see `loop`."""
    hit: Any = np.zeros(len(addresses), np.bool_)
    backs: Any = np.empty((len(stores) + 1, 3), np.int64)
    counts: Any = np.zeros(3, np.int64)
    shape = shape._replace(seed=Random(shape.seed).randrange(1, PRIME))
    by_order = shape.policy in (LRU, FIFO) and shape.ways <= MOST_WAYS
    one = soon(loop, len(addresses))
    if one is not loop and by_order and not shape.through:
        kept = quickly(shape, shape.sector < shape.line or len(parts) > 0)
        given = stores if len(stores) else None
        fast(quick)(addresses, given, parts, shape, *kept, hit, backs, counts)
    else:
        places = empty(shape.sets * shape.ways)
        one(addresses, stores, parts, shape, *places, hit, backs, counts)
    return hit, backs[: counts[0]], counts
