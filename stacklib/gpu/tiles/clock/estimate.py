"""What a compiler would give a program: an estimate of registers and shared memory.

Registers: what is alive at once. A value lives from the operation that makes it to the
last that takes it, spread evenly over the threads; where an operation takes a value for
the last time, its result takes that value's place. Masks and counters are taken to be
made again where they are needed, a thread keeps one address for the 16 bytes it loads,
and tiles that only a matrix product takes wait in shared memory. Shared memory: those
tiles, as many times as a loop has under way (`buffers`).

Triton 3.7.1 compiles without a GPU; the tests hold this to what it and ``ptxas`` give
the corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..machine import Op, Product

BASE = 16  # registers of a thread for counters and arguments
GRAIN = 8  # registers are handed out by so many
WIDE = ("wgmma.mma_async", "tcgen05.mma")  # they read shared memory themselves
DEEP = 64  # bytes of a factor's row that ``mma.sync`` has in registers at once


@dataclass(frozen=True, slots=True)
class Resources:
    """Estimate of what a program occupies."""

    registers: int  # a thread
    shared_bytes: int  # a program
    alive_line: int  # source line at which most is alive


@dataclass(frozen=True, slots=True)
class Build:
    """How a program is compiled."""

    threads: int  # of a program
    stages: int  # tiles that a loop has under way
    capability: float  # of the device

    def buffers(self, product: Product) -> int:
        """Copies of a tile that a loop loads for a product.

        One is being multiplied while others arrive; ``wgmma`` and ``tcgen05`` are still
        reading one more. Before 8.0 nothing is copied without the threads.
        """
        if self.capability < 8:
            return 1
        return self.stages if product.by in WIDE else max(1, self.stages - 1)


def last_uses(ops: Sequence[Op]) -> list[int]:
    """The last operation that takes each one's result; itself if none does."""
    last = list(range(len(ops)))
    for at, op in enumerate(ops):
        for need in op.needs:
            last[need] = at
    return last


def operands(op: Op) -> tuple[int, ...]:
    """The operations that made the factors of a product."""
    return (op.detail.left, op.detail.right) if op.kind == "dot" else ()


def only_multiplied(ops: Sequence[Op]) -> list[bool]:
    """Whether a loaded tile goes to matrix products alone, as a factor."""
    only = [op.kind == "load_global" for op in ops]
    used = [False] * len(ops)
    for op in ops:
        factors = operands(op)
        for need in op.needs:
            used[need] = True
            only[need] = only[need] and need in factors
    return [a and b for a, b in zip(only, used, strict=True)]


def from_memory(ops: Sequence[Op]) -> list[bool]:
    """Whether a value depends on what was loaded; counters do not."""
    found: list[bool] = []
    for op in ops:
        loaded = op.kind.startswith(("load", "atomic"))
        found.append(loaded or any(found[n] for n in op.needs))
    return found


def in_tensor_memory(ops: Sequence[Op]) -> list[bool]:
    """Whether a product's sums stay in tensor memory until they are converted."""
    stays = [op.kind == "dot" and op.detail.by == "tcgen05.mma" for op in ops]
    for op in ops:
        for need in op.needs:
            stays[need] = stays[need] and op.kind in ("dot", "convert", "free")
    return stays


def in_registers(ops: Sequence[Op]) -> list[int]:
    """Bits that each result takes of all threads' registers."""
    waiting, data = only_multiplied(ops), from_memory(ops)
    elsewhere = in_tensor_memory(ops)
    bits = []
    for at, op in enumerate(ops):
        counted = op.kind != "int" or data[at] or op.detail == "address"
        held = counted and op.bits > 1 and not (waiting[at] or elsewhere[at])
        elements = op.detail[2] if op.kind == "reduce" else op.elements
        bits.append(max(op.bits, 8) * elements if held else 0)
    return bits


def fragments(product: Product, threads: int) -> int:
    """Bits of all threads' registers for the factors of ``mma.sync``.

    Warps share the result out; each holds its rows and columns of both factors, so far
    as `DEEP` bytes along the sum.
    """
    if product.by in WIDE:
        return 0
    high, wide = product.m, product.n
    for _ in range((threads // 32).bit_length() - 1):
        high, wide = (high // 2, wide) if high >= wide else (high, wide // 2)
    deep = min(product.k * product.size, DEEP)
    return 8 * deep * (high + wide) * threads // 32


def registers(ops: Sequence[Op], threads: int) -> tuple[int, int]:
    """Most registers of a thread that are alive at once, and the line where."""
    sizes, last = in_registers(ops), last_uses(ops)
    ends: dict[int, int] = {}
    alive, most, line = 0, 0, 0
    for at, op in enumerate(ops):
        alive += sizes[at] - ends.pop(at, 0)
        more = fragments(op.detail, threads) if op.kind == "dot" else 0
        if alive + more > most:
            most, line = alive + more, op.line
        if last[at] > at:
            ends[last[at]] = ends.get(last[at], 0) + sizes[at]
        else:
            alive -= sizes[at]
    needed = BASE + -(-most // (32 * threads))
    return -(-needed // GRAIN) * GRAIN, line


def shared(ops: Sequence[Op], build: Build) -> int:
    """Bytes of the factors of matrix products, buffers of loops included."""
    sizes: dict[tuple[int, int], tuple[int, int]] = {}
    makers: dict[tuple[int, int], set[int]] = {}
    for op in ops:
        for side, need in enumerate(operands(op)):
            loaded = need >= 0 and ops[need].kind == "load_global"
            if side == 0 and not loaded:
                continue  # a left factor that was calculated stays in registers
            if side == 1 and loaded and need == op.detail.left:
                continue  # one tile on both sides
            rows = op.detail.m if side == 0 else op.detail.n
            site = (ops[need].line if loaded else op.line, side)
            bytes_ = rows * op.detail.k * op.detail.size
            sizes[site] = (bytes_, build.buffers(op.detail))
            makers.setdefault(site, set()).add(need if loaded else -1)
    return sum(
        size * (buffers if len(makers[site]) > 1 else 1)
        for site, (size, buffers) in sizes.items()
    )


def resources(ops: Sequence[Op], build: Build) -> Resources:
    """The estimate for one program's operations."""
    needed, line = registers(ops, build.threads)
    return Resources(needed, shared(ops, build), line)


def larger(a: Resources, b: Resources) -> Resources:
    """What serves both."""
    most = a if a.registers >= b.registers else b
    return Resources(
        most.registers, max(a.shared_bytes, b.shared_bytes), most.alive_line
    )
