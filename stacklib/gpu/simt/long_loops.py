"""Long loops of a program, and the same program with shorter ones.

A loop that goes round a thousand times takes, once it is steady, as long for each
round. So the clock runs two that are shorter and goes on from there. Only loops whose
rounds every thread knows beforehand are cut, and of which nothing decides later where
a thread goes or what it asks memory for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..vm.program import FIELDS, OP, Program
from .slice_of import searched

_OP, _DST, _A, _B, _IMM = (FIELDS.index(x) for x in ("op", "dst", "a", "b", "imm"))
_TARGET = FIELDS.index("target")
_LEAVES = [OP[name] for name in ("BREAK", "CONTINUE", "EXIT")]
_OPENS, _CLOSES = (OP["IF"], OP["LOOP"]), (OP["ENDIF"], OP["ENDLOOP"])
SHORT = 32  # rounds of a loop that is never cut
LESS, MORE = 0, 2  # comparisons, as the compiler numbers them


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that a counter ends."""

    first: int  # rows of its LOOP and ENDLOOP
    last: int
    compare: int  # row that tests the counter
    start: int
    step: int
    rounds: int


def long_loops(program: Program, threads: int) -> list[Loop]:
    """The outermost loops that can be cut, but of a short one those within it.

    ``threads``: of the whole launch.
    """
    rows = program.rows.tolist()
    numbers = {reg: n for reg, n, floating in program.constants if not floating}
    search = searched(program)
    found: list[Loop] = []
    for first, row in enumerate(rows):
        inside = bool(found) and first < found[-1].last
        if row[_OP] != OP["LOOP"] or (inside and found[-1].rounds > SHORT):
            continue
        loop = _loop(rows, numbers, first, row[_TARGET], threads)
        if loop is None or (inside and loop.rounds <= SHORT):
            continue
        made = 0
        for n in range(first, loop.last):
            made |= search.results[n]
        if not search.live[loop.last + 1] & made:
            found[len(found) - inside :] = [loop]
    return found


def _loop(
    rows: list[Any], numbers: dict[int, Any], first: int, last: int, threads: int
) -> Loop | None:
    """The loop between two rows, if a counter ends it and nothing else does."""
    inside = range(first + 1, last)
    tests = [n for n in inside if rows[n][_OP] == OP["WHILE"]]
    if not tests or any(rows[n][_OP] in _LEAVES for n in inside):
        return None
    compare = tests[0] - 1
    _, _, held, counter, end, _, how, *_ = rows[compare]
    if rows[compare][_OP] != OP["COMPARE"] or held != rows[tests[0]][_A]:
        return None
    sets = [n for n in inside if rows[n][_DST] == counter]
    before = [n for n in range(first) if rows[n][_DST] == counter]
    if len(sets) != 1 or not before or end not in numbers:
        return None
    added, begun = rows[sets[0]], rows[before[-1]]
    if added[_OP] == OP["MOVE"]:  # of the sum, which has a name of its own
        sums = [n for n in inside if rows[n][_DST] == added[_A]]
        added = rows[sums[0]] if len(sums) == 1 else added
    step, stop = numbers.get(added[_B], 0), numbers[end]
    if added[_OP] != OP["ADD"] or added[_A] != counter or not step:
        return None
    if _depth(rows[first : sets[0]]) != 1 or how != (LESS if step > 0 else MORE):
        return None
    start = numbers.get(begun[_A], 0) if begun[_OP] == OP["MOVE"] else 0
    known = begun[_OP] == OP["MOVE"] and begun[_A] in numbers
    if not known and step != threads:  # a grid that strides over all elements
        return None
    return Loop(first, last, compare, start, step, max(0, -((start - stop) // step)))


def _depth(rows: list[Any]) -> int:
    ops = [row[_OP] for row in rows]
    return sum(op in _OPENS for op in ops) - sum(op in _CLOSES for op in ops)


def shortened(program: Program, loops: list[Loop], share: float) -> Program:
    """The program with that share of the rounds of these loops, one at least."""
    rows, constants = program.rows.copy(), list(program.constants)
    for register, loop in enumerate(loops, program.registers):
        end = loop.start + max(1, round(loop.rounds * share)) * loop.step
        rows[loop.compare, _B] = register
        constants.append((register, end, False))
    registers = program.registers + len(loops)
    return replace(program, rows=rows, constants=constants, registers=registers)
