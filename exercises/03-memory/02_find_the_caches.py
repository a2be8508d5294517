"""Build a chase, run it through a cache, and find the caches in its curve.

level: build

Nobody tells you how large the caches of a machine are. Three pieces, and you know.

- `ring(n, shuffle)`: a list in which entry `i` is the line that follows line `i`, so
  that a walk from any line visits all `n` lines before it is back. The order is to be
  random: `shuffle(items)` shuffles a list in place.
- `settled_hits(order, sets, ways)`: walk through the lines of `order`, lap after lap,
  through a cache of so many sets with so many ways, least recently used out first.
  Line `x` belongs to set `x % sets`. How many loads of a lap hit, once the laps are all
  alike?
- `levels(sizes, latencies)`: a curve of latency by working set, without noise. Return a
  list of pairs, nearest level first: the largest working set of the curve that this
  level still answers alone, and its latency. For the memory, which is last, the first
  of the pair is None. Between two levels the latency climbs; sizes on the climb belong
  to no level. A level holds over four or more neighbouring sizes.

hint: A random permutation is not yet a ring: it may fall into several. Shuffle the
lines, and let each be followed by its neighbour in the shuffled list. For a settled
lap, walk one lap that you do not count. And a level is a run of equal latencies.
"""

import random

from stacklib.grading import expect
from stacklib.memory.cache.chase_model import ChaseLevel, latency

# ---- your answer ----


def ring(n, shuffle):
    """The line that follows each line, all of them in one cycle."""
    lines = list(range(n))
    shuffle(lines)
    following = [0] * n
    for here, there in zip(lines, lines[1:] + lines[:1], strict=True):
        following[here] = there
    return following


def settled_hits(order, sets, ways):
    """Hits of one lap, once every lap is like the one before."""
    cache = [[] for _ in range(sets)]
    hits = 0
    for _ in range(3):
        hits = 0
        for line in order:
            held = cache[line % sets]
            if line in held:
                hits += 1
                held.remove(line)
            elif len(held) == ways:
                held.pop(0)
            held.append(line)
    return hits


def levels(sizes, latencies):
    """Pairs of the largest working set and the latency of every level."""
    found, start = [], 0
    for i in range(1, len(sizes) + 1):
        if i < len(sizes) and abs(latencies[i] / latencies[start] - 1) < 1e-3:
            continue
        if i - start >= 4:
            found.append((sizes[i - 1], latencies[start]))
        start = i
    return [*found[:-1], (None, found[-1][1])]


# ---- tests ----


def test_ring():
    for n in (2, 3, 17, 64, 1000):
        following = expect.call(ring, {"n": n, "shuffle": random.Random(n).shuffle})
        what = f"a list of {n} lines"
        following = [*map(expect.whole, expect.sequence(following, what, n))]
        if sorted(following) != list(range(n)):
            raise expect.Mistake(
                f"{expect.clip(following)}: for {n} lines, each has to follow one other"
            )
        at, steps = following[0], 1
        while at and steps <= n:
            at, steps = following[at], steps + 1
        if steps != n:
            raise expect.Mistake(
                f"the walk is back after {steps} of {n} lines: that is a permutation "
                "of several rings, and the chase would stay in a small one"
            )
    if following == [*range(1, n), 0]:
        raise expect.Mistake("the lines follow in order: a prefetcher guesses that")


def right_hits(order, sets, ways):
    counts = [sum(line % sets == s for line in order) for s in range(sets)]
    return sum(c for c in counts if c <= ways)


def laps(n, seed=0):
    order = list(range(n))
    random.Random(seed).shuffle(order)
    return order


def test_settled_hits():
    cases = [
        {"order": laps(n), "sets": sets, "ways": ways}
        for sets, ways in ((8, 2), (16, 4), (1, 8))
        for n in (
            5,
            sets * ways,
            sets * ways + 1,
            sets * ways + sets // 2,
            4 * sets * ways,
        )
    ]
    for case in cases:
        mine = expect.whole(expect.call(settled_hits, case))
        lines, sets, ways = len(case["order"]), case["sets"], case["ways"]
        where = f"{lines} lines, {sets} sets of {ways} ways"
        right = right_hits(**case)
        if mine == right:
            continue
        if mine == 0 and lines <= sets * ways:
            raise expect.Mistake(
                f"{where}: no hits. The first lap fills an empty cache: walk it, and "
                "count a later one"
            )
        if mine == (lines if lines <= sets * ways else 0):
            raise expect.Mistake(
                f"{where}: hits {mine}. One line too many spoils its own set; the "
                "other sets still hit"
            )
        raise expect.Mistake(f"{where}: hits {mine}, and {right} lines are held")
    expect.reading("caches walked", len(cases))


MACHINES = {
    "two caches": (
        ChaseLevel("L1", 5, 32 * 1024, 8, 64),
        ChaseLevel("L2", 14, 2**20, 16, 64),
        ChaseLevel("memory", 300),
    ),
    "three caches": (
        ChaseLevel("L1", 4, 48 * 1024, 12, 64),
        ChaseLevel("L2", 16, 2**20, 16, 64),
        ChaseLevel("L3", 50, 16 * 2**20, 16, 64),
        ChaseLevel("memory", 420),
    ),
    "one cache": (ChaseLevel("L1", 30, 2**17, 8, 64), ChaseLevel("memory", 500)),
}
SIZES = [round(4096 * 2 ** (i / 16) / 64) * 64 for i in range(16 * 14)]


def test_levels():
    for name, machine in MACHINES.items():
        curve = [latency(size, machine, stride=64) for size in SIZES]
        found = expect.call(levels, {"sizes": SIZES, "latencies": curve})
        found = [
            expect.sequence(pair, "a list of pairs", 2)
            for pair in expect.sequence(found, "a list of pairs")
        ]
        if len(found) != len(machine):
            more = (
                "the climbs are no levels" if len(found) > len(machine) else "count on"
            )
            raise expect.Mistake(
                f"{name}: {len(found)} levels, the memory among them, where there are "
                f"{len(machine)}: {more}"
            )
        for (size, time), level in zip(found, machine, strict=True):
            expect.number(time, level.latency, unit="cycle")
            if level.size is None:
                if size is not None:
                    raise expect.Mistake(f"{name}: the memory has no end in this curve")
                continue
            right = max(s for s in SIZES if s <= level.size)
            after = SIZES[SIZES.index(right) + 1]
            if size is None:
                raise expect.Mistake(
                    f"{name}: {level.name} has an end; only the last level has None"
                )
            size = expect.read(size, "B")
            if size >= after:
                raise expect.Mistake(
                    f"{name}: {size:.0f} bytes are on the climb already; {level.name} "
                    f"answers alone up to {right}"
                )
            expect.number(size, right, unit="B", rel=1e-9)
