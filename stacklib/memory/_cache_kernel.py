"""The loop of the cache simulator: compiled by numba where it is installed.

Without numba the same function runs as plain Python and gives the same answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._fast import fast

POLICIES = ("lru", "fifo", "plru", "random")
LRU, FIFO, PLRU, RANDOM = range(len(POLICIES))


def loop(
    addresses: Any,
    writes: Any,
    line_bytes: int,
    sector_bytes: int,
    sets: int,
    ways: int,
    policy: int,
    seed: int,
    stores_renew: bool,
    hit: Any,
    evicted: Any,
) -> None:
    """Fill ``hit`` and ``evicted``; the arrays are one entry an access."""
    tags: Any = np.full(sets * ways, -1, np.int64)
    stamps: Any = np.zeros(sets * ways, np.int64)  # 0: empty
    dirty: Any = np.zeros(sets * ways, np.bool_)
    held: Any = np.zeros(sets * ways, np.int64)  # a bit for each sector
    trees: Any = np.zeros(sets * ways, np.bool_)  # node 1 is the root of a set's tree
    # Dividing by a power of two is a shift, several times as fast.
    shift = 0
    while 1 << shift < line_bytes:
        shift += 1
    if 1 << shift != line_bytes:
        shift = -1
    mask = sets - 1 if sets & (sets - 1) == 0 else -1
    sectored = sector_bytes < line_bytes
    state = seed
    for i in range(len(addresses)):
        address = addresses[i]
        line = address >> shift if shift >= 0 else address // line_bytes
        first = ways * (line & mask if mask >= 0 else line % sets)
        bit = 1
        if sectored:
            bit = 1 << ((address - line * line_bytes) // sector_bytes)
        at, oldest, least = -1, first, stamps[first]
        for place in range(first, first + ways):
            if tags[place] == line:
                at = place
                break
            if stamps[place] < least:
                oldest, least = place, stamps[place]
        if at >= 0:
            hit[i] = (held[at] & bit) != 0
            held[at] |= bit
            if policy == LRU and (stores_renew or not writes[i]):
                stamps[at] = i + 1
        else:
            at = oldest  # the first empty place, or the oldest stamp
            if least > 0 and policy == PLRU:
                node = 1
                while node < ways:  # follow the bits to the leaf not used lately
                    node = 2 * node + (1 if trees[first + node] else 0)
                at = first + node - ways
            elif least > 0 and policy == RANDOM:
                state = (state * 1103515245 + 12345) % 2147483648
                at = first + (state >> 8) % ways
            if dirty[at]:
                evicted[i] = tags[at] * line_bytes
                dirty[at] = False
            tags[at] = line
            stamps[at] = i + 1
            held[at] = bit
        if writes[i]:
            dirty[at] = True
        if policy == PLRU:
            node = at - first + ways
            while node > 1:  # every bit on the path points away from here
                trees[first + (node >> 1)] = (node & 1) == 0
                node >>= 1


def run(addresses: Any, writes: Any, *shape: Any) -> tuple[Any, Any]:
    """Whether each access hit, and the address of the dirty line driven out or -1.

    ``shape`` is that of `loop`: bytes of a line and a sector, sets, ways, policy,
    seed, whether stores renew.
    """
    hit: Any = np.zeros(len(addresses), np.bool_)
    evicted: Any = np.full(len(addresses), -1, np.int64)
    fast(loop)(addresses, writes, *shape, hit, evicted)
    return hit, evicted
