"""The part of a program that decides which addresses its warps ask for.

Whether a sector is in the L2 depends on what every unit asked for before; what a unit
computes with it does not matter. So the blocks beside those that are replayed run a
slice (M. Weiser, *Program slicing*, ICSE 1981): control, global requests, and whatever
those depend on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..vm.program import FIELDS, OP, ORDERS, Program

_OP, _DST, _A, _IMM, _TARGET = (
    FIELDS.index(name) for name in ("op", "dst", "a", "imm", "target")
)
_C = FIELDS.index("c")
_FAR = ("global", "constant")
_MARKS = [OP[name] for name in ("UNSET", "SET", "CHECK", "PAD")]
_WRITES = [OP[name] for name in ("STORE", "STORE_LOCAL", "ATOMIC")]
_LEAVES = [OP[name] for name in ("BREAK", "CONTINUE")]
_READS = [OP[name] for name in ("LOAD", "LOAD_LOCAL", "ATOMIC")]


def addresses_of(program: Program) -> Program | None:
    """The slice of a program; None where its blocks wait for each other."""
    if ORDERS & program.uses:
        return None
    search = searched(program)
    if search.answered():
        return None
    kept: Any = np.array(search.kept)
    at = kept.cumsum() - kept
    rows = program.rows.copy()
    jumps = rows[:, _TARGET] >= 0
    rows[jumps, _TARGET] = at[rows[jumps, _TARGET]]
    kinds = [kind for kind, keep in zip(program.kinds, kept, strict=True) if keep]
    return replace(program, rows=rows[kept], kinds=kinds)


def waits_for_blocks(program: Program) -> bool:
    """Whether loops go round until another block has left something."""
    return searched(program, loops=True).looks()


def searched(program: Program, loops: bool = False) -> _Search:
    search = _Search(program, loops)
    while search.step():
        pass
    return search


def _array(row: Any) -> int:
    """Number of the array that a row reads or writes."""
    if row[_OP] == OP["ATOMIC"]:
        return int(row[_IMM] // 16)
    if row[_OP] == OP["BOUND"]:
        return int(row[_IMM] // 256)
    return int(row[_IMM])


def _operands(row: Any, values: bool) -> list[int]:
    """Registers that a row reads; without ``values`` a store's address only."""
    op = int(row[_OP])
    if op in (OP["LOAD"], OP["LOAD_LOCAL"]):
        return [int(row[_A])]
    if op in (OP["STORE"], OP["STORE_LOCAL"]):
        wide = max(1, int(row[_C])) if op == OP["STORE"] else 1
        first = int(row[_A + 1])
        return [int(row[_A]), *(range(first, first + wide) if values else ())]
    return [int(row[k]) for k in (_A, _A + 1, _A + 2)]


def _results(row: Any) -> range:
    wide = max(1, int(row[_C])) if row[_OP] == OP["LOAD"] else 1
    return range(int(row[_DST]), int(row[_DST]) + wide) if row[_DST] >= 0 else range(0)


class _Search:
    """Which rows matter, until no more do.

    A register matters at a row when a way leads from there to a row that is kept and
    reads it, without one that writes it before. ``loops``: only what the tests of loops
    depend on.
    """

    def __init__(self, program: Program, loops: bool) -> None:
        self.program, self.loops = program, loops
        self.arrays: set[int] = set()
        rows = program.rows.tolist()
        self.rows = rows
        self.kept = [False] * len(rows)
        self.live = [0] * (len(rows) + 1)  # a bit a register, before each row
        self.results = [sum(1 << reg for reg in _results(row)) for row in rows]

    def keeps(self, row: Any, needed: bool) -> bool:
        """Whether a row belongs to the slice, as far as is known."""
        op = int(row[_OP])
        if op in _MARKS:
            return False
        if self.loops:  # only what decides how often they go round
            return op == OP["WHILE"] or needed
        if OP["IF"] <= op <= OP["EXIT"] or op >= OP["BARRIER"]:
            return True
        if op in _READS or op in _WRITES or op == OP["BOUND"]:
            number = _array(row)
            if self.program.arrays[number].space in _FAR or number in self.arrays:
                return True
        return needed

    def step(self) -> bool:
        """Go through all rows from the back; whether more is needed."""
        before, live = len(self.arrays), self.live.copy()
        for n in range(len(self.rows) - 1, -1, -1):
            self._row(n)
        return len(self.arrays) != before or self.live != live

    def _row(self, n: int) -> None:
        row, out = self.rows[n], self.live[n + 1]
        op, target = int(row[_OP]), row[_TARGET]
        if op in _LEAVES:  # the lanes go on behind a loop that the row does not name
            out |= self._anywhere()
        elif target >= 0:
            out |= self.live[target]
        needed = out & self.results[n]
        self.kept[n] = self.keeps(row, bool(needed))
        if not self.kept[n]:
            self.live[n] = out
            return
        if op in _READS and needed:
            self.arrays.add(_array(row))
        values = op not in _WRITES or _array(row) in self.arrays
        reads = (reg for reg in _operands(row, values) if reg >= 0)
        self.live[n] = out & ~self.results[n]
        for reg in reads:
            self.live[n] |= 1 << reg

    def _anywhere(self) -> int:
        every = 0
        for live in self.live:
            every |= live
        return every

    def looks(self) -> bool:
        """Whether an array matters that the kernel itself writes."""
        written = {
            _array(row)
            for row in self.program.rows
            if row[_OP] in (OP["STORE"], OP["ATOMIC"])
        }
        return any(
            row[_OP] in (OP["LOAD"], OP["ATOMIC"])
            and _array(row) in self.arrays & written
            and self.program.arrays[_array(row)].space in _FAR
            for row in self.program.rows
        )

    def answered(self) -> bool:
        """Whether what an atomic on global memory hands back matters: a ticket."""
        return any(
            row[_OP] == OP["ATOMIC"]
            and _array(row) in self.arrays
            and self.program.arrays[_array(row)].space in _FAR
            for row in self.program.rows
        )
