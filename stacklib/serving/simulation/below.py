"""Tiers below a pool: where places of texts go that lose their block.

A place goes to the first tier, whose oldest one goes to the next, and what leaves the
last is gone. A request that finds places here waits for their copy in its first step. A
request's own blocks are not kept here: it reads again what it lost.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stacklib.quantity.bounds import above_zero, whole

Place = tuple[Any, int]


class Tier(NamedTuple):
    """A tier of a replica.

    - ``blocks``: that it holds; ``rate``: bytes a second back from it
    """

    name: str
    blocks: int
    rate: float


class Below:
    """The tiers of one replica, oldest places first in each.

    - ``tiers``: the nearest first
    - ``size``: bytes of a block
    """

    def __init__(self, tiers: Sequence[Tier], size: float) -> None:
        self.tiers = tiers
        self.times = [round(size / tier.rate * 1e9) for tier in tiers]
        self.held: list[OrderedDict[Place, None]] = [OrderedDict() for _ in tiers]

    def sink(self, place: Place) -> None:
        """A place whose last block in the pool is used anew."""
        for tier, held in zip(self.tiers, self.held, strict=True):
            held[place] = None
            held.move_to_end(place)
            if len(held) <= tier.blocks:
                return
            place, _ = held.popitem(last=False)

    def find(self, text: Any, first: int, last: int) -> int:
        """How many places from the first on are here, one after another."""
        for place in range(first, last):
            if not any((text, place) in held for held in self.held):
                return place - first
        return max(0, last - first)

    def fetch(self, text: Any, first: int, count: int) -> int:
        """Take so many places out; nanoseconds that their copies take."""
        time = 0
        for place in range(first, first + count):
            for held, each in zip(self.held, self.times, strict=True):
                if (text, place) in held:
                    del held[text, place]
                    time += each
                    break
        return time


def tiers_of(given: Mapping[str, Sequence[Any]] | None) -> tuple[Tier, ...]:
    """Tiers as asked for; ValueError for what are none."""
    found = []
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(f"tiers = {given!r}: blocks and bytes a second by name")
    for name, each in (given or {}).items():
        if not isinstance(each, Sequence) or len(each) != 2:
            raise ValueError(
                f"tier {name!r}: {each!r}: its blocks and bytes a second are needed"
            )
        whole(blocks=each[0])
        above_zero(rate=each[1])
        found.append(Tier(name, *each))
    return tuple(found)
