"""The loops of inclusive and exclusive hierarchies, all levels in step.

Compiled by numba where it is installed; without it they run as plain Python and give
the same answer. The arrays of all levels lie behind each other, level k from ``at[k]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..warp._fast import fast

# Columns of the counts of a level.
HITS, MISSES, FILLS, EVICTIONS, WRITEBACKS, INVALIDATIONS = range(6)


def inclusive(
    lines: Any,
    writes: Any,
    sets: Any,
    ways: Any,
    renews: Any,
    at: Any,
    tags: Any,
    stamps: Any,
    dirty: Any,
    served: Any,
    counts: Any,
) -> None:
    """What an outer level holds not, no inner level holds."""
    depth = len(sets)
    clock = 0  # one access may stamp several lines, in order
    for i in range(len(lines)):
        line = lines[i]
        found, place = depth, 0
        for level in range(depth):
            first = at[level] + ways[level] * (line % sets[level])
            for p in range(first, first + ways[level]):
                if tags[p] == line:
                    found, place = level, p
                    break
            if found < depth:
                break
            counts[level, MISSES] += 1
        served[i] = found
        if found < depth:
            counts[found, HITS] += 1
            if renews[found]:
                clock += 1
                stamps[place] = clock
        for level in range(found - 1, -1, -1):  # the outermost takes it first
            first = at[level] + ways[level] * (line % sets[level])
            place = first
            for p in range(first, first + ways[level]):
                if stamps[p] < stamps[place]:
                    place = p
            counts[level, FILLS] += 1
            if stamps[place] > 0:
                gone, was_dirty = tags[place], dirty[place]
                counts[level, EVICTIONS] += 1
                for inner in range(level):  # nobody further in may keep it
                    start = at[inner] + ways[inner] * (gone % sets[inner])
                    for p in range(start, start + ways[inner]):
                        if tags[p] == gone:
                            was_dirty = was_dirty or dirty[p]
                            tags[p], stamps[p], dirty[p] = -1, 0, False
                            counts[inner, INVALIDATIONS] += 1
                if was_dirty:
                    counts[level, WRITEBACKS] += 1
                    if level + 1 < depth:  # it is there, by inclusion
                        outer = level + 1
                        start = at[outer] + ways[outer] * (gone % sets[outer])
                        for p in range(start, start + ways[outer]):
                            if tags[p] == gone:
                                dirty[p] = True
                                if renews[outer]:
                                    clock += 1
                                    stamps[p] = clock
            clock += 1
            tags[place], stamps[place], dirty[place] = line, clock, False
        if writes[i]:
            dirty[place] = True


def exclusive(
    lines: Any,
    writes: Any,
    sets: Any,
    ways: Any,
    renews: Any,
    at: Any,
    tags: Any,
    stamps: Any,
    dirty: Any,
    served: Any,
    counts: Any,
) -> None:
    """A line lies in one level: it comes in at the nearest, and is driven outwards."""
    depth = len(sets)
    for i in range(len(lines)):
        line = lines[i]
        found, place = depth, 0
        for level in range(depth):
            first = at[level] + ways[level] * (line % sets[level])
            for p in range(first, first + ways[level]):
                if tags[p] == line:
                    found, place = level, p
                    break
            if found < depth:
                break
            counts[level, MISSES] += 1
        served[i] = found
        moving, moving_dirty = line, False
        if found < depth:
            counts[found, HITS] += 1
            if found == 0:
                if renews[0]:
                    stamps[place] = i + 1
                dirty[place] = dirty[place] or writes[i]
                continue
            moving_dirty = dirty[place]
            tags[place], stamps[place], dirty[place] = -1, 0, False
        moving_dirty = moving_dirty or writes[i]
        for level in range(depth):
            first = at[level] + ways[level] * (moving % sets[level])
            place = first
            for p in range(first, first + ways[level]):
                if stamps[p] < stamps[place]:
                    place = p
            counts[level, FILLS] += 1
            was_there = stamps[place] > 0
            gone, gone_dirty = tags[place], dirty[place]
            tags[place], stamps[place], dirty[place] = moving, i + 1, moving_dirty
            if not was_there:
                break
            counts[level, EVICTIONS] += 1
            if gone_dirty:
                counts[level, WRITEBACKS] += 1
            moving, moving_dirty = gone, gone_dirty


LOOPS = {"inclusive": inclusive, "exclusive": exclusive}


def run(inclusion: str, lines: Any, writes: Any, shape: Any) -> tuple[Any, Any]:
    """Level that answered each access, and the counts of each level.

    ``shape`` has a row a level: sets, ways, whether a hit renews.
    """
    sets, ways, renews = (np.array(column) for column in zip(*shape, strict=True))
    room = sets * ways
    at: Any = np.concatenate(([0], room.cumsum()[:-1]))
    tags: Any = np.full(room.sum(), -1, np.int64)
    stamps: Any = np.zeros(room.sum(), np.int64)  # 0: empty
    dirty: Any = np.zeros(room.sum(), np.bool_)
    served: Any = np.zeros(len(lines), np.int64)
    counts: Any = np.zeros((len(sets), 6), np.int64)
    fast(LOOPS[inclusion])(
        lines, writes, sets, ways, renews, at, tags, stamps, dirty, served, counts
    )
    return served, counts
