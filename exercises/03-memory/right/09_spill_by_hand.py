# ---- orders: an ordered dict for LRU, a list of next uses for Belady
from collections import OrderedDict
from itertools import chain


def lru(trace, capacity):
    held, loads = OrderedDict(), 0
    for name in trace:
        loads += name not in held
        held[name] = None
        held.move_to_end(name)
        while len(held) > capacity:
            held.popitem(last=False)
    return loads


def belady(trace, capacity):
    after, coming = [0] * len(trace), {}
    for at in reversed(range(len(trace))):
        after[at] = coming.get(trace[at], float("inf"))
        coming[trace[at]] = at
    held, loads = {}, 0
    for at, name in enumerate(trace):
        if name not in held:
            loads += 1
            if len(held) >= capacity:
                held.pop(max(held, key=held.__getitem__))
        held[name] = after[at]
    return loads


def snake(blocks, rounds):
    ways = (range(blocks), range(blocks)[::-1])
    return chain.from_iterable(ways[r % 2] for r in range(rounds))


# ---- distances: LRU by what came in between, the snake as an array
import numpy as np


def lru(trace, capacity):
    def copied(at):
        before = [i for i in range(at) if trace[i] == trace[at]]
        return not before or len(set(trace[before[-1] + 1 : at])) >= capacity

    return sum(map(copied, range(len(trace))))


def belady(trace, capacity):
    def following(held, rest):
        if not rest:
            return 0
        name, *later = rest
        if name in held:
            return following(held, later)
        if len(held) == capacity:
            keep = sorted(held, key=lambda b: [*later, b].index(b))
            held = set(keep[:-1])
        return 1 + following(held | {name}, later)

    return following(frozenset(), list(trace))


def snake(blocks, rounds):
    there = np.tile(np.arange(blocks), (rounds, 1))
    there[1::2] = there[1::2, ::-1]
    return there.ravel()
