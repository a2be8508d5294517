"""Loads of neighbours in shared memory become one wide load, as a compiler joins them.

``x[k, c * 8 + i]`` for ``i`` from 0 to 3 is one load of 16 bytes, if the first index is
surely a multiple of four and nothing is stored in between (LLVM's load store vectorizer
does so with loads of one basic block). What a global array's address is a multiple of,
no compiler knows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Set
from typing import Any

from ..vm.program import OP, ArrayUse, Instruction
from .schedule import read, written
from .sums import NOTHING, Sum

BYTES = 16  # a load moves at most
# Instructions between the first and the last: registers are held for so long. Published
# products of matrices with 64 sums between come out as if theirs were not joined.
NEAR = 16
PART = 1  # ``form`` of a check that stands for those of several loads
_CONTROL = range(OP["IF"], OP["EXIT"] + 1)
_MARKS = ("UNSET", "SET", "CHECK")
_MAY_FAIL = ("DIV", "MOD", "POW")


def joined(rows: list[Instruction], arrays: list[ArrayUse], registers: int) -> int:
    """Join what can be joined; registers that the rows use then."""
    found = [
        (block, groups)
        for block in stretches(rows)
        if (groups := list(together(block, arrays)))
    ]
    if not found:
        return registers
    behind: dict[Instruction, list[Instruction]] = {}
    shown, unread, most = exposed(rows), idle(rows), registers
    for block, groups in found:
        joining = Joining(block, arrays, shown, registers, behind)
        most = max(most, joining.all(groups))
    for row in idle(rows) - unread:  # what made the indices of the others
        row.dead = True
    rows[:] = [one for row in rows for one in (row, *behind.get(row, ()))]
    return most


def together(block: list[Instruction], arrays: list[ArrayUse]) -> Iterator[list[int]]:
    """Places of loads that become one, in the order of their addresses."""
    for loads in unstored(block, arrays):
        yield from wide(loads, arrays)


def stretches(rows: list[Instruction]) -> Iterator[list[Instruction]]:
    """Rows that the same lanes run one after the other."""
    block: list[Instruction] = []
    for row in rows:
        if row.dead and row.target is None:
            continue
        if row.dead or apart(row):
            yield block
            block = []
        else:
            block.append(row)
    yield block


def apart(row: Instruction) -> bool:
    """Whether a row is of no stretch: control, or what orders lanes."""
    return OP[row.op] in _CONTROL or OP[row.op] >= OP["BARRIER"]


def exposed(rows: list[Instruction], idle: Set[Instruction] = frozenset()) -> set[int]:
    """Registers that a stretch reads before it writes them, and those with marks.

    ``idle``: rows that do not count.
    """
    found: set[int] = set()
    for row in rows:
        if not row.dead and (apart(row) or row.op in _MARKS):
            found |= {row.dst, row.a, row.b, row.c}
    for block in stretches(rows):
        own: set[int] = set()
        for row in block:
            if row.op not in _MARKS and row not in idle:
                found |= set(read(row)) - own
                own |= set(written(row))
    return found


def idle(rows: list[Instruction]) -> set[Instruction]:
    """Rows whose results nothing reads."""
    found: set[Instruction] = set()
    while True:
        before, shown = len(found), exposed(rows, found)
        for block in stretches(rows):
            found |= unused(block, shown)
        if len(found) == before:
            return found


def unused(block: list[Instruction], shown: set[int]) -> set[Instruction]:
    """Rows of a stretch whose results nothing reads; ``shown``: what others read."""
    live, found = set(shown), set()
    for row in reversed(block):
        if row.op in _MARKS:
            continue
        if is_pure(row) and row.dst not in live:
            found.add(row)
            continue
        live -= set(written(row)) - shown
        live |= set(read(row))
    return found


def is_pure(row: Instruction) -> bool:
    """Whether a row does nothing but compute, and cannot fail."""
    return OP[row.op] <= OP["TEST"] and row.op not in _MAY_FAIL


Load = tuple[int, int, Instruction]  # its place, instructions before it


def unstored(block: list[Instruction], arrays: list[ArrayUse]) -> Iterator[list[Load]]:
    """Loads of shared memory with no store to it among them."""
    found: list[Load] = []
    issued = 0
    for n, row in enumerate(block):
        if row.op == "LOAD" and row.spot is not None:
            found.append((n, issued, row))
        stores = row.op == "STORE" and arrays[row.imm].space == "shared"
        if stores or row.op == "ATOMIC":
            yield found
            found = []
        issued += bool(row.kind)
    yield found


def wide(loads: list[Load], arrays: list[ArrayUse]) -> Iterator[list[int]]:
    """Places of loads that become one, in the order of their addresses."""
    for width in (4, 2):
        left = [
            one for one in loads if 4 <= arrays[one[2].imm].form.size <= BYTES // width
        ]
        for group in filled(left, arrays, width):
            yield [n for n, _, _ in group]
            loads = [one for one in loads if one not in group]


def filled(
    loads: list[Load], arrays: list[ArrayUse], width: int
) -> Iterator[list[Load]]:
    """So many neighbours each, the first surely at a multiple of their number."""
    begun: dict[Any, dict[int, Load]] = {}
    for one in loads:
        row = one[2]
        at = linear(row.spot, arrays[row.imm].shape)
        chunk, slot = divmod(at.plain, width)
        if Sum(at.terms, 0).zeros() < width.bit_length() - 1:
            continue
        key = row.imm, row.spot[:-1], at.terms, chunk
        group = begun.setdefault(key, {})
        if slot in group or any(one[1] - far > NEAR for _, far, _ in group.values()):
            group.clear()
        group[slot] = one
        if len(group) == width:
            yield [begun[key][n] for n in range(width)]
            del begun[key]


def linear(spot: tuple[Sum, ...], shape: tuple[int, ...]) -> Sum:
    """The number of an element in its array."""
    total = NOTHING
    for known, length in zip(spot, shape, strict=True):
        total = NOTHING.plus(total, length).plus(known)
    return total


class Joining:
    """The loads of one stretch."""

    def __init__(
        self,
        block: list[Instruction],
        arrays: list[ArrayUse],
        shown: set[int],
        registers: int,
        behind: dict[Instruction, list[Instruction]],
    ) -> None:
        self._block, self._arrays, self._shown = block, arrays, shown
        self._free, self._behind = registers, behind
        self._reads: dict[int, list[int]] = {}
        self._writes: dict[int, list[int]] = {}
        marks = [row for row in block if row.op in _MARKS]
        self._marked = {reg for row in marks for reg in (row.dst, row.a)}
        for n, row in enumerate(block):
            for reg in read(row):
                self._reads.setdefault(reg, []).append(n)
            for reg in written(row):
                self._writes.setdefault(reg, []).append(n)

    def all(self, groups: list[list[int]]) -> int:
        """Join each; registers that are used then."""
        for group in groups:
            if self._early_is_free(group):
                self._join(group)
        return self._free

    def _join(self, group: list[int]) -> None:
        first, width = self._block[group[0]], len(group)
        for slot, n in enumerate(group):
            self._hand_over(n, self._free + slot)
            if slot:
                for row in (self._block[n], *self._checks(n)):
                    row.dead = True
        self._check(group)
        first.dst, first.c = self._free, width
        first.lines = tuple(self._block[n].line for n in group)
        self._free += width

    def _check(self, group: list[int]) -> None:
        """One check for the neighbours of each line, which a message may name."""
        lines = [self._block[n].line for n in group]
        *_, check = self._checks(group[0])
        reg = check.a if check.op == "BOUND" else check.b
        ends = [s for s, line in enumerate(lines) if lines[s + 1 : s + 2] != [line]]
        more = [
            Instruction("BOUND", PART, a=reg, imm=check.imm + s, line=lines[s])
            for s in ends[1:]
        ]
        check.imm, check.form = check.imm + ends[0], PART
        self._behind.setdefault(check, []).extend(more)

    def _checks(self, n: int) -> list[Instruction]:
        """The rows before a load that check its index."""
        axes = len(self._arrays[self._block[n].imm].shape)
        return self._block[n - axes : n]

    def _early_is_free(self, group: list[int]) -> bool:
        """Whether nothing needs an element before the first of them is loaded."""
        first = group[0]
        for n in group:
            reg = self._block[n].dst
            near = (*self._reads.get(reg, ()), *self._writes.get(reg, ()))
            if n < first and (any(n < m <= first for m in near) or self._is_kept(n)):
                return False
        return True

    def _users(self, n: int) -> tuple[list[int], bool]:
        """Rows that read what a load gives, and whether it lasts to the end."""
        reg = self._block[n].dst
        reads, writes = self._reads.get(reg, []), self._writes[reg]
        at = bisect_left(writes, n + 1)
        end = writes[at] if at < len(writes) else len(self._block)
        return [m for m in reads if n < m <= end], at == len(writes)

    def _is_kept(self, n: int) -> bool:
        """Whether a load's register is known elsewhere by its number."""
        reg = self._block[n].dst
        users, lasts = self._users(n)
        named = any(reg not in self._operands(m) for m in users)
        return named or (reg in self._shown and lasts) or reg in self._marked

    def _operands(self, n: int) -> tuple[int, ...]:
        row = self._block[n]
        wide = row.op == "STORE" and row.c > 0
        return (row.a,) if wide else (row.a, row.b, row.c)

    def _hand_over(self, n: int, reg: int) -> None:
        """What reads an element reads the register that it comes to now."""
        row = self._block[n]
        if self._is_kept(n):
            move = Instruction("MOVE", row.form, row.dst, reg, line=row.line)
            self._behind.setdefault(row, []).append(move)
            return
        for m in self._users(n)[0]:
            user = self._block[m]
            for name in ("a", "b", "c"):
                if getattr(user, name) == row.dst:
                    setattr(user, name, reg)
