"""What a compiler would give a program: an estimate of registers and shared memory.

Registers: what is alive at once. A value lives from the operation that makes it to the
last that takes it, spread evenly over the threads; addresses, masks and counters are
taken to be made again where they are needed, and operands of a matrix product wait in
shared memory. Shared memory: the operands of each matrix product, as many times as
tiles are loaded ahead in a loop, which is what Triton's error message of an autotuned
128 x 256 x 64 product in fp16 with three stages asks for, 147,456 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .machine import Op, Product

BASE = 24  # registers of a thread for addresses, counters and arguments
GRAIN = 8  # registers are handed out by so many


@dataclass(frozen=True, slots=True)
class Resources:
    """Estimate of what a program occupies."""

    registers: int  # a thread
    shared_bytes: int  # a program
    alive_line: int  # source line at which most is alive


def last_uses(ops: Sequence[Op]) -> list[int]:
    """The last operation that takes each one's result; itself if none does."""
    last = list(range(len(ops)))
    for at, op in enumerate(ops):
        for need in op.needs:
            last[need] = at
    return last


def only_multiplied(ops: Sequence[Op]) -> list[bool]:
    """Whether a result goes to matrix products alone, as an operand."""
    only = [op.bits > 0 for op in ops]
    used = [False] * len(ops)
    for op in ops:
        operands = (op.detail.left, op.detail.right) if op.kind == "dot" else ()
        for need in op.needs:
            used[need] = True
            only[need] = only[need] and need in operands
    return [a and b for a, b in zip(only, used, strict=True)]


def in_registers(ops: Sequence[Op]) -> list[float]:
    """Bits that each result takes of all threads' registers."""
    waiting = only_multiplied(ops)
    return [
        0.0
        if waiting[at] or op.kind in ("free", "int")
        else float(max(op.bits, 16) * op.elements)
        for at, op in enumerate(ops)
    ]


def registers(ops: Sequence[Op], threads: int) -> tuple[int, int]:
    """Most registers of a thread that are alive at once, and the line where."""
    sizes, last = in_registers(ops), last_uses(ops)
    ends: dict[int, float] = {}
    alive, most, line = 0.0, 0.0, 0
    for at, op in enumerate(ops):
        alive += sizes[at]
        ends[last[at]] = ends.get(last[at], 0.0) + sizes[at]
        if alive > most:
            most, line = alive, op.line
        alive -= ends.pop(at, 0.0)
    needed = BASE + -(-int(most) // (32 * threads))
    return -(-needed // GRAIN) * GRAIN, line


def shared(ops: Sequence[Op], stages: int) -> int:
    """Bytes of the operands of matrix products, buffers of loops included."""
    sites: dict[tuple[int, int], tuple[int, set[int]]] = {}
    for op in ops:
        if op.kind != "dot":
            continue
        for side, need in enumerate((op.detail.left, op.detail.right)):
            size = _bytes(op.detail, side)
            _, makers = sites.setdefault((op.line, side), (size, set()))
            makers.add(need)
    return sum(
        size * (stages if len(makers) > 1 else 1) for size, makers in sites.values()
    )


def _bytes(product: Product, side: int) -> int:
    rows = product.m if side == 0 else product.n
    return rows * product.k * product.size


def resources(ops: Sequence[Op], threads: int, stages: int) -> Resources:
    """The estimate for one program's operations."""
    needed, line = registers(ops, threads)
    return Resources(needed, shared(ops, stages), line)


def larger(a: Resources, b: Resources) -> Resources:
    """What serves both."""
    most = a if a.registers >= b.registers else b
    return Resources(
        most.registers, max(a.shared_bytes, b.shared_bytes), most.alive_line
    )
