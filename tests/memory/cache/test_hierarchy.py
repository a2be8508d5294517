"""Inclusive and exclusive hierarchies: equal to a plain reading, and to pycachesim."""

import json
from collections import Counter, OrderedDict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.memory import Cache, Hierarchy, chain
from stacklib.memory.cache import _hierarchy_kernel as kernel
from stacklib.memory.cache.hierarchy import INCLUSIONS

from ...rows import refusals
from .test_cache import trace_of

VICTIMS = json.loads(Path(__file__).with_name("pycachesim_victims.json").read_text())
SHAPES = [
    [(1, 2), (1, 4)],
    [(2, 1), (4, 1)],
    [(2, 2), (2, 4)],
    [(4, 1), (1, 3)],  # more lines inside than outside
    [(1, 2), (2, 2), (4, 2)],
    [(3, 1), (2, 3), (5, 2)],
]
ACCESSES = st.lists(
    st.tuples(st.integers(0, 24), st.booleans()), min_size=1, max_size=250
)


class Slow:
    """Sets of ordered dictionaries, line to whether it is dirty; oldest first."""

    def __init__(self, shapes, policies, inclusion) -> None:
        self.levels = [[OrderedDict() for _ in range(sets)] for sets, _ in shapes]
        self.ways = [ways for _, ways in shapes]
        self.policies, self.inclusion = policies, inclusion
        self.did = [Counter() for _ in shapes]

    def at(self, level: int, line: int) -> OrderedDict:
        return self.levels[level][line % len(self.levels[level])]

    def room_for(self, level: int, line: int):
        """What has to leave so that the line fits: (line, dirty) or None."""
        held = self.at(level, line)
        self.did[level]["fills"] += 1
        if len(held) < self.ways[level]:
            return None
        self.did[level]["evictions"] += 1
        return held.popitem(last=False)

    def renew(self, level: int, line: int) -> None:
        if self.policies[level] == "lru":
            self.at(level, line).move_to_end(line)

    def access(self, line: int, store: bool) -> int:
        depth = len(self.levels)
        found = next((k for k in range(depth) if line in self.at(k, line)), depth)
        for level in range(found):
            self.did[level]["misses"] += 1
        if found < depth:
            self.did[found]["hits"] += 1
        if self.inclusion == "inclusive":
            if found < depth:
                self.renew(found, line)
            for level in reversed(range(found)):
                self.drop(level, self.room_for(level, line))
                self.at(level, line)[line] = False
            self.at(0, line)[line] |= store
        elif found == 0:
            self.renew(0, line)
            self.at(0, line)[line] |= store
        else:
            dirty = self.at(found, line).pop(line) if found < depth else False
            self.push(0, line, dirty or store)
        return found

    def drop(self, level: int, victim) -> None:
        if victim is None:
            return
        line, dirty = victim
        for inner in range(level):
            if line in self.at(inner, line):
                dirty |= self.at(inner, line).pop(line)
                self.did[inner]["invalidations"] += 1
        if dirty:
            self.did[level]["writebacks"] += 1
            if level + 1 < len(self.levels):
                self.at(level + 1, line)[line] = True
                self.renew(level + 1, line)

    def push(self, level: int, line: int, dirty: bool) -> None:
        if level == len(self.levels):
            return
        victim = self.room_for(level, line)
        self.at(level, line)[line] = dirty
        if victim:
            self.did[level]["writebacks"] += victim[1]
            self.push(level + 1, *victim)

    def inside(self) -> list[set[int]]:
        return [{line for held in level for line in held} for level in self.levels]


def of(shapes, policies, inclusion) -> Hierarchy:
    both = zip(shapes, policies, strict=True)
    levels = [Cache(s * w * 64, w, 64, policy=policy) for (s, w), policy in both]
    return Hierarchy(tuple(levels), inclusion)


@given(ACCESSES, st.sampled_from(SHAPES), st.sampled_from(INCLUSIONS), st.data())
@settings(max_examples=300, deadline=None)
def test_every_access_and_count_is_that_of_the_plain_reading(
    accesses, shapes, inclusion, data
):
    policies = [data.draw(st.sampled_from(["lru", "fifo"])) for _ in shapes]
    slow = Slow(shapes, policies, inclusion)
    served = []
    for line, store in accesses:
        served.append(slow.access(line, store))
        inside = slow.inside()
        if inclusion == "inclusive":
            assert all(a <= b for a, b in pairwise(inside))
        else:
            assert sum(map(len, inside)) == len(set().union(*inside))
    addresses = [64 * line for line, _ in accesses]
    flow = of(shapes, policies, inclusion).run(addresses, [s for _, s in accesses])
    assert flow.served.tolist() == served
    for ours, told in zip(flow.levels, slow.did, strict=True):
        for name in ours.__slots__:
            assert getattr(ours, name) == told[name], name


