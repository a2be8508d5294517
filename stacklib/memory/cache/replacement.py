"""Replacement policies over keys: who leaves when a full cache takes one more.

Each policy is a few lines with `access(key)`, which says whether the key was there and
takes it in where it was not. Keys are any hashable; each takes one place. Belady's
policy knows the future and gives the least misses there can be.
"""

from __future__ import annotations

import difflib
import heapq
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Protocol

from stacklib.quantity.bounds import whole


class Policy(Protocol):
    """What every policy offers."""

    def access(self, key: Hashable) -> bool:
        """Whether ``key`` was there; it is afterwards."""


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
            at = self.oldest if self.newer[at] is None else self.newer[at]
        older, newer = self.older.pop(at), self.newer.pop(at)
        del self.used[at]
        if older is None:
            self.oldest = newer
        else:
            self.newer[older] = newer
        if newer is None:
            self.newest = older
        else:
            self.older[newer] = older
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
        ghosts = len(self.once_gone), len(self.again_gone)
        if key in self.once_gone:
            step = max(1.0, ghosts[1] / ghosts[0])
            self.wanted = min(self.wanted + step, float(self.capacity))
            self._replace(False)
            del self.once_gone[key]
            self.again[key] = None
            return False
        if key in self.again_gone:
            step = max(1.0, ghosts[0] / ghosts[1])
            self.wanted = max(self.wanted - step, 0.0)
            self._replace(True)
            del self.again_gone[key]
            self.again[key] = None
            return False
        first = len(self.once) + ghosts[0]
        total = first + len(self.again) + ghosts[1]
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
        size = len(self.once)
        if size + len(self.again) < self.capacity:
            return
        over = size > self.wanted or (again_hit and size == self.wanted)
        from_once = size > 0 and (over or not self.again)
        held, ghosts = (
            (self.once, self.once_gone) if from_once else (self.again, self.again_gone)
        )
        gone, _ = held.popitem(last=False)
        ghosts[gone] = None


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
        while len(self.small) + len(self.main) >= self.capacity:
            self.was_full = True
            if len(self.main) > self.capacity - self.small_size or not self.small:
                self._from_main()
            else:
                self._from_small()
        filled = not self.was_full and len(self.small) >= self.small_size
        (self.main if known or filled else self.small)[key] = 0
        return False

    def _from_small(self) -> None:
        while self.small:
            key, uses = self.small.popitem(last=False)
            if uses < self.PROMOTED_AT:
                self.ghosts[key] = None
                if len(self.ghosts) > self.ghost_size:
                    self.ghosts.popitem(last=False)
                return
            self.main[key] = 0

    def _from_main(self) -> None:
        while self.main:
            key, uses = self.main.popitem(last=False)
            if not uses:
                return
            self.main[key] = uses - 1


POLICIES: dict[str, Callable[[int], Policy]] = {
    "lru": Lru,
    "fifo": Fifo,
    "lfu": Lfu,
    "clock": Clock,
    "sieve": Sieve,
    "arc": Arc,
    "s3fifo": S3Fifo,
}


def misses(keys: Iterable[Hashable], capacity: int, policy: str) -> int:
    """Misses of a trace of keys in a cache with room for ``capacity`` of them.

    Parameters
    ----------
    keys : iterable of hashable
        The trace.
    capacity : int
        Keys that fit.
    policy : str
        One of ``POLICIES``, or ``belady``.

    Raises
    ------
    ValueError
        For a capacity below one or another policy.
    """
    whole(capacity=capacity)
    if policy == "belady":
        return belady_misses(list(keys), capacity)
    if policy not in POLICIES:
        near = difflib.get_close_matches(str(policy), [*POLICIES, "belady"], 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        known = ", ".join((*POLICIES, "belady"))
        raise ValueError(f"policy {policy!r}: use one of {known}{hint}")
    made = POLICIES[policy](capacity)
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


def belady_misses(keys: Sequence[Hashable], capacity: int, bypass: bool = True) -> int:
    """Least misses of any policy: out goes what is needed furthest in the future.

    Belady (1966).
    """
    whole(capacity=capacity)
    coming: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for at, key in enumerate(keys):
        coming[key].append(at)
    never = len(keys)
    held: dict[Hashable, int] = {}  # when each is needed next
    furthest: list[tuple[int, int, Hashable]] = []
    missed = 0
    for at, key in enumerate(keys):
        coming[key].popleft()
        after = coming[key][0] if coming[key] else never
        if key not in held:
            missed += 1
            if len(held) == capacity:
                while held.get(furthest[0][2]) != -furthest[0][0]:
                    heapq.heappop(furthest)  # needed earlier than this entry says
                # A key that would be the first to leave need not be taken in at all;
                # Belady's own rule takes every key in.
                if bypass and -furthest[0][0] <= after:
                    continue
                del held[heapq.heappop(furthest)[2]]
        held[key] = after
        heapq.heappush(furthest, (-after, at, key))
    return missed
