"""Replacement policies: equal to libcachesim on three traces, and to brute force."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.memory.replacement import POLICIES, misses

CAPACITY = 300
# Misses by libcachesim 0.3.5 of the traces below with room for 300 keys.
KNOWN = {
    "zipf": {"lru": 6843, "fifo": 7639, "clock": 6681, "lfu": 6140, "sieve": 6140,
             "arc": 6125, "s3fifo": 6016},
    "loop": {"lru": 13200, "fifo": 13200, "clock": 13200, "lfu": 13200,
             "sieve": 13200, "arc": 13200, "s3fifo": 4691},
    "mixed": {"lru": 11013, "fifo": 12394, "clock": 10277, "lfu": 7820,
              "sieve": 7820, "arc": 7803, "s3fifo": 7812},
}  # fmt: skip


@cache
def traces() -> dict[str, list[int]]:
    """The three traces, from one generator, in this order."""
    r = np.random.default_rng(11)
    zipf = r.zipf(1.2, 20000) % 3000
    hot = r.random(20000) < 0.6
    near, far = r.integers(0, 200, 20000), r.integers(0, 5000, 20000)
    loop = np.tile(np.arange(330), 40)
    found = {"zipf": zipf, "loop": loop, "mixed": np.where(hot, near, far)}
    return {name: [int(key) for key in keys] for name, keys in found.items()}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("trace", KNOWN)
def test_misses_equal_libcachesims(trace, policy):
    assert misses(traces()[trace], CAPACITY, policy) == KNOWN[trace][policy]


KEYS = st.lists(st.integers(0, 9), min_size=1, max_size=60)


@given(KEYS, st.integers(1, 6), st.sampled_from(sorted(POLICIES)))
@settings(max_examples=300, deadline=None)
def test_a_policy_never_holds_more_than_fits_nor_forgets_what_it_took(
    keys, capacity, policy
):
    made = POLICIES[policy](capacity)
    inside: set[int] = set()
    for key in keys:
        hit = made.access(key)
        if hit:
            assert key in inside  # never a hit on what was never taken
        inside.add(key)
        assert made.access(key)  # it is there afterwards
    distinct = len(set(keys))
    if capacity >= distinct and policy != "s3fifo":
        assert misses(keys, capacity, policy) == distinct


@given(KEYS, st.integers(1, 5))
@settings(max_examples=200, deadline=None)
def test_no_policy_beats_belady(keys, capacity):
    least = misses(keys, capacity, "belady")
    assert len(set(keys)) <= least
    for policy in POLICIES:
        assert misses(keys, capacity, policy) >= least


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9), st.integers(1, 3))
@settings(max_examples=80, deadline=None)
def test_belady_is_the_best_of_all_choices(keys, capacity):
    def best(at: int, held: frozenset[int]) -> int:
        if at == len(keys):
            return 0
        key = keys[at]
        if key in held:
            return best(at + 1, held)
        if len(held) < capacity:
            return 1 + best(at + 1, held | {key})
        choices = [best(at + 1, held)]  # not kept at all
        choices += [best(at + 1, held - {gone} | {key}) for gone in held]
        return 1 + min(choices)

    assert misses(keys, capacity, "belady") == best(0, frozenset())


def test_lru_is_a_stack_and_fifo_is_not():
    # More room never costs LRU a miss; it can cost FIFO one (Belady's anomaly).
    keys = [1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5]
    assert misses(keys, 4, "fifo") == 10 > misses(keys, 3, "fifo") == 9
    lru = [misses(keys, room, "lru") for room in range(1, 7)]
    assert lru == sorted(lru, reverse=True)


@pytest.mark.parametrize("capacity", [0, -1, 2.5, True])
def test_a_cache_without_room_is_refused(capacity):
    with pytest.raises(ValueError, match="capacity = "):
        misses([1], capacity, "lru")


def test_an_unknown_policy_is_refused():
    with pytest.raises(ValueError, match="use one of lru, fifo"):
        misses([1], 1, "mru")
