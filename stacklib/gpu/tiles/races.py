"""Which program touched an element last: how races between programs are found.

Nothing orders the programs of a grid, except atomics: what a program did before an
atomic on a word is seen by whoever changes that word later with one, and so on from
word to word (Triton's atomics acquire and release unless told otherwise). Only atomics
on a single word order, as a lock or a counter is one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .machine import Batch

NOBODY, MANY = 0, -1  # else: a program's number + 1
LISTED = 1 << 22  # reads of an array nobody has written yet that are only listed


class Order:
    """Atomics on single words, in the order in which they happened."""

    def __init__(self) -> None:
        self.events: list[tuple[int, int]] = []  # program, address
        self.found: dict[tuple[int, int, int], set[int]] = {}

    def note(self, programs: Any, addresses: Any) -> None:
        """Remember an atomic of each program on a word."""
        pairs = zip(programs.tolist(), addresses.tolist(), strict=True)
        self.events.extend(pairs)

    def after(self, program: int, since: int) -> set[int]:
        """Programs that have seen what this one did before its atomics ``since``."""
        key = (program, since, len(self.events))
        if key not in self.found:
            reached, words = {program}, set()
            for who, word in self.events[since:]:
                if word in words:
                    reached.add(who)
                elif who in reached:
                    words.add(word)
            self.found[key] = reached
        return self.found[key]

    def unordered(self, was: Any, since: Any, now: Any) -> Any:
        """Whether accesses by ``was`` are not ordered before ones by ``now``."""
        bad: Any = np.ones(len(was), bool)
        if not self.events:
            return bad
        for pair in np.unique(np.stack([was, since]), axis=1).T.tolist():
            mine = (was == pair[0]) & (since == pair[1])
            seen = [n + 1 for n in self.after(pair[0] - 1, pair[1])]
            bad[mine] = ~np.isin(now[mine], seen) if pair[0] > 0 else True
        return bad


class Touched:
    """Who did one thing to each element, and how many atomics had been seen then."""

    def __init__(self, size: int) -> None:
        self.who: Any = np.zeros(size, np.int32)
        self.since: Any = np.zeros(size, np.int32)

    def clash(self, at: Any, me: Any, order: Order) -> Any:
        """Whether another program's access is not ordered before mine."""
        who = self.who[at]
        race = (who != NOBODY) & (who != me)
        if race.any():
            race[race] = order.unordered(who[race], self.since[at[race]], me[race])
        return race

    def mark(self, now: Batch, at: Any, me: Any, order: Order, shared: bool) -> None:
        """Note accesses; where they may be shared, those of several become MANY."""
        if shared:
            # Whoever comes after me comes after those that are ordered before me.
            me = np.where(self.clash(at, me, order), MANY, me)
        now.put(self.who, at, me.astype(np.int32))
        if shared:
            several = self.who[at] != me
            self.who[at[several]] = MANY
        now.put(self.since, at, np.full(len(at), len(order.events), np.int32))


class Races:
    """The last writer, the readers and the atomics of every element of an array."""

    def __init__(self, size: int, order: Order) -> None:
        self.size, self.order = size, order
        self.writers = self.readers = self.adders = None  # type: Touched | None
        # Most arrays are only ever read. Their reads are listed, and gone through when
        # the first write comes.
        self.listed: list[tuple[Any, Any]] | None = []
        self.count = 0

    def read(self, now: Batch, at: Any, me: Any) -> Any:
        """Note reads, ``at`` (n,) elements by ``me`` (n,) programs + 1; which clash."""
        if self.listed is not None:
            listed = self.listed
            listed.append((at, me))
            now.undo.append(lambda: listed.pop() and None)
            self.count += len(at)
            if self.count > LISTED:
                self._go_through(now)
            return np.zeros(len(at), bool)
        return self._read(now, at, me)

    def _read(self, now: Batch, at: Any, me: Any) -> Any:
        bad = self._clash((self.writers, self.adders), at, me)
        if self.readers is None:
            self.readers = Touched(self.size)
        self.readers.mark(now, at, me, self.order, shared=True)
        return bad

    def write(self, now: Batch, at: Any, me: Any) -> Any:
        """Note writes; which clash with another program's access."""
        self._go_through(now)
        bad = self._clash((self.writers, self.readers, self.adders), at, me)
        if self.writers is None:
            self.writers = Touched(self.size)
        self.writers.mark(now, at, me, self.order, shared=False)
        return bad

    def atomic(self, now: Batch, at: Any, me: Any) -> Any:
        """Note atomics; which clash with another program's plain access."""
        self._go_through(now)
        bad = self._clash((self.writers, self.readers), at, me)
        if self.adders is None:
            self.adders = Touched(self.size)
        self.adders.mark(now, at, me, self.order, shared=True)
        return bad

    def _clash(self, others: tuple[Touched | None, ...], at: Any, me: Any) -> Any:
        bad: Any = np.zeros(len(at), bool)
        for touched in others:
            if touched is not None:
                bad |= touched.clash(at, me, self.order)
        return bad

    def _go_through(self, now: Batch) -> None:
        listed, self.listed = self.listed, None
        if listed is None:
            return

        def back() -> None:
            self.listed = listed

        for at, me in listed:
            self._read(now, at, me)
        now.undo.append(back)
