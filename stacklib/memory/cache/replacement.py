"""Replacement policies over keys: who leaves when a full cache takes one more.

Each policy is a few lines with `access(key)`, which says whether the key was there and
takes it in where it was not; `victim()` tells who would leave, and `remove(key)` takes
one out that has gone elsewhere. Keys are any hashable; each takes one place. Belady's
policy knows the future and gives the least misses there can be; regret learns from the
past how likely each is to be missed.
"""

from __future__ import annotations

import difflib
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy
from typing import Any, Protocol

from stacklib.quantity.bounds import whole

from .belady import Belady, Future, belady_misses
from .regret import History, Regret
from .victims import absent, first_of


class Policy(Protocol):
    """What every policy offers."""

    def access(self, key: Hashable) -> bool:
        """Whether ``key`` was there; it is afterwards."""

    def victim(self, coming: Hashable = None) -> Hashable:
        """Who would leave a full cache if ``coming``, or a new key, came next.

        Nothing changes; raises where nothing is held.
        """

    def remove(self, key: Hashable) -> None:
        """Take out a key that has gone elsewhere; raises where it is not held."""


class Fifo:
    """Out goes what came in first, used or not."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.held: OrderedDict[Hashable, None] = OrderedDict()

    def access(self, key: Hashable) -> bool:
        """Whether ``key`` was there."""
        if key in self.held:
            return True
        if len(self.held) == self.capacity:
            self.held.popitem(last=False)
        self.held[key] = None
        return False

    def victim(self, coming: Hashable = None) -> Hashable:
        """Who would leave next."""
        return first_of(self.held)

    def remove(self, key: Hashable) -> None:
        """Take a key out."""
        if key not in self.held:
            raise absent(key)
        del self.held[key]


class Lru(Fifo):
    """Out goes what was used longest ago."""

    def access(self, key: Hashable) -> bool:
        """Whether ``key`` was there; it is the most recent afterwards."""
        there = super().access(key)
        self.held.move_to_end(key)
        return there


class Lfu:
    """Out goes what was used least often, the oldest among equals."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.uses: dict[Hashable, int] = {}
        self.by_uses: defaultdict[int, OrderedDict[Hashable, None]] = defaultdict(
            OrderedDict
        )
        self.fewest = 0

    def access(self, key: Hashable) -> bool:
        """Whether ``key`` was there; counted once more."""
        there = key in self.uses
        if there:
            before = self.uses[key]
            del self.by_uses[before][key]
            if before == self.fewest and not self.by_uses[before]:
                self.fewest += 1
        elif len(self.uses) == self.capacity:
            gone, _ = self.by_uses[self.fewest].popitem(last=False)
            del self.uses[gone]
        self.uses[key] = self.uses.get(key, 0) + 1
        self.by_uses[self.uses[key]][key] = None
        if not there:
            self.fewest = 1
        return there

    def victim(self, coming: Hashable = None) -> Hashable:
        """Who would leave next."""
        return first_of(self.by_uses[self.fewest] if self.uses else {})

    def remove(self, key: Hashable) -> None:
        """Take a key out; its uses are forgotten."""
        if key not in self.uses:
            raise absent(key)
        del self.by_uses[self.uses.pop(key)][key]
        self.fewest = min((n for n, keys in self.by_uses.items() if keys), default=0)


