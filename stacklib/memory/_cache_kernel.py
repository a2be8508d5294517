"""The loop of the cache simulator: compiled by numba where it is installed.

Without numba the same function runs as plain Python and gives the same answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

POLICIES = ("lru", "fifo", "plru", "random")
LRU, FIFO, PLRU, RANDOM = range(len(POLICIES))


def loop(
    lines: Any,
    parts: Any,
    writes: Any,
    sets: int,
    ways: int,
    policy: int,
    seed: int,
    stores_renew: bool,
    hit: Any,
    evicted: Any,
) -> None:
    """Fill ``hit`` and ``evicted``; the arrays are one entry an access."""
    tags: Any = np.full((sets, ways), -1, np.int64)
    stamps: Any = np.zeros((sets, ways), np.int64)
    dirty: Any = np.zeros((sets, ways), np.bool_)
    held: Any = np.zeros((sets, ways), np.int64)  # a bit for each sector
    trees: Any = np.zeros((sets, ways), np.bool_)  # node 1 is the root of a set's tree
    state = seed
    for i in range(len(lines)):
        line, bit = lines[i], 1 << parts[i]
        index = line % sets
        way = -1
        for w in range(ways):
            if tags[index, w] == line:
                way = w
                break
        if way >= 0:
            hit[i] = (held[index, way] & bit) != 0
            held[index, way] |= bit
            if policy == LRU and (stores_renew or not writes[i]):
                stamps[index, way] = i + 1
        else:
            for w in range(ways):  # an empty way first
                if tags[index, w] < 0:
                    way = w
                    break
            if way < 0 and policy == PLRU:
                node = 1
                while node < ways:  # follow the bits to the leaf not used lately
                    node = 2 * node + (1 if trees[index, node] else 0)
                way = node - ways
            elif way < 0 and policy == RANDOM:
                state = (state * 1103515245 + 12345) % 2147483648
                way = (state >> 8) % ways
            elif way < 0:
                way = 0
                for w in range(1, ways):
                    if stamps[index, w] < stamps[index, way]:
                        way = w
            if tags[index, way] >= 0 and dirty[index, way]:
                evicted[i] = tags[index, way]
            tags[index, way] = line
            stamps[index, way] = i + 1
            dirty[index, way] = False
            held[index, way] = bit
        if writes[i]:
            dirty[index, way] = True
        if policy == PLRU:
            node = way + ways
            while node > 1:  # every bit on the path points away from here
                trees[index, node >> 1] = (node & 1) == 0
                node >>= 1


@cache
def compiled() -> Callable[..., None]:
    """The loop as fast as this environment can run it."""
    try:
        import numba
    except ImportError:
        return loop
    fast: Callable[..., None] = numba.njit(cache=True)(loop)
    return fast


def run(
    lines: Any,
    parts: Any,
    writes: Any,
    sets: int,
    ways: int,
    policy: int,
    seed: int,
    stores_renew: bool,
) -> tuple[Any, Any]:
    """Whether each access hit, and the dirty line it drove out or -1."""
    hit: Any = np.zeros(len(lines), np.bool_)
    evicted: Any = np.full(len(lines), -1, np.int64)
    shape = (sets, ways, policy, seed, stores_renew)
    compiled()(lines, parts, writes, *shape, hit, evicted)
    return hit, evicted
