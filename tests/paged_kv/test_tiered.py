"""A cache on tiers: against lists that are searched, reuse distances, and foresight."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.memory.cache.replacement import POLICIES, belady_misses, misses
from stacklib.memory.cache.reuse import reuse_distances
from stacklib.memory.cache.traces import conversations
from stacklib.memory.tiers.seen import tiers_from
from stacklib.paged_kv.tiered import TieredCache, fetch_time
from stacklib.quantity import Quantity
from stacklib.quantity.units import UnitError

BLOCK = Quantity(5, "MB")
SM = tiers_from("sm")[1:]


def tiers(rooms):
    return [
        replace(tier, capacity=room * BLOCK)
        for tier, room in zip(SM, rooms, strict=False)
    ]


KEYS = st.lists(st.integers(0, 9), min_size=1, max_size=60)
ROOMS = st.lists(st.integers(1, 4), min_size=1, max_size=4)


def searched(keys, rooms, rank):
    """Served levels by lists; ``rank(arrived, used, uses)``: the least one sinks."""
    held, served = [{} for _ in rooms], []
    for now, key in enumerate(keys):
        level = next((i for i, tier in enumerate(held) if key in tier), len(rooms))
        served.append(level)
        if level == 0:
            arrived, _, uses = held[0][key]
            held[0][key] = arrived, now, uses + 1
            continue
        if level < len(rooms):
            del held[level][key]
        for room, tier in zip(rooms, held, strict=True):
            gone = None
            if len(tier) == room:
                gone = min(tier, key=lambda k, tier=tier: rank(*tier[k]))
                del tier[gone]
            tier[key] = now, now, 1
            if gone is None:
                break
            key = gone
    return served, held


RANKS = {
    "lru": lambda arrived, used, uses: used,
    "fifo": lambda arrived, used, uses: arrived,
    "lfu": lambda arrived, used, uses: (uses, used),
}


@given(KEYS, ROOMS, st.sampled_from(sorted(RANKS)))
@settings(max_examples=150, deadline=None)
def test_every_access_is_served_where_lists_serve_it(keys, rooms, policy):
    cache = TieredCache(tiers(rooms), policy, block=BLOCK)
    told, held = searched(keys, rooms, RANKS[policy])
    assert [cache.access(key) for key in keys] == told
    for level, tier in enumerate(held):
        assert all(cache.where(key) == level for key in tier)
    assert len(cache) == sum(map(len, held))


@given(KEYS, ROOMS, st.sampled_from([*sorted(POLICIES), "belady"]))
@settings(max_examples=150, deadline=None)
def test_no_block_is_in_two_tiers_lost_or_too_many(keys, rooms, policy):
    cache = TieredCache(tiers(rooms), policy, block=BLOCK, trace=keys)
    hits = [0] * (len(rooms) + 1)
    for key in keys:
        before = cache.where(key)
        level = cache.access(key)
        hits[level] += 1
        assert level == (len(rooms) if before is None else before)
        assert cache.where(key) == 0
    places = [cache.where(key) for key in set(keys)]
    told = cache.served()
    assert all(places.count(i) <= room for i, room in enumerate(rooms))
    assert (*told.hits, told.misses) == tuple(hits) and told.accesses == len(keys)
    assert told.again == told.misses - len(set(keys))
    # Every block that was computed is somewhere, or has been dropped.
    assert told.misses == len(cache) + told.dropped
    assert len(places) - places.count(None) == len(cache) <= sum(rooms)
    if sum(rooms) >= len(set(keys)):
        assert told.dropped == told.again == 0 or policy in ("arc", "s3fifo")


@given(KEYS, ROOMS)
@settings(max_examples=100, deadline=None)
def test_foresight_on_tiers_is_foresight_in_one(keys, rooms):
    told = TieredCache(tiers(rooms), "belady", block=BLOCK, trace=keys).run(keys)
    assert told.misses == belady_misses(keys, sum(rooms), bypass=False)
    first = belady_misses(keys, rooms[0], bypass=False)
    assert len(keys) - told.hits[0] == first
    for policy in POLICIES:
        other = TieredCache(tiers(rooms), policy, block=BLOCK).run(keys)
        assert other.misses >= told.misses


@pytest.mark.rows("rooms", [(60, 240), (100, 200, 300)])
def test_lru_serves_each_access_where_its_reuse_distance_lies(rooms):
    keys = conversations(6_000)
    told = TieredCache(tiers(rooms), "lru", block=BLOCK).run(keys)
    distance = reuse_distances(keys)
    edges = np.cumsum((0, *rooms))
    inside = [
        int(((distance >= low) & (distance < high)).sum())
        for low, high in pairwise(edges)
    ]
    assert told.hits == tuple(inside)
    assert told.misses == misses(keys, sum(rooms), "lru")
    # A planted fault: a first tier one block smaller serves another count.
    less = TieredCache(tiers((rooms[0] - 1, *rooms[1:])), "lru", block=BLOCK)
    assert less.run(keys).hits != told.hits


def test_bytes_and_stalls_follow_from_the_counts():
    cache = TieredCache(tiers((1, 1)), block=BLOCK)
    told = cache.run("abab" + "c")
    # a, b are computed; each comes back from the host once; c is computed.
    assert (told.hits, told.misses, told.again) == ((0, 2), 3, 0)
    assert (told.sunk, told.dropped) == ((0, 4), 1)
    assert (told.fetched_bytes(1) / BLOCK).si == 2
    assert (told.sunk_bytes(1) / BLOCK).si == 4
    wait = 2 * (SM[1].latency.si + 5e6 / SM[1].bandwidth.si) + 3 * 0.25
    assert told.stall(0.25) == pytest.approx(wait)
    assert told.stall(Quantity(0.25, "s")).si == pytest.approx(wait)
    assert fetch_time(SM[1], BLOCK).si == pytest.approx((wait - 0.75) / 2)
    for tier in (0, 2, -1):
        with pytest.raises(ValueError, match="from 1 to 1"):
            told.fetched_bytes(tier)
    for bad in (-1, float("nan")):
        with pytest.raises(ValueError, match="recompute"):
            told.stall(bad)


def test_capacity_is_in_whole_blocks_and_nothing_else_is_one():
    hbm = replace(SM[0], capacity=1.9 * BLOCK)
    assert TieredCache([hbm], block=BLOCK).rooms == (1,)
    with pytest.raises(ValueError, match="no block of 10 MB: leave it out"):
        TieredCache([hbm], block=2 * BLOCK)
    for wrong in (5e6, None):
        with pytest.raises(ValueError, match="a quantity in bytes"):
            TieredCache([hbm], block=wrong)
    with pytest.raises(UnitError):
        TieredCache([hbm], block=Quantity(1, "s"))
    with pytest.raises(ValueError, match="tiers = 0"):
        TieredCache([], block=BLOCK)
    with pytest.raises(ValueError, match="did you mean 'regret'"):
        TieredCache([hbm], "regrets", block=BLOCK)


def test_regret_keeps_what_is_dear():
    # Four beginnings come round, and four ends; the ends cost ten times as much.
    keys = [k for n in range(200) for k in (n % 4, 10 + n % 4)]

    def cost(key):
        return 1.0 + 9 * (key >= 10)

    paid = {}
    for policy in ("lru", "regret"):
        cache = TieredCache(tiers((2, 3)), policy, block=BLOCK, cost=cost)
        paid[policy] = sum(cost(key) for key in keys if cache.access(key) == 2)
    assert paid["regret"] < 0.7 * paid["lru"]