class Clock:
    """FIFO with a second chance: what was used since it came by goes round again."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.used: OrderedDict[Hashable, bool] = OrderedDict()

    def access(self, key: Hashable) -> bool:
        """Whether ``key`` was there; marked as used if so."""
        if key in self.used:
            self.used[key] = True
            return True
        if len(self.used) == self.capacity:
            while self.used[oldest := next(iter(self.used))]:
                self.used[oldest] = False
                self.used.move_to_end(oldest)
            del self.used[oldest]
        self.used[key] = False
        return False

    def victim(self, coming: Hashable = None) -> Hashable:
        """Who would leave next."""
        return first_of([k for k, used in self.used.items() if not used] or self.used)

    def remove(self, key: Hashable) -> None:
        """Take a key out."""
        if key not in self.used:
            raise absent(key)
        del self.used[key]


class Sieve:
    """A hand sweeps from old to new and takes the first that was not used.

    Unlike a clock nothing moves: what survives the hand keeps its place (Zhang et al.,
    NSDI 2024).
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.used: dict[Hashable, bool] = {}
        self.newer: dict[Hashable, Any] = {}  # None after the newest
        self.older: dict[Hashable, Any] = {}  # None before the oldest
        self.newest: Any = None
        self.oldest: Any = None
        self.hand: Any = None

    def access(self, key: Hashable) -> bool:
        """Whether ``key`` was there; marked as used if so."""
        if key in self.used:
            self.used[key] = True
            return True
        if len(self.used) == self.capacity:
            self._evict()
        self.used[key] = False
        self.older[key], self.newer[key] = self.newest, None
        if self.newest is not None:
            self.newer[self.newest] = key
        self.newest = key
        if self.oldest is None:
            self.oldest = key
        return False

    def _evict(self) -> None:
        at = self.oldest if self.hand is None else self.hand
        while self.used[at]:
            self.used[at] = False
            at = self._after(at)
        self.hand = at
        self.remove(at)

    def _after(self, key: Any) -> Any:
        return self.oldest if self.newer[key] is None else self.newer[key]

    def victim(self, coming: Hashable = None) -> Hashable:
        """Who would leave next."""
        first_of(self.used)
        at = start = self.oldest if self.hand is None else self.hand
        while self.used[at]:
            at = self._after(at)
            if at == start:  # all were used: after one round none is
                break
        return at

    def remove(self, key: Hashable) -> None:
        """Take a key out; the hand goes on to the next where it stood on it."""
        if key not in self.used:
            raise absent(key)
        older, newer = self.older.pop(key), self.newer.pop(key)
        del self.used[key]
        if older is None:
            self.oldest = newer
        else:
            self.newer[older] = newer
        if newer is None:
            self.newest = older
        else:
            self.older[newer] = older
        if self.hand == key:
            self.hand = newer


