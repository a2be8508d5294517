"""A cache on several tiers of memory: which block is where, what moves, what waits.

Exclusive: a block is in one tier only. What is used comes to the first tier, whose
victim sinks to the second, whose victim sinks further; what the last lets go is lost,
and computed again when it is asked for. So the tiers hold as many blocks as they have
room for together, and under LRU they are one list cut in pieces: an access is served
by the tier in whose piece its reuse distance lies.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from stacklib.memory.cache.replacement import policies
from stacklib.memory.tiers.tier import Tier
from stacklib.quantity import Quantity
from stacklib.quantity.bounds import above_zero, at_least


@dataclass(frozen=True, slots=True)
class Served:
    """What became of a trace, tier by tier, the nearest first.

    Attributes
    ----------
    tiers : tuple of Tier
        As given.
    block : Quantity
        Bytes of a block.
    hits : tuple of int
        Accesses that each tier served.
    misses : int
        Accesses that none did: blocks computed, for the first time or again.
    again : int
        Misses of blocks that had been there before.
    sunk : tuple of int
        Blocks written to each tier by the one above; none to the first.
    dropped : int
        Blocks that found no room in any tier.
    """

    tiers: tuple[Tier, ...]
    block: Quantity
    hits: tuple[int, ...]
    misses: int
    again: int
    sunk: tuple[int, ...]
    dropped: int

    @property
    def accesses(self) -> int:
        """Blocks asked for."""
        return sum(self.hits) + self.misses

    def fetched_bytes(self, tier: int) -> Quantity:
        """Bytes that came up from a tier, which is not the first."""
        return self.hits[self._below(tier)] * self.block

    def sunk_bytes(self, tier: int) -> Quantity:
        """Bytes that went down to a tier, which is not the first."""
        return self.sunk[self._below(tier)] * self.block

    def stall(self, recompute: Any) -> Any:
        """Seconds that accesses wait: for tiers below the first, and for misses.

        One block after another; nobody waits for what sinks.

        ``recompute``: seconds in which a block is computed; floats or quantities.
        """
        at_least(0, recompute=getattr(recompute, "si", recompute))
        total = self.misses * recompute
        exact = isinstance(total, Quantity)
        for tier, hits in list(zip(self.tiers, self.hits, strict=True))[1:]:
            each = fetch_time(tier, self.block)
            total = total + hits * (each if exact else each.si)
        return total

    def _below(self, tier: int) -> int:
        if not 0 < tier < len(self.tiers):
            raise ValueError(f"tier = {tier}: from 1 to {len(self.tiers) - 1}")
        return tier


def fetch_time(tier: Tier, size: Quantity) -> Quantity:
    """Seconds until so many bytes have come up from a tier, alone on its link."""
    return (size / tier.bandwidth + tier.latency).named(f"fetched from {tier.name}")


class TieredCache:
    """Blocks by key on tiers of memory, moved as their policy says.

    Parameters
    ----------
    tiers : sequence of Tier
        The nearest first, as ``memory.tiers.seen.tiers_from`` gives them; each has room
        for as many whole blocks as its capacity holds.
    policy : str
        Who sinks: one of ``memory.cache.replacement.POLICIES``, or ``belady``.
    block : Quantity
        Bytes of a block.
    trace : sequence of hashable
        All accesses to come, in order; ``belady`` must be told.
    cost : callable, optional
        What it costs to compute a key's block, which ``regret`` weighs.

    Raises
    ------
    ValueError
        For no tiers, one without room for a block, or another policy.

    Examples
    --------
    >>> from stacklib.memory.tiers.seen import tiers_from
    >>> from stacklib.quantity import Quantity
    >>> _, hbm, host, *_ = tiers_from("sm")
    >>> cache = TieredCache([hbm, host], "lru", block=Quantity(40, "GB"))
    >>> [cache.access(key) for key in "abca"]  # two fit the first tier
    [2, 2, 2, 1]
    >>> cache.served().sunk
    (0, 2)
    """

    def __init__(
        self,
        tiers: Iterable[Tier],
        policy: str = "lru",
        *,
        block: Quantity,
        trace: Sequence[Hashable] = (),
        cost: Callable[[Hashable], float] | None = None,
    ) -> None:
        self.tiers = tuple(tiers)
        if not isinstance(block, Quantity):
            raise ValueError(f"block = {block!r}: a quantity in bytes is needed")
        self.block = block.to("B")
        above_zero(block=block.si)
        self.rooms = tuple(int(t.capacity.si // block.si) for t in self.tiers)
        for tier, room in zip(self.tiers, self.rooms, strict=True):
            if not room:
                raise ValueError(
                    f"{tier.name} holds {tier.capacity.text()}, no block of "
                    f"{block.text()}: leave it out"
                )
        self._policies = policies(policy, self.rooms, trace, cost)
        self._where: dict[Hashable, int] = {}
        self._used = [0] * len(self.tiers)
        self._hits = [0] * (len(self.tiers) + 1)
        self._sunk = [0] * len(self.tiers)
        self._seen: set[Hashable] = set()
        self._again = self._dropped = 0

    def __len__(self) -> int:
        """Blocks held."""
        return len(self._where)

    def where(self, key: Hashable) -> int | None:
        """The tier that holds a key's block, the first is 0; no use of it."""
        return self._where.get(key)

    def access(self, key: Hashable) -> int:
        """The tier that served a key, one past the last if none did.

        Afterwards its block is in the first tier.
        """
        level = self._where.get(key, len(self.tiers))
        self._hits[level] += 1
        if level == 0:
            self._policies[0].access(key)
            return level
        if level < len(self.tiers):
            self._policies[level].remove(key)
            self._used[level] -= 1
        else:
            self._again += key in self._seen
            self._seen.add(key)
        self._take(key)
        return level

    def run(self, keys: Iterable[Hashable]) -> Served:
        """Access key after key; what became of all so far.

        ``keys``: the trace, or some more of it.
        """
        for key in keys:
            self.access(key)
        return self.served()

    def served(self) -> Served:
        """What became of all accesses so far."""
        *hits, misses = self._hits
        lost = self._again, tuple(self._sunk), self._dropped
        return Served(self.tiers, self.block, tuple(hits), misses, *lost)

    def _take(self, key: Hashable) -> None:
        """Put a block into the first tier, and what leaves it one below."""
        for level, policy in enumerate(self._policies):
            full = self._used[level] == self.rooms[level]
            gone = policy.victim(key) if full else None
            policy.access(key)
            if full and gone == key:  # a tier below the first may let it pass by
                continue
            self._where[key] = level
            self._sunk[level] += level > 0
            if not full:
                self._used[level] += 1
                return
            key = gone
        self._where.pop(key, None)
        self._dropped += 1