@given(ACCESSES, st.sampled_from(SHAPES), st.sampled_from(INCLUSIONS))
@settings(max_examples=40, deadline=None)
def test_plain_python_gives_the_same_answer_as_numba(accesses, shapes, inclusion):
    lines = np.array([a for a, _ in accesses])
    writes = np.array([s for _, s in accesses])
    shape = [(sets, ways, True) for sets, ways in shapes]
    quick = kernel.run(inclusion, lines, writes, shape)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "fast", lambda loop: loop)
        plain = kernel.run(inclusion, lines, writes, shape)
    assert quick[0].tolist() == plain[0].tolist()
    assert quick[1].tolist() == plain[1].tolist()


@pytest.mark.rows("case", VICTIMS)
def test_a_victim_cache_hits_as_pycachesims(case):
    # pycachesim leaves a line in the victim cache when it hits there, and may then
    # hold it twice. With one way and no stores that cannot be seen.
    addresses, _ = trace_of(case["kind"], case["n"], case["seed"])
    levels = [(sets, ways) for sets, ways, *_ in case["levels"]]
    policies = [shape[3].lower() for shape in case["levels"]]
    near, far = of(levels, policies, "exclusive").run(addresses).levels
    told = case["stats"]
    assert (near.hits, near.misses) == (told[0]["HIT_count"], told[0]["MISS_count"])
    assert near.evictions == told[0]["EVICT_count"] == told[1]["STORE_count"]
    assert far.hits == told[1]["HIT_count"]


def test_inclusion_loses_what_the_outer_level_forgets():
    # Line 0 is used all the time inside, so the outer level never hears of it again,
    # takes it for old, and drives it out: its next use misses everywhere.
    lines = [0, 1, 0, 2, 0, 3, 0, 4, 0]
    trace = [64 * line for line in lines]
    inner, outer = Cache(128, 2, 64), Cache(256, 4, 64)
    flow = Hierarchy((inner, outer), "inclusive").run(trace)
    assert flow.levels[0].invalidations == 1
    assert flow.served.tolist() == [2, 2, 0, 2, 0, 2, 0, 2, 2]
    alone = chain([inner, outer], trace)
    assert alone[1].fills == 5 < flow.memory_reads == 6


def test_exclusive_levels_hold_as_much_as_both_together():
    loop = np.tile(64 * np.arange(6), 50)
    levels = (Cache(128, 2, 64), Cache(256, 4, 64))
    held = {how: Hierarchy(levels, how).run(loop).memory_reads for how in INCLUSIONS}
    assert held == {"inclusive": 300, "exclusive": 6}


def test_a_dirty_line_reaches_memory_once():
    levels = (Cache(64, 1, 64), Cache(128, 2, 64))
    lines, stores = [0, 1, 2, 3, 4], [True] + 4 * [False]
    for inclusion in INCLUSIONS:
        flow = Hierarchy(levels, inclusion).run([64 * x for x in lines], stores)
        assert flow.memory_writes == 1


ONE = Cache(128, 2, 64)


test_what_is_no_hierarchy_is_refused = refusals(
    ((ONE,), "inclusive", "1 levels: two at least"),
    ((ONE, ONE), "none", "one of inclusive, exclusive"),
    ((ONE, Cache(256, 2, 128)), "inclusive", "whole lines of one size"),
    ((ONE, Cache(128, 2, 64, sector=32)), "exclusive", "whole lines of one size"),
    ((ONE, Cache(128, 2, 64, policy="plru")), "exclusive", "lru or fifo"),
    ((ONE, Cache(128, 2, 64, write="through")), "inclusive", "written back"),
    ((ONE, Cache(128, 2, 64, stores_renew=False)), "inclusive", "stores fetch"),
    ((ONE, Cache(128, 2, 64, on_store="validate")), "exclusive", "stores fetch"),
    ((ONE, Cache(128, 2, 64, hashed=True)), "inclusive", "modulo the sets"),
    by=Hierarchy,
)
