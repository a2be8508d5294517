"""Caches: equal to a plain reading of each policy, and to pycachesim."""

import json
from collections import OrderedDict
from functools import reduce
from math import exp
from operator import xor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.memory import Cache, chain
from stacklib.memory.cache import _cache_kernel as kernel
from stacklib.memory.cache.cache import WRITES
from stacklib.memory.warp._fast import fast

from ...rows import refusals

KNOWN = json.loads(Path(__file__).with_name("pycachesim.json").read_text())


def trace_of(kind: str, n: int, seed: int):
    """The traces that pycachesim was given when its counts were recorded."""
    r = np.random.default_rng(seed)
    if kind == "random":
        a = r.integers(0, 1 << 17, n) * 4
    elif kind == "zipf":
        a = (r.zipf(1.2, n) % (1 << 16)) * 8
    elif kind == "stream":
        a = (np.arange(n) * 8) % (1 << 18)
    else:
        i, j, k = np.meshgrid(*3 * [np.arange(24)], indexing="ij")
        parts = (i * 24 + k, k * 24 + j + 4096, i * 24 + j + 8192)
        a = np.stack(parts, -1).reshape(-1)[:n] * 8
    return a.astype(np.int64), r.random(len(a)) < 0.3


def level_of(sets: int, ways: int, line: int, policy: str, write: str = "back"):
    """A level as pycachesim has it, where a store renews nothing."""
    return Cache(
        sets * ways * line,
        ways,
        line,
        policy=policy.lower(),
        write=write,
        stores_renew=False,
    )


@pytest.mark.rows("case", KNOWN)
def test_fills_and_what_every_level_sends_on_equal_pycachesims(case):
    addresses, stores = trace_of(case["kind"], case["n"], case["seed"])
    levels = [level_of(*shape) for shape in case["levels"]]
    traffic = chain(levels, addresses, stores)
    # pycachesim counts a miss for each line that is loaded, and as evicted what is
    # stored in the next level; the last level has none to write through to.
    last = traffic[-1]
    found = [
        (t.fills, t.writebacks + (0 if t is last else int(t.passed.sum())))
        for t in traffic
    ]
    known = [(d["MISS_count"], d["EVICT_count"]) for d in case["stats"]]
    assert found == known


