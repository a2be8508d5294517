"""Who leaves, told beforehand: an access is "victim, remove, insert"."""

from copy import deepcopy
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stacklib.memory.cache.regret import History, Regret
from stacklib.memory.cache.replacement import (
    POLICIES,
    Lru,
    belady_misses,
    misses,
    policies,
)
from stacklib.memory.cache.traces import TRACES

KEYS = st.lists(st.integers(0, 7), min_size=1, max_size=50)
NAMES = sorted([*POLICIES, "belady"])
# What they know of a key that left is nothing, and no hand stands anywhere: taking the
# victim out by hand leaves the same cache.
PLAIN = ("lru", "fifo", "lfu", "regret", "belady")


def everything(held, keys):
    """The keys a policy holds, by taking them out of a copy."""
    twin, found = deepcopy(held), set()
    for key in keys:
        try:
            twin.remove(key)
            found.add(key)
        except ValueError:
            pass
    return found


@given(KEYS, st.integers(1, 4), st.sampled_from(NAMES), st.randoms())
@example([2, 3, 2, 4, 3], 2, "arc", Random(0))  # as many seen once as it wants
@settings(max_examples=150, deadline=None)
def test_an_access_is_victim_remove_insert(keys, capacity, name, random):
    (made,) = policies(name, [capacity], keys)
    for at, key in enumerate(keys):
        before = everything(made, keys)
        gone = set()
        if key not in before and len(before) == capacity:
            twice = made.victim(key), made.victim(key)
            assert twice[0] == twice[1]
            gone = {twice[0]}
        by_hand = deepcopy(made)
        assert made.access(key) == (key in before)
        assert everything(made, keys) == (before - gone) | {key}
        if gone and name in PLAIN:
            by_hand.remove(*gone)
            by_hand.access(key)
            rest = [made, by_hand]
            twins = [[p.access(k) for k in keys[at + 1 :]] for p in deepcopy(rest)]
            assert twins[0] == twins[1]
        # Now and then something goes elsewhere, as between tiers.
        if random.random() < 0.2:
            taken = random.choice(sorted(everything(made, keys)))
            made.remove(taken)
            with pytest.raises(ValueError, match="is not held"):
                made.remove(taken)


@pytest.mark.rows("name", NAMES)
def test_an_empty_cache_has_no_victim(name):
    (made,) = policies(name, [2], [0])
    with pytest.raises(ValueError, match="nothing is held"):
        made.victim()
    made.access(0)  # a key that is false
    assert made.victim() == 0
    made.remove(0)
    with pytest.raises(ValueError, match="nothing is held"):
        made.victim()


def test_belady_is_held_to_the_future_it_was_told():
    (made,) = policies("belady", [1], [1, 2])
    made.access(1)
    with pytest.raises(ValueError, match="key 3 as access 1"):
        made.access(3)


def test_regret_learns_what_does_not_come_back():
    # Two of three keys are never used again, and the third comes back after 8 more.
    keys = [k for n in range(400) for k in (n % 3, 1000 + 2 * n, 1001 + 2 * n)]
    assert misses(keys, 4, "lru") == len(keys)
    least = belady_misses(keys, 4, bypass=False)
    assert least <= misses(keys, 4, "regret") <= least + 30


def test_regret_weighs_what_a_miss_costs():
    keys = [k for n in range(300) for k in (n % 4, 10 + n % 4)]
    paid = {}
    for name, cost in ("dear", lambda key: 1 + 9 * (key >= 10)), ("same", None):
        made = Regret(5, cost)
        paid[name] = sum(1 + 9 * (k >= 10) for k in keys if not made.access(k))
    assert paid["dear"] < 0.7 * paid["same"]
    with pytest.raises(ValueError, match="cost = 0"):
        Regret(1, lambda key: 0).access(1)


def test_a_planted_fault_would_be_seen():
    class Newest(Lru):
        """Says that the newest leaves, and lets the oldest go."""

        def victim(self, coming=None):
            return next(reversed(self.held))

    made = Newest(2)
    made.access(1), made.access(2)
    told = made.victim(3)
    made.access(3)
    assert told in everything(made, [1, 2, 3])  # which the property above forbids


def test_history_counts_every_step_of_waiting_once():
    past = History(1)
    for key in (1, 2, 3, 1):
        past.used(key)
    # Key 1 came back after three accesses: one step of age 1, two of ages 2 and 3.
    assert (past.waited[1, 1], past.waited[1, 2], past.back[1, 2]) == (1, 2, 1)
    assert past.rate(1, 2) == 1 / 3


@pytest.mark.rows("trace", TRACES)
def test_foresight_bounds_every_policy(trace):
    keys = TRACES[trace](4_000)
    least = belady_misses(keys, 150, bypass=False)
    assert all(misses(keys, 150, name) >= least for name in POLICIES)
