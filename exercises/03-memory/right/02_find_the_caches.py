# ---- counted: lines counted by set, runs grouped by latency
from collections import Counter, deque
from itertools import groupby


def ring(n, shuffle):
    lines = deque(range(n))
    shuffle(lines)
    others = deque(lines)
    others.rotate(1)
    after = dict(zip(others, lines, strict=True))
    return tuple(after[line] for line in range(n))


def settled_hits(order, sets, ways):
    wanted = Counter(line % sets for line in order)
    return sum(n for n in wanted.values() if n <= ways)


def levels(sizes, latencies):
    curve = zip(sizes, latencies, strict=True)
    runs = [list(run) for _, run in groupby(curve, key=lambda p: round(p[1], 2))]
    ends = [list(run[-1]) for run in runs if len(run) >= 4]
    ends[-1][0] = None
    return ends


# ---- arrays: NumPy for the ring and the curve, ordered dicts for the sets
from collections import OrderedDict

import numpy as np


def ring(n, shuffle):
    lines = list(range(n))
    shuffle(lines)
    following = np.empty(n, dtype=int)
    following[lines] = np.roll(lines, -1)
    return following


def settled_hits(order, sets, ways):
    held = [OrderedDict() for _ in range(sets)]
    laps = []
    while len(laps) < 2 or laps[-1] != laps[-2]:
        hits = 0
        for line in order:
            lines = held[line % sets]
            hits += line in lines
            lines[line] = True
            lines.move_to_end(line)
            if len(lines) > ways:
                lines.popitem(last=False)
        laps.append(hits)
    return np.int64(laps[-1])


def levels(sizes, latencies):
    ratio = np.diff(np.log(latencies))
    breaks = np.flatnonzero(ratio > 1e-4)
    starts = np.concatenate([[0], breaks + 1])
    ends = np.concatenate([breaks, [len(sizes) - 1]])
    flat = ends - starts >= 3
    pairs = [(sizes[e], latencies[e]) for e in ends[flat]]
    return (*pairs[:-1], (None, pairs[-1][1]))
