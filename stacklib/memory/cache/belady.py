"""Belady's policy: out goes what is needed furthest in the future, which it is told."""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Hashable, Sequence

from stacklib.quantity.bounds import whole

from .victims import absent, first_of


class Future:
    """When each key of a trace is needed next, as the trace is gone through."""

    def __init__(self, keys: Sequence[Hashable]) -> None:
        self.keys = keys
        self.now = 0
        self.places: defaultdict[Hashable, deque[int]] = defaultdict(deque)
        for at, key in enumerate(keys):
            self.places[key].append(at)

    def used(self, key: Hashable) -> None:
        """Go past the next access, which is one of ``key``."""
        if self.now == len(self.keys) or self.keys[self.now] != key:
            raise ValueError(
                f"key {key!r} as access {self.now}: the future that was told holds "
                f"another, or {len(self.keys)} accesses only"
            )
        self.places[key].popleft()
        self.now += 1

    def next(self, key: Hashable, after: int = 0) -> int:
        """The place of an access of ``key``, the next or later; the end if none is."""
        places = self.places.get(key, ())
        return places[after] if len(places) > after else len(self.keys)


class Belady:
    """Out goes what is needed furthest in the future (Belady, 1966).

    - ``bypass``: a key that would be the first to leave is not taken in at all;
      Belady's own rule takes every key in;
    - ``first``: whether an access here is one of the trace; of tiers below it is not.
    """

    def __init__(
        self, capacity: int, future: Future, bypass: bool = False, first: bool = True
    ) -> None:
        self.capacity = capacity
        self.future = future
        self.bypass = bypass
        self.first = first
        self.held: dict[Hashable, int] = {}  # when each is needed next
        self.furthest: list[tuple[int, int, Hashable]] = []
        self.taken = 0

    def access(self, key: Hashable) -> bool:
        """Whether ``key`` was there."""
        there = key in self.held
        full = not there and len(self.held) == self.capacity
        gone = self.victim(key) if full else None
        if self.first:
            self.future.used(key)
        if full and gone == key:
            return False
        if full:
            self.remove(gone)
        self.held[key] = after = self.future.next(key)
        self.taken += 1
        heapq.heappush(self.furthest, (-after, self.taken, key))
        return there

    def victim(self, coming: Hashable = None) -> Hashable:
        """Who would leave next, which may be ``coming`` itself where it may pass by."""
        first_of(self.held)
        while self.held.get(self.furthest[0][2]) != -self.furthest[0][0]:
            heapq.heappop(self.furthest)  # needed earlier than this entry says
        after, _, key = self.furthest[0]
        if self.bypass and coming is not None:
            # The first tier is asked before the access itself has passed.
            again = self.future.next(coming, after=int(self.first))
            if -after <= again:
                return coming
        return key

    def remove(self, key: Hashable) -> None:
        """Take a key out."""
        if key not in self.held:
            raise absent(key)
        del self.held[key]


def belady_misses(keys: Sequence[Hashable], capacity: int, bypass: bool = True) -> int:
    """Least misses of any policy, of one that must take every key in or need not."""
    whole(capacity=capacity)
    made = Belady(capacity, Future(keys), bypass)
    return sum(not made.access(key) for key in keys)
