"""The loops of the cache simulator: compiled by numba where it is installed.

Without numba the same functions run as plain Python and give the same answer. `reads`
is for traces without stores over whole lines under LRU: a set is kept in the order of
use, so nothing but tags has to be looked at. `loop` is for everything else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..warp._fast import fast

POLICIES = ("lru", "fifo", "plru", "random")
LRU, FIFO, PLRU, RANDOM = range(len(POLICIES))


def reads(
    addresses: Any, line_bytes: int, sets: int, ways: int, hit: Any, counts: Any
) -> None:
    """Fill ``hit`` for a trace of loads under LRU; ``counts[0]``: lines driven out."""
    tags: Any = np.full(sets * ways, -1, np.int64)
    shift = 0
    while 1 << shift < line_bytes:
        shift += 1
    if 1 << shift != line_bytes:
        shift = -1
    mask = sets - 1 if sets & (sets - 1) == 0 else -1
    driven_out = 0
    for i in range(len(addresses)):
        line = addresses[i] >> shift if shift >= 0 else addresses[i] // line_bytes
        first = ways * (line & mask if mask >= 0 else line % sets)
        carried = tags[first]
        if carried == line:
            hit[i] = True
            continue
        # The line goes to the front; those it passes move back by a place each.
        tags[first] = line
        for place in range(first + 1, first + ways):
            found = tags[place]
            tags[place] = carried
            carried = found
            if found == line:
                hit[i] = True
                break
        if carried != line and carried >= 0:
            driven_out += 1
    counts[0] = driven_out


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
    write_through: bool,
    fold: int,
    hit: Any,
    evicted: Any,
    counts: Any,
) -> None:
    """Fill ``hit`` and ``evicted``; ``counts[0]`` is the lines driven out.

    ``fold``, where it is not 0, is the bits of a group: the groups of a line's number
    are combined by XOR, and the set is taken from what that gives.
    """
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
    driven_out = 0
    for i in range(len(addresses)):
        address = addresses[i]
        line = address >> shift if shift >= 0 else address // line_bytes
        index = line
        if fold > 0:
            rest = line >> fold
            while rest > 0:
                index ^= rest
                rest >>= fold
            index &= (1 << fold) - 1
        first = ways * (index & mask if mask >= 0 else index % sets)
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
        passes = write_through and writes[i]
        if at >= 0:
            hit[i] = (held[at] & bit) != 0
            if not passes:
                held[at] |= bit
            if policy == LRU and (stores_renew or not writes[i]):
                stamps[at] = i + 1
        elif passes:
            continue  # what is written through takes no place
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
            if least > 0:
                driven_out += 1
            if dirty[at]:
                evicted[i] = tags[at] * line_bytes
                dirty[at] = False
            tags[at] = line
            stamps[at] = i + 1
            held[at] = bit
        if writes[i] and not passes:
            dirty[at] = True
        if policy == PLRU and (stores_renew or not writes[i]):
            node = at - first + ways
            while node > 1:  # every bit on the path points away from here
                trees[first + (node >> 1)] = (node & 1) == 0
                node >>= 1
    counts[0] = driven_out


def run_reads(
    addresses: Any, line_bytes: int, sets: int, ways: int
) -> tuple[Any, Any, int]:
    """As `run`, for loads of whole lines under LRU without a hash: none is dirty."""
    hit: Any = np.zeros(len(addresses), np.bool_)
    counts: Any = np.zeros(1, np.int64)
    fast(reads)(addresses, line_bytes, sets, ways, hit, counts)
    never: Any = np.broadcast_to(np.int64(-1), len(addresses))
    return hit, never, int(counts[0])


def run(addresses: Any, writes: Any, *shape: Any) -> tuple[Any, Any, int]:
    """Whether each access hit, the dirty line it drove out or -1, and all driven out.

    ``shape`` is that of `loop`: bytes of a line and a sector, sets, ways, policy,
    seed, whether stores renew, whether they are written through, and the fold.
    """
    hit: Any = np.zeros(len(addresses), np.bool_)
    evicted: Any = np.full(len(addresses), -1, np.int64)
    counts: Any = np.zeros(1, np.int64)
    fast(loop)(addresses, writes, *shape, hit, evicted, counts)
    return hit, evicted, int(counts[0])
