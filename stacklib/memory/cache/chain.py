"""Caches behind each other: what one level misses and writes back, the next one sees.

What passes from level to level is ranges of bytes: the sector that a miss asks for,
the dirty sectors of a line that was driven out, the bytes of a store that is written
through. Each is cut where a sector of the next level ends. So a miss on a line of
128 bytes asks a level of 32-byte sectors for four of them, and a level whose sectors
are larger sees one access for dirty neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..warp._fast import fast
from .cache import Cache, checked_sizes, checked_trace, traffic_of
from .traffic import Bools, Ints, Traffic, some


def chain(
    levels: Sequence[Cache],
    addresses: ArrayLike,
    stores: ArrayLike | None = None,
    sizes: ArrayLike | None = None,
) -> list[Traffic]:
    """A trace through several levels: each sees the misses of the one before.

    A miss loads from the next level; then the dirty sectors it drove out are stored
    there, then what is written through. Levels keep no account of each other: a line
    may leave an outer level and stay inside. ``origin`` of what a level did tells from
    which access of the trace each of its own stems.

    Parameters
    ----------
    levels : sequence of Cache
        From the nearest outwards.
    addresses, stores
        As `Cache.run` takes them.
    sizes : int or int array (accesses,), optional
        Bytes of each access from its address on, cut where a sector ends; by default
        each is all of the sector that it lies in, at each level that it reaches.

    Raises
    ------
    ValueError
        For no level, or what `Cache.run` refuses.
    """
    if not levels:
        raise ValueError("a chain needs at least one cache")
    trace, writes = checked_trace(addresses, stores)
    origin = room = None
    if sizes is not None:
        room = checked_sizes(sizes, len(trace))
        none = np.zeros(len(trace), np.bool_) if writes is None else writes
        seen = cut(levels[0].granule, trace, room, none, np.arange(len(trace)))
        trace, room, writes, origin = seen
    # Where all levels move whole lines of one size, no size need be told.
    whole = room is None and all(c.granule == levels[0].line for c in levels)
    found: list[Traffic] = []
    for level, cache in enumerate(levels):
        # A size of 0 is an access of which only the sector is known: all of it.
        parts = None if room is None else (room > 0) & (room < cache.granule)
        traffic = traffic_of(cache, trace, writes, parts)
        found.append(replace(traffic, origin=origin))
        if level + 1 == len(levels):
            break
        sent = passed_on(traffic, trace, room, origin, whole)
        if len(sent[0]) == 0:
            break
        trace, room, writes, origin = sent
        onward = levels[level + 1].granule
        if room is not None and onward % cache.line:
            trace, room, writes, origin = cut(onward, trace, room, writes, origin)
    return found


def answers(levels: Sequence[Traffic], loads: int) -> Ints:
    """Level that answered each load of a chain, its length for what is behind it.

    A load that was cut, or whose line was, has to wait for the furthest of its bytes.
    """
    found: Ints = np.zeros(loads, np.int64)
    for level, traffic in enumerate(levels):
        missed = ~traffic.hit
        found[missed if traffic.origin is None else traffic.origin[missed]] = level + 1
    return found


def passed_on(
    traffic: Traffic, trace: Ints, sizes: Ints | None, origin: Ints | None, whole: bool
) -> tuple[Ints, Ints | None, Bools, Ints]:
    """Ranges that a level sends to the next: address, size, store and origin."""
    through = some(traffic.passed)
    filled, masks = traffic.filled, traffic.backs[:, 2]
    which = np.flatnonzero(~traffic.hit | traffic.passed if through else ~traffic.hit)
    fills = np.count_nonzero(filled)
    runs = np.bitwise_count(masks & ~(masks << 1)).sum()  # neighbours go together
    most = fills + int(runs)
    if through:
        most += np.count_nonzero(traffic.passed)
    addresses, origins = np.empty((2, most + 1), np.int64)
    stores: Bools = np.empty(most + 1, np.bool_)
    lengths: Ints = np.empty(0 if whole else most, np.int64)
    none: Ints = np.zeros(0, np.int64)
    if whole and not through and len(which) == fills:
        fast(lines)(
            trace, traffic.line, traffic.backs, which, addresses, stores, origins
        )
    else:
        fast(ranges)(
            trace,
            none if sizes is None else sizes,
            filled,
            traffic.passed if through else np.zeros(0, np.bool_),
            traffic.backs,
            traffic.line,
            traffic.sector,
            which,
            addresses,
            lengths,
            stores,
            origins,
        )
    stems = origins[:most] if origin is None else origin[origins[:most]]
    return addresses[:most], None if whole else lengths, stores[:most], stems


def lines(
    trace: Any,
    line: int,
    backs: Any,
    which: Any,
    addresses: Any,
    stores: Any,
    origins: Any,
) -> None:
    """As `ranges` where whole lines move and all that is sent is for a miss.

    Without a branch on what cannot be foretold: a write-back is put down, and kept if
    it was one.
    """
    # Unsigned, so that compiled code need not ask whether an index counts from the end.
    at = back = np.uint64(0)
    last = np.uint64(max(len(backs) - 1, 0))
    for n in range(len(which)):
        i = which[n]
        addresses[at] = trace[np.uint64(i)]
        stores[at] = False
        origins[at] = i
        at += np.uint64(1)
        if len(backs) > 0:
            row = min(back, last)
            addresses[at] = backs[row, 1] * line
            stores[at] = True
            origins[at] = i
            one = np.uint64(backs[row, 0] == i)
            at += one
            back += one


def ranges(
    trace: Any,
    sizes: Any,
    filled: Any,
    passed: Any,
    backs: Any,
    line: int,
    sector: int,
    which: Any,
    addresses: Any,
    lengths: Any,
    stores: Any,
    origins: Any,
) -> None:
    """Fill the last four: the load of a miss, what it drove out, what goes through.

    ``which``: accesses that send anything. ``sizes``, ``passed`` and ``lengths`` may be
    empty.
    """
    sized = len(lengths) > 0
    at = back = 0
    for i in which:
        start = at
        if filled[i]:
            addresses[at] = trace[i] // sector * sector
            if sized:
                lengths[at] = sector
            stores[at] = False
            at += 1
        if back < len(backs) and backs[back, 0] == i:
            mask = backs[back, 2]
            first = backs[back, 1] * line
            while mask > 0:
                if mask & 1:
                    addresses[at] = first
                    before = first
                    while mask & 1:
                        first += sector
                        mask >>= 1
                    if sized:
                        lengths[at] = first - before
                    stores[at] = True
                    at += 1
                first += sector
                mask >>= 1
            back += 1
        if len(passed) > 0 and passed[i]:
            addresses[at] = trace[i]
            if sized:
                lengths[at] = sizes[i] if len(sizes) > 0 else 0
            stores[at] = True
            at += 1
        for sent in range(start, at):
            origins[sent] = i


def cut(
    sector: int, addresses: Ints, sizes: Ints, stores: Bools, origin: Ints
) -> tuple[Ints, Ints, Bools, Ints]:
    """Ranges cut where a sector ends."""
    ends = addresses + np.maximum(sizes, 1)
    first = addresses // sector
    pieces = (ends - 1) // sector - first + 1
    if (pieces == 1).all():
        return addresses, sizes, stores, origin
    which: Ints = np.repeat(np.arange(len(addresses)), pieces)
    before = np.cumsum(pieces) - pieces
    number = first[which] + np.arange(len(which)) - before[which]
    start = np.maximum(addresses[which], number * sector)
    length = np.minimum(ends[which], (number + 1) * sector) - start
    length[sizes[which] == 0] = 0
    return start, length, stores[which], origin[which]
