"""Blocks of a pool, counted: as many as ``paged_kv.BlockAllocator`` would give.

Nothing has content here. Which tokens a request shares with others is said by its
row: the name of a text and how many of its first tokens. So a block is known by text
and place, or it is a request's own. Freed blocks stay findable until somebody needs
them; the one unused longest leaves first, of a request its last.
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

    A place of a text that loses its block goes to the first tier, whose oldest one goes
    to the next, and what leaves the last is gone. A request that finds places here
    waits for their copy in its first step; its own blocks are read again.

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


class Copy:
    """One block that holds a place of a shared text."""

    __slots__ = ("owners", "place", "text")

    def __init__(self, text: Any, place: int) -> None:
        self.text, self.place, self.owners = text, place, 1


class Held:
    """The blocks of one request: copies of a shared text, then its own.

    ``kept`` counts its own that are findable after it lost its place.
    """

    __slots__ = ("copies", "kept", "named")

    def __init__(self) -> None:
        self.copies: list[Copy] = []
        self.named = 0  # copies that others can find
        self.kept = 0


class Pool:
    """Free blocks and unused ones with content, the latter oldest first.

    - ``blocks``, ``size``: how many, and tokens in each.
    - ``below``: tiers of this replica, if it has any
    """

    def __init__(self, blocks: int, size: int, below: Below | None = None) -> None:
        self.blocks, self.size = blocks, size
        self.below = below
        self.copying = 0  # nanoseconds of copies since somebody asked
        self.empty = blocks
        self.idle: OrderedDict[Any, None] = OrderedDict()  # Copy, or Held with kept
        self.idle_count = 0
        self.texts: dict[tuple[Any, int], list[Copy]] = {}  # the first is found

    @property
    def free(self) -> int:
        """Blocks that a request could have."""
        return self.empty + self.idle_count

    def find(self, text: Any, places: int) -> list[Copy]:
        """Copies of the first places of a text, as far as they are here."""
        found: list[Copy] = []
        for place in range(places):
            copies = self.texts.get((text, place))
            if not copies:
                break
            found.append(copies[0])
        return found

    def admit(
        self, held: Held, text: Any, reach: int, shared: int, tokens: int
    ) -> int | None:
        """Blocks for all tokens; how many tokens were found, or None without room.

        - ``reach``: whole blocks of the text that anybody asks for
        - ``shared``: whole blocks that this request has in common with others
        - ``tokens``: the last of them is never found: somebody has to compute it
        """
        size = self.size
        most = (tokens - 1) // size
        found = self.find(text, min(shared, most)) if shared else []
        idle = [copy for copy in found if not copy.owners]
        first, back = len(found), 0
        if self.below is not None:
            back = self.below.find(text, first, min(shared, most))
        again = held.kept if first + back == min(shared, most) else 0
        again = min(again, most - first - back)
        count = -(-tokens // size) - len(found) - again
        if count > self.empty + self.idle_count - len(idle) - again:
            return None
        for copy in idle:  # out of the way, so that none of them leaves
            del self.idle[copy]
        self.idle_count -= len(idle)
        for copy in found:
            copy.owners += 1
        if self.below is not None and back:  # before others push them out
            self.copying += self.below.fetch(text, first, back)
        self._forget(held, again)
        self.take(count)
        new = min(reach, tokens // size) - len(found)
        held.copies = found + [Copy(text, len(found) + n) for n in range(new)]
        held.named = first
        self.publish(held, (first + back) * size)
        return (first + back + again) * size

    def _forget(self, held: Held, again: int) -> None:
        """What a request had kept is its own again, or empty."""
        if held.kept:
            del self.idle[held]
            self.idle_count -= held.kept
            self.empty += held.kept - again
            held.kept = 0

    def take(self, count: int) -> bool:
        """Blocks without content; False where there are not so many."""
        short = count - self.empty
        if short > 0:
            if short > self.idle_count:
                return False
            self._evict(short)
        self.empty -= count
        return True

    def _evict(self, count: int) -> None:
        """Those unused longest lose their content."""
        self.idle_count -= count
        self.empty += count
        while count:
            oldest = next(iter(self.idle))
            if isinstance(oldest, Copy):
                del self.idle[oldest]
                self._unlist(oldest)
                count -= 1
                continue
            gone = min(count, oldest.kept)
            oldest.kept -= gone
            count -= gone
            if not oldest.kept:
                del self.idle[oldest]

    def _unlist(self, copy: Copy) -> None:
        key = (copy.text, copy.place)
        copies = self.texts[key]
        copies.remove(copy)
        if not copies:
            del self.texts[key]
            if self.below is not None:
                self.below.sink(key)

    def publish(self, held: Held, computed: int) -> None:
        """Make places of the text findable whose tokens are computed."""
        last = min(computed // self.size, len(held.copies))
        for copy in held.copies[held.named : last]:
            copies = self.texts.setdefault((copy.text, copy.place), [])
            if copies and not copies[0].owners:  # one in use is worth more
                unused = copies.pop(0)
                del self.idle[unused]
                self.idle_count -= 1
                self.empty += 1
                copies.insert(0, copy)
            else:
                copies.append(copy)
        held.named = max(held.named, last)

    def name(self, held: Held, text: Any, places: int, computed: int) -> None:
        """What it wrote is the text's, too, as far as others ask for it."""
        places = min(places, computed // self.size)
        held.copies += [Copy(text, n) for n in range(len(held.copies), places)]
        self.publish(held, computed)

    def release(self, held: Held, blocks: int, computed: int) -> None:
        """All blocks of a request back: own ones first, then the text's, last first.

        - ``blocks``: how many it has by now, those of its answer too
        - ``computed``: tokens whose numbers are there, so that full blocks have content
        """
        own = blocks - len(held.copies)
        full = max(0, computed // self.size - len(held.copies))
        if full:
            held.kept = full
            self.idle[held] = None
            self.idle_count += full
        self.empty += own - full
        for place in range(len(held.copies) - 1, -1, -1):
            copy = held.copies[place]
            copy.owners -= 1
            if copy.owners:
                continue
            if place >= held.named:
                self.empty += 1
            elif self.texts[copy.text, copy.place][0] is copy:
                self.idle[copy] = None
                self.idle_count += 1
            else:
                self.texts[copy.text, copy.place].remove(copy)
                self.empty += 1
        held.copies, held.named = [], 0
