"""Who touched an element last: how reads of nothing and races are found.

Two lanes that touch one element, one of them writing, must be ordered: by a barrier of
their block (``sync``), or of their warp (``syncwarp``) if it is the same one. Nothing
orders lanes of different blocks within a launch. Since Volta the lanes of a warp are no
exception (CUDA C++ Programming Guide, *Independent Thread Scheduling*).
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Zero, so that an array of it costs nothing until it is touched.
NOBODY, NONE = 0, -1
LOG = 1 << 22  # reads of an array nobody has written yet that are only listed
# Who read since the last write, as one number: 4 x (its number + 1) + what is numbered.
THREAD, WARP, BLOCK, MANY = range(4)


def _code(number: Any, kind: int) -> Any:
    return 4 * (number + 1) + kind


class Touched:
    """Who did something to each element, compactly: a thread, a warp, a block, many."""

    def __init__(self, size: int) -> None:
        self.who: Any = np.zeros(size, np.int64)
        self.tick: Any = np.zeros(size, np.int64)


class Hazards:
    """The last writer, and the readers since, of every element of an array."""

    def __init__(self, size: int, written: bool, threads: int) -> None:
        self.size, self.threads, self.warps = size, threads, -(-threads // 32)
        self.written: Any = None if written else np.zeros(size, bool)
        self.writer: Any = np.zeros(size, np.int64)  # its number + 1
        self.write_tick: Any = np.zeros(size, np.int64)
        self.readers = Touched(size)
        self.atomics: Touched | None = None  # few arrays ever see one
        # Most arrays are only ever read. Their reads are listed, and gone through when
        # the first write comes.
        self.reads: list[tuple[Any, Any, Any]] | None = []
        self.listed, self.most = 0, LOG

    def unwritten(self, at: Any) -> Any:
        """Whether nobody has written these elements. ``at``: (n,) elements."""
        return np.zeros(len(at), bool) if self.written is None else ~self.written[at]

    def warp(self, thread: Any) -> Any:
        """Warp of threads, both counted over the grid."""
        block = thread // self.threads
        return block * self.warps + (thread - block * self.threads) // 32

    def block(self, thread: Any) -> Any:
        """Block of threads counted over the grid."""
        return thread // self.threads

    def _unordered(self, warp: Any, block: Any, then: Any, me: Any, tick: Any) -> Any:
        """Whether an access by a warp of a block is not ordered before mine.

        A tick counts the barriers passed, those of the block in its upper half.
        """
        ordered = (block == self.block(me)) & (then >> 32 != tick >> 32)
        ordered |= (warp == self.warp(me)) & (then != tick)
        return ~ordered

    def _after_write(self, at: Any, thread: Any, tick: Any) -> Any:
        """Whether another's write is not ordered before this access."""
        other = self.writer[at]
        race = (other != NOBODY) & (other != thread + 1)
        if race.any():
            it, me, now = other[race] - 1, thread[race], tick[race]
            then = self.write_tick[at[race]]
            race[race] = self._unordered(self.warp(it), self.block(it), then, me, now)
        return race

    def _after(self, touched: Touched | None, at: Any, thread: Any, tick: Any) -> Any:
        """Whether what some other did there is not ordered before this access."""
        if touched is None:
            return np.zeros(len(at), bool)
        code = touched.who[at]
        race = (code != NOBODY) & (code != _code(thread, THREAD))
        if race.any():
            it, me, now = code[race], thread[race], tick[race]
            warp, block = self._places(it)
            then = touched.tick[at[race]]
            race[race] = self._unordered(warp, block, then, me, now)
        return race

    def _places(self, code: Any) -> tuple[Any, Any]:
        """Warp and block of readers; NONE where they were of several."""
        kind, number = code % 4, code // 4 - 1
        warp = np.where(kind == THREAD, self.warp(number), NONE)
        warp = np.where(kind == WARP, number, warp)
        block = np.where(kind == THREAD, self.block(number), number // self.warps)
        block = np.where(kind == BLOCK, number, block)
        return warp, np.where(kind == MANY, NONE, block)

    def read(self, at: Any, thread: Any, tick: Any) -> Any:
        """Note reads; True where another's write is not ordered before it.

        ``at``: (n,) elements; ``thread``: (n,) who reads, counted over the grid;
        ``tick``: (n,) barriers that its block (upper half) and its warp have passed.
        """
        if self.reads is not None:
            self.reads.append((at, thread, tick))
            self.listed += len(at)
            if self.listed > self.most:
                self._go_through()
            return np.zeros(len(at), bool)
        return self._read(at, thread, tick)

    def _go_through(self) -> None:
        reads, self.reads = self.reads or [], None
        for each in reads:
            self._read(*each)

    def _read(self, at: Any, thread: Any, tick: Any) -> Any:
        race = self._after_write(at, thread, tick)
        race |= self._after(self.atomics, at, thread, tick)
        self._note(self.readers, at, thread, tick)
        return race

    def _note(self, touched: Touched, at: Any, thread: Any, tick: Any) -> None:
        who = touched.who
        before, mine = who[at], _code(thread, THREAD)
        who[at] = mine
        beaten = who[at] != mine  # others of this very request came later
        if beaten.any():
            who[at[beaten]] = NOBODY  # so that the last one sees it too
        other = (before != NOBODY) & (before != mine)
        if other.any():  # whom a barrier orders before this one no longer matters
            it, me, now = before[other], thread[other], tick[other]
            then = touched.tick[at[other]]
            other[other] = self._unordered(*self._places(it), then, me, now)
            before = np.where(other, before, NOBODY)
        mixed = (who[at] != mine) | other
        if mixed.any():
            self._join(who, at[mixed], before[mixed], thread[mixed])
        touched.tick[at] = tick

    def _join(self, who: Any, at: Any, before: Any, thread: Any) -> None:
        """Note elements that several lanes touched: by warp, by block, or by many."""
        warp, block = self._places(before)
        my_warp, my_block = self.warp(thread), self.block(thread)
        code = np.where(
            (before == NOBODY) | (warp == my_warp),
            _code(my_warp, WARP),
            np.where(block == my_block, _code(my_block, BLOCK), MANY),
        )
        who[at] = code
        lost = who[at] != code  # lanes of this request differ among themselves
        if lost.any():
            who[at[lost]] = _code(my_block[lost], BLOCK)
            now = who[at]
            torn = (now % 4 == BLOCK) & (now != _code(my_block, BLOCK))
            who[at[torn]] = MANY

    def write(self, at: Any, thread: Any, tick: Any) -> Any:
        """Note writes; True where another's access is not ordered before it."""
        if self.reads is not None:
            self._go_through()
        race = self._after_write(at, thread, tick)
        race |= self._after(self.readers, at, thread, tick)
        race |= self._after(self.atomics, at, thread, tick)
        self.writer[at] = thread + 1
        race |= self.writer[at] != thread + 1  # two of this very request
        self.write_tick[at] = tick
        self.readers.who[at] = NOBODY
        if self.atomics is not None:
            self.atomics.who[at] = NOBODY
        if self.written is not None:
            self.written[at] = True
        return race

    def atomic(self, at: Any, thread: Any, tick: Any) -> Any:
        """Note atomics; True where another's read or write is not ordered before it.

        Atomics need no order among themselves.
        """
        if self.reads is not None:
            self._go_through()
        if self.atomics is None:
            self.atomics = Touched(self.size)
        race = self._after_write(at, thread, tick)
        race |= self._after(self.readers, at, thread, tick)
        self._note(self.atomics, at, thread, tick)
        return race
