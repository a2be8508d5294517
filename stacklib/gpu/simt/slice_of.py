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

from ..lang.program import FIELDS, OP, Program

_OP, _DST, _A, _IMM, _TARGET = (
    FIELDS.index(name) for name in ("op", "dst", "a", "imm", "target")
)
_C = FIELDS.index("c")
_FAR = ("global", "constant")
_MARKS = [OP[name] for name in ("UNSET", "SET", "CHECK", "PAD")]
_WRITES = [OP[name] for name in ("STORE", "STORE_LOCAL", "ATOMIC")]
_READS = [OP[name] for name in ("LOAD", "LOAD_LOCAL", "ATOMIC")]
# By these, blocks pass each other values, or what a copy brings is looked at.
_WHOLE = ("FENCE", "GRID_BARRIER", "CLUSTER_BARRIER", "COPY_ASYNC", "BULK_COPY")


def addresses_of(program: Program) -> Program | None:
    """The slice of a program; None where its blocks wait for each other."""
    if set(_WHOLE) & program.uses:
        return None
    search = _Search(program)
    while search.step():
        pass
    if search.answered():
        return None
    kept: Any = np.array(search.kept)
    at = kept.cumsum() - kept
    rows = program.rows.copy()
    jumps = rows[:, _TARGET] >= 0
    rows[jumps, _TARGET] = at[rows[jumps, _TARGET]]
    kinds = [kind for kind, keep in zip(program.kinds, kept, strict=True) if keep]
    return replace(program, rows=rows[kept], kinds=kinds)


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

    Within rows without a branch, a register is needed from where it is written to where
    it is read; across branches, as soon as any stretch reads it first.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.registers: set[int] = set()
        self.arrays: set[int] = set()
        self.kept = [False] * len(program.rows)
        targets = set(program.rows[:, _TARGET].tolist())
        self.ends = [
            n
            for n, op in enumerate(program.rows[:, _OP].tolist())
            if n in targets or OP["IF"] <= op <= OP["EXIT"]
        ]

    def keeps(self, row: Any, live: set[int]) -> bool:
        """Whether a row belongs to the slice, as far as is known."""
        op = int(row[_OP])
        if op in _MARKS:
            return False
        if OP["IF"] <= op <= OP["EXIT"] or op >= OP["BARRIER"]:
            return True
        if op in _READS or op in _WRITES or op == OP["BOUND"]:
            number = _array(row)
            if self.program.arrays[number].space in _FAR or number in self.arrays:
                return True
        return any(reg in live for reg in _results(row))

    def step(self) -> bool:
        """Go through all stretches from the back; whether more is needed."""
        before = len(self.registers), len(self.arrays)
        ends = [*self.ends, len(self.kept)]
        for first, end in zip([0, *self.ends], ends, strict=True):
            self._stretch(first, end)
        return (len(self.registers), len(self.arrays)) != before

    def _stretch(self, first: int, end: int) -> None:
        live = set(self.registers)
        for n in range(end - 1, first - 1, -1):
            row = self.program.rows[n]
            self.kept[n] = self.keeps(row, live)
            if not self.kept[n]:
                continue
            op, results = int(row[_OP]), _results(row)
            if op in _READS and any(reg in live for reg in results):
                self.arrays.add(_array(row))
            live.difference_update(results)
            values = op not in _WRITES or _array(row) in self.arrays
            live.update(r for r in _operands(row, values) if r >= 0)
        self.registers |= live

    def answered(self) -> bool:
        """Whether what an atomic on global memory hands back matters: a ticket."""
        return any(
            row[_OP] == OP["ATOMIC"]
            and _array(row) in self.arrays
            and self.program.arrays[_array(row)].space in _FAR
            for row in self.program.rows
        )