class Arc:
    """Two LRU lists, seen once and seen again, whose sizes follow the ghosts' hits.

    Megiddo and Modha (FAST 2003), figure 4; p is the wanted size of the first list.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.wanted = 0.0
        lists = [OrderedDict[Hashable, None]() for _ in range(4)]
        self.once, self.again, self.once_gone, self.again_gone = lists

    def access(self, key: Hashable) -> bool:
        """Whether ``key`` was there; among those seen again if so."""
        for held in (self.once, self.again):
            if key in held:
                del held[key]
                self.again[key] = None
                return True
        self.wanted = self._wanted(key)
        for gone in (self.once_gone, self.again_gone):
            if key in gone:
                self._replace(gone is self.again_gone)
                del gone[key]
                self.again[key] = None
                return False
        first = len(self.once) + len(self.once_gone)
        total = first + len(self.again) + len(self.again_gone)
        if first == self.capacity:
            if len(self.once) < self.capacity:
                self.once_gone.popitem(last=False)
                self._replace(False)
            else:
                self.once.popitem(last=False)
        elif total >= self.capacity:
            if total == 2 * self.capacity:
                self.again_gone.popitem(last=False)
            self._replace(False)
        self.once[key] = None
        return False

    def _replace(self, again_hit: bool) -> None:
        if len(self.once) + len(self.again) < self.capacity:
            return
        held = self._shrinks(self.wanted, again_hit)
        gone, _ = held.popitem(last=False)
        (self.once_gone if held is self.once else self.again_gone)[gone] = None

    def _wanted(self, coming: Hashable) -> float:
        ghosts = len(self.once_gone), len(self.again_gone)
        if coming in self.once_gone:
            step = max(1.0, ghosts[1] / ghosts[0])
            return min(self.wanted + step, float(self.capacity))
        if coming in self.again_gone:
            step = max(1.0, ghosts[0] / ghosts[1])
            return max(self.wanted - step, 0.0)
        return self.wanted

    def _shrinks(self, wanted: float, again_hit: bool) -> OrderedDict[Hashable, None]:
        size = len(self.once)
        over = size > wanted or (again_hit and size == wanted)
        return self.once if size > 0 and (over or not self.again) else self.again

    def victim(self, coming: Hashable = None) -> Hashable:
        """Who would leave next; it depends on whether ``coming`` left before."""
        again_hit = coming in self.again_gone
        return first_of(self._shrinks(self._wanted(coming), again_hit))

    def remove(self, key: Hashable) -> None:
        """Take a key out; it is no ghost."""
        for held in (self.once, self.again):
            if key in held:
                del held[key]
                return
        raise absent(key)


class S3Fifo:
    """Three FIFO queues: a small one to filter, a main one, and ghosts.

    Yang et al. (SOSP 2023). A tenth of the places is the small queue; what was used
    twice there moves to the main one, and what comes back as a ghost goes there
    straight. The main queue gives further rounds for up to three uses.
    """

    SHARE, PROMOTED_AT, MOST_USES = 10, 2, 3

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.small_size = max(1, capacity // self.SHARE)
        # Rounded down by itself, as libcachesim does; not what the small queue leaves.
        self.ghost_size = capacity * (self.SHARE - 1) // self.SHARE
        self.small: OrderedDict[Hashable, int] = OrderedDict()
        self.main: OrderedDict[Hashable, int] = OrderedDict()
        self.ghosts: OrderedDict[Hashable, None] = OrderedDict()
        self.was_full = False

    def access(self, key: Hashable) -> bool:
        """Whether ``key`` was there; counted once more if so."""
        for queue in (self.small, self.main):
            if key in queue:
                queue[key] = min(queue[key] + 1, self.MOST_USES)
                return True
        known = key in self.ghosts
        if known:
            del self.ghosts[key]
        if len(self.small) + len(self.main) >= self.capacity:
            self.was_full = True
            self._evict()
        filled = not self.was_full and len(self.small) >= self.small_size
        (self.main if known or filled else self.small)[key] = 0
        return False

    def _evict(self) -> Hashable:
        if self.small and len(self.main) <= self.capacity - self.small_size:
            while self.small:
                key, uses = self.small.popitem(last=False)
                if uses < self.PROMOTED_AT:
                    self.ghosts[key] = None
                    if len(self.ghosts) > self.ghost_size:
                        self.ghosts.popitem(last=False)
                    return key
                self.main[key] = 0
        while True:
            key, uses = self.main.popitem(last=False)
            if not uses:
                return key
            self.main[key] = uses - 1

    def victim(self, coming: Hashable = None) -> Hashable:
        """Who would leave next: found on a copy, in time that grows with what is held.

        Who is put back on the way depends on all uses so far.
        """
        first_of(self.small or self.main)
        twin = copy(self)
        for name in ("small", "main", "ghosts"):
            setattr(twin, name, getattr(self, name).copy())
        return twin._evict()

    def remove(self, key: Hashable) -> None:
        """Take a key out; it is no ghost."""
        for queue in (self.small, self.main):
            if key in queue:
                del queue[key]
                return
        raise absent(key)


POLICIES: dict[str, Callable[[int], Policy]] = {
    "lru": Lru,
    "fifo": Fifo,
    "lfu": Lfu,
    "clock": Clock,
    "sieve": Sieve,
    "arc": Arc,
    "s3fifo": S3Fifo,
    "regret": Regret,
}


def policies(
    policy: str,
    capacities: Sequence[int],
    future: Sequence[Hashable] = (),
    cost: Callable[[Hashable], float] | None = None,
) -> list[Policy]:
    """The policy of each tier of a cache, the first tier's first.

    What each knows of a key goes when the key does; only what regret has learned, and
    what Belady foresees, is one for all. Of these two a tier below the first may refuse
    what comes: then `victim` names the key that comes.

    - ``policy``: one of ``POLICIES``, or ``belady``;
    - ``future``: all keys to come in order, which ``belady`` must be told;
    - ``cost``: what a miss of a key costs, which ``regret`` weighs.
    """
    whole(tiers=len(capacities))
    for capacity in capacities:
        whole(capacity=capacity)
    if policy == "belady":
        known = Future(future)
        return [Belady(c, known, i > 0, i == 0) for i, c in enumerate(capacities)]
    if policy == "regret":
        past = History(sum(capacities))
        return [Regret(c, cost, past, i == 0) for i, c in enumerate(capacities)]
    if policy not in POLICIES:
        near = difflib.get_close_matches(str(policy), [*POLICIES, "belady"], 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        known_names = ", ".join((*POLICIES, "belady"))
        raise ValueError(f"policy {policy!r}: use one of {known_names}{hint}")
    return [POLICIES[policy](capacity) for capacity in capacities]


def misses(keys: Iterable[Hashable], capacity: int, policy: str) -> int:
    """Misses of a trace of keys in a cache with room for ``capacity`` of them.

    Parameters
    ----------
    keys : iterable of hashable
        The trace.
    capacity : int
        Keys that fit.
    policy : str
        One of ``POLICIES``, or ``belady``, which need not take every key in.

    Raises
    ------
    ValueError
        For a capacity below one or another policy.
    """
    if policy == "belady":
        return belady_misses(list(keys), capacity)
    (made,) = policies(policy, [capacity])
    return sum(not made.access(key) for key in keys)


def set_misses(lines: Iterable[int], sets: int, ways: int, policy: str = "lru") -> int:
    """Misses of a set-associative cache: the policy at work in each set by itself.

    The plain reading of what `cache.Cache` runs fast; for any of ``POLICIES``.
    """
    whole(sets=sets)
    parts: list[list[int]] = [[] for _ in range(sets)]
    for line in lines:
        parts[line % sets].append(line)
    return sum(misses(part, ways, policy) for part in parts)