class Slow:
    """One set at a time, with ordered dictionaries: LRU and FIFO by their names."""

    def __init__(self, sets, ways, policy, write, hashed) -> None:
        self.sets = [OrderedDict() for _ in range(sets)]
        self.ways, self.policy, self.write = ways, policy, write
        self.hashed, self.evictions = hashed, 0

    def index(self, line: int) -> int:
        bits = (len(self.sets) - 1).bit_length()
        if not self.hashed or not bits:
            return line % len(self.sets)
        text = bin(line)[2:].zfill(64 // bits * bits + bits)
        groups = [text[i : i + bits] for i in range(0, len(text), bits)]
        return reduce(xor, (int(group, 2) for group in groups)) % len(self.sets)

    def access(self, line: int, store: bool) -> tuple[bool, int]:
        held = self.sets[self.index(line)]
        hit, out = line in held, -1
        if hit and self.policy == "lru":
            held.move_to_end(line)
        if store and self.write == "through":
            return hit, out
        if not hit:
            if len(held) == self.ways:
                gone, dirty = held.popitem(last=False)
                out = gone if dirty else -1
                self.evictions += 1
            held[line] = False
        held[line] |= store
        return hit, out


ACCESSES = st.lists(
    st.tuples(st.integers(0, 40), st.booleans()), min_size=1, max_size=200
)


@given(
    ACCESSES,
    st.sampled_from([(1, 4), (2, 2), (4, 1), (3, 2)]),
    st.sampled_from(["lru", "fifo"]),
    st.sampled_from(WRITES),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_every_access_is_that_of_the_plain_reading(
    accesses, shape, policy, write, hashed
):
    sets, ways = shape
    hashed = hashed and sets in (1, 2, 4)
    slow = Slow(sets, ways, policy, write, hashed)
    told = [slow.access(line, store) for line, store in accesses]
    cache = Cache(sets * ways * 32, ways, 32, policy=policy, write=write, hashed=hashed)
    found = cache.run([32 * a for a, _ in accesses], [s for _, s in accesses])
    assert found.hit.tolist() == [hit for hit, _ in told]
    expected = [-1 if out < 0 else 32 * out for _, out in told]
    assert found.evicted.tolist() == expected
    assert found.evictions == slow.evictions
    stores = [store and write == "through" for _, store in accesses]
    assert found.passed.tolist() == stores
    assert found.fills == found.misses - sum(
        p and not h for p, h in zip(stores, found.hit, strict=True)
    )


def ran(loop, addresses, writes, parts, shape):
    """What a loop fills: hits, write-backs and counts."""
    hit = np.zeros(len(addresses), np.bool_)
    backs = np.empty((len(addresses) + 1, 3), np.int64)
    counts = np.zeros(3, np.int64)
    empty = kernel.empty(shape.sets * shape.ways)
    loop(addresses, writes, parts, shape, *empty, hit, backs, counts)
    return hit.tolist(), backs[: counts[0]].tolist(), counts.tolist()


@given(ACCESSES, st.sampled_from(kernel.POLICIES), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_plain_python_gives_the_same_answer_as_numba(
    accesses, policy, through, validate
):
    addresses = 32 * np.array([a for a, _ in accesses])
    writes = np.array([s for _, s in accesses])
    which = kernel.POLICIES.index(policy)
    shape = kernel.Shape(128, 32, 2, 4, which, 7, True, through, validate, 1)
    given_ = addresses, writes, addresses % 3 == 0, shape
    assert ran(kernel.loop, *given_) == ran(fast(kernel.loop), *given_)


@given(
    ACCESSES,
    # stores, parts of sectors, bytes of line and sector, sets and ways
    st.sampled_from(
        [
            (False, False, 48, 48, [(1, 8), (3, 5), (8, 1)]),
            (True, False, 32, 32, [(2, 4), (3, 5), (4, 8)]),
            (False, False, 128, 32, [(2, 20), (1, 64)]),
            (True, True, 128, 32, [(2, 20), (1, 13)]),
        ]
    ),
    st.data(),
)
@settings(max_examples=200, deadline=None)
def test_the_quick_loop_is_the_plain_one(accesses, kind, data):
    stored, parted, line, sector, shapes = kind
    sets, ways = data.draw(st.sampled_from(shapes))
    policy, renew = data.draw(st.sampled_from([0, 1])), data.draw(st.booleans())
    fold = 2 if sets == 4 else 0
    shape = (line, sector, sets, ways, policy, 7, renew, False, parted, fold)
    addresses, stores = map(np.array, zip(*accesses, strict=True))
    none = np.zeros(0, np.bool_)
    case = (
        24 * addresses,
        stores if stored else none,
        addresses % 3 == 0 if parted else none,
        kernel.Shape(*shape),
    )
    hit, backs, counts = kernel.run(*case)
    assert (hit.tolist(), backs.tolist(), counts.tolist()) == ran(kernel.loop, *case)


def test_a_fault_in_a_loop_would_show():
    # The stored counts tell LRU from FIFO and a set too few from the right number.
    case = KNOWN[7]
    addresses, stores = trace_of(case["kind"], case["n"], case["seed"])
    sets, ways, line, _ = case["levels"][0]
    known = case["stats"][0]["MISS_count"]
    for wrong in (
        level_of(sets, ways, line, "fifo"),
        level_of(sets - 1, ways, line, "lru"),
        level_of(2 * sets, ways // 2, line, "lru"),
    ):
        assert wrong.run(addresses, stores).misses != known


def test_a_hash_spreads_strides_of_powers_of_two_and_whole_ranges():
    for stride in (1, 16, 64, 4096):
        trace = 64 * stride * np.arange(64)
        hashed = Cache(64 * 64, 1, 64, hashed=True)
        assert hashed.run(np.tile(trace, 2)).hits == 64  # each in a set of its own
        plain = Cache(64 * 64, 1, 64).run(np.tile(trace, 2))
        assert plain.hits == (64 if stride == 1 else 0)


def test_what_is_written_through_takes_no_place():
    cache = Cache(256, 2, 64, write="through")
    found = cache.run([0, 0, 0, 64], [True, False, True, True])
    assert found.hit.tolist() == [False, False, True, False]
    assert found.passed.tolist() == [True, False, True, True]
    assert (found.fills, found.writebacks, found.bytes_in) == (1, 0, 64)


def test_a_tree_evicts_away_from_what_was_used():
    # four ways, lines 0 to 3 in order; using 0 points both bits away from it
    cache = Cache(4 * 32, 4, 32, policy="plru")
    found = cache.run([32 * line for line in (0, 1, 2, 3, 0, 4, 0, 1, 2, 3)])
    # 4 replaces 2: the root points to the right half, whose bit points left. Then 0
    # and 1 keep the root pointing right, where 3 is the older one: 2 replaces it.
    assert found.hit.tolist() == [
        False,
        False,
        False,
        False,
        True,
        False,
        True,
        True,
        False,
        False,
    ]


def test_a_tree_of_two_ways_is_lru():
    random = np.random.default_rng(0)
    trace = 32 * random.integers(0, 12, 500)
    pair = [Cache(4 * 2 * 32, 2, 32, policy=p).run(trace) for p in ("plru", "lru")]
    assert pair[0].hit.tolist() == pair[1].hit.tolist()


def test_random_replacement_follows_its_seed():
    trace = 32 * np.random.default_rng(0).integers(0, 64, 2000)
    caches = [Cache(32 * 32, 8, 32, policy="random", seed=s) for s in (1, 1, 2)]
    one, again, other = (c.run(trace).hit.tolist() for c in caches)
    assert one == again != other


def test_a_sector_is_fetched_for_itself_and_its_line_is_there():
    cache = Cache(1024, 2, 128, sector=32)
    found = cache.run([0, 32, 0, 96, 128, 96])
    assert found.hit.tolist() == [False, False, True, False, False, True]
    assert found.bytes_in == 4 * 32
    whole = Cache(1024, 2, 128).run([0, 32, 0, 96, 128, 96])
    assert whole.hits == 4 and whole.bytes_in == 2 * 128


def test_a_stream_misses_once_a_line_and_a_loop_too_large_misses_always():
    stream = np.arange(0, 1 << 16, 8)
    assert Cache(4096, 4, 64).run(stream).misses == (1 << 16) // 64
    loop = np.tile(np.arange(0, 65 * 64, 64), 10)
    full = Cache(64 * 64, 64, 64)
    assert full.run(loop).hits == 0  # LRU drops each line just before its turn
    fits = np.tile(np.arange(0, 64 * 64, 64), 10)
    assert full.run(fits).misses == 64


def test_bytes_are_conserved_down_a_chain():
    addresses, stores = trace_of("zipf", 20_000, 5)
    near, far = chain([Cache(4096, 4, 64), Cache(65536, 8, 64)], addresses, stores)
    assert far.accesses == near.misses + near.writebacks
    assert far.misses < near.misses


test_what_is_no_cache_is_refused = refusals(
    ({"size": 0}, "size = 0"),
    ({"size": 1000}, "do not divide"),
    ({"ways": -1}, "ways = -1"),
    ({"line": 1.5}, "line = 1.5"),
    ({"policy": "mru"}, "use one of lru"),
    ({"sector": 48}, "sector = 48"),
    ({"size": 3 * 512, "hashed": True}, "hashed over 3 sets"),
    ({"write": "around"}, "write = 'around': one of back, through"),
    ({"ways": 3, "size": 3 * 128, "policy": "plru"}, "a power of two"),
    by=lambda fields: Cache(**{"size": 4096, "ways": 4, **fields}),
)


test_what_is_no_trace_is_refused = refusals(
    ([], None, "a trace"),
    ([-8], None, "address -8"),
    ([0.5], None, "a trace"),
    ([0, 8], [True], "1 stores for 2"),
    ([[0]], None, "a trace"),
    ([0, 8], [0, 1], "stores of int64: True or False"),
    by=Cache(4096, 4).run,
)


def test_a_chain_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one cache"):
        chain([], [0])


@pytest.mark.rows("kib", [64, 256, 1024])
@pytest.mark.rows("over", [1.25, 2, 3])
def test_random_replacement_keeps_what_chance_keeps(kib, over):
    """A loop of x times the room: h = exp(-x (1 - h)), whatever the size and seed.

    A line stays with the chance that none of the x (1 - h) lines brought in for each
    place in a lap took its own.
    """
    expected = 0.0
    for _ in range(100):
        expected = exp(-over * (1 - expected))
    loop = 128 * np.arange(int(over * kib * 8))
    for seed, ways in ((1, 8), (2, 16)):
        cache = Cache(kib * 1024, ways, 128, policy="random", seed=seed)
        hit = cache.run(np.tile(loop, 12)).hit[-4 * len(loop) :]
        assert hit.mean() == pytest.approx(expected, abs=0.02)
