"""Eviction by expected regret: what the loss of a key will cost, as far as is known.

The regret of letting a key go is the chance that it is used again times what it costs
to have it again. The chance is learned as hit densities are (Beckmann, Chen and Cidon,
*LHD*, NSDI 2018): of keys used as often that were as long unused, how many came back a
step? Weighing it by the cost, and looking at one key of each kind only, is ours.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable

from stacklib.quantity.bounds import above_zero

from .victims import absent, first_of

_KINDS = 4  # uses are told apart up to this many
_REMEMBERED = 4  # times what is held: keys whose uses are known


class History:
    """How often keys came back, by their uses so far and how long they were unused.

    Ages are counted in accesses and told apart by powers of two.
    """

    def __init__(self, capacity: int) -> None:
        self.limit = _REMEMBERED * capacity
        self.now = 0
        self.known: OrderedDict[Hashable, tuple[int, int]] = OrderedDict()
        self.back: defaultdict[tuple[int, int], int] = defaultdict(int)
        self.waited: defaultdict[tuple[int, int], int] = defaultdict(int)

    def used(self, key: Hashable) -> None:
        """One more access, of ``key``."""
        self.now += 1
        uses = 0
        if key in self.known:
            uses, last = self.known.pop(key)
            self._learn(uses, self.now - last, True)
        self.known[key] = min(uses + 1, _KINDS), self.now
        if len(self.known) > self.limit:
            _, (uses, last) = self.known.popitem(last=False)
            self._learn(uses, self.now - last, False)

    def of(self, key: Hashable) -> tuple[int, int]:
        """Uses of a key, up to four, and when it was used last."""
        return self.known.get(key, (1, self.now - self.limit))

    def rate(self, uses: int, age: int) -> float:
        """Share of such keys that come back in a step, over the best time to wait."""
        back, waited, best = 0, 1, 0.0
        for octave in range(age.bit_length(), self.limit.bit_length() + 1):
            back += self.back[uses, octave]
            waited += self.waited[uses, octave]
            best = max(best, back / waited)
        return best

    def _learn(self, uses: int, age: int, came_back: bool) -> None:
        octave = age.bit_length()
        for before in range(1, octave):
            self.waited[uses, before] += 1 << (before - 1)
        self.waited[uses, octave] += age - (1 << (octave - 1)) + 1
        self.back[uses, octave] += came_back


class Regret:
    """Out goes what will be missed least: chance of another use, times its cost.

    Of each kind (uses so far, cost) the key that came first is looked at; the least
    regret leaves, the longest unused among equals.

    - ``cost``: what a miss of a key costs, from few different values; 1 without it;
    - ``history``: shared by the tiers of a cache;
    - ``first``: whether an access here is a use; a tier below may refuse what comes.
    """

    def __init__(
        self,
        capacity: int,
        cost: Callable[[Hashable], float] | None = None,
        history: History | None = None,
        first: bool = True,
    ) -> None:
        self.capacity = capacity
        self.cost = cost
        self.history = history or History(capacity)
        self.first = first
        self.kind: dict[Hashable, tuple[int, float]] = {}
        self.kinds: defaultdict[tuple[int, float], OrderedDict[Hashable, None]]
        self.kinds = defaultdict(OrderedDict)

    def access(self, key: Hashable) -> bool:
        """Whether ``key`` was there."""
        there = key in self.kind
        full = not there and len(self.kind) == self.capacity
        gone = self.victim(key) if full else None
        if self.first:
            self.history.used(key)
        if full and gone == key:
            return False
        if there or full:
            self.remove(key if there else gone)
        self.kind[key] = self._kind(key)
        self.kinds[self.kind[key]][key] = None
        return there

    def regret(self, key: Hashable) -> tuple[float, int]:
        """Expected cost a step of being without a key; and when it was used last."""
        uses, cost = self.kind.get(key) or self._kind(key)
        _, last = self.history.of(key)
        return cost * self.history.rate(uses, self.history.now - last + 1), last

    def victim(self, coming: Hashable = None) -> Hashable:
        """Who would leave next, which below the first tier may be ``coming`` itself."""
        heads = [first_of(keys) for keys in self.kinds.values() if keys]
        if not self.first and coming is not None:
            heads.append(coming)
        first_of(self.kind)
        return min(heads, key=self.regret)

    def remove(self, key: Hashable) -> None:
        """Take a key out; what was learned of it stays."""
        if key not in self.kind:
            raise absent(key)
        kind = self.kind.pop(key)
        del self.kinds[kind][key]
        if not self.kinds[kind]:
            del self.kinds[kind]

    def _kind(self, key: Hashable) -> tuple[int, float]:
        cost = 1.0 if self.cost is None else self.cost(key)
        above_zero(cost=cost)
        return self.history.of(key)[0], float(cost)
