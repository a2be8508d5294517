"""A program's operations as the instructions of its warps.

Elements are dealt to the threads evenly. Factors of a matrix product that a loop loads
are copied to shared memory `Build.buffers` turns ahead, as Triton's pipeliner does;
sums along an axis go from a thread's own elements over shuffles to shared memory.
Counts follow what Triton compiles (`work`), the order is the program's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from stacklib.hardware import Accelerator

from ...tensor.peaks import peak_of
from ..machine import Op, Product
from .estimate import WIDE, Build, from_memory, only_multiplied
from .tape import NOTHING, Made, Tape
from .tensor_work import FAMILY, GROUP, chosen, shape_of

WAVE = 128  # bytes that shared memory moves at once
MATRIX_LANES = 4  # threads that share a row of a matrix product's sums
START = 10  # instructions that find out which program it is and where its arrays are


@dataclass(slots=True)
class Writer:
    """Writes one program's tape."""

    ops: Sequence[Op]
    requests: Sequence[Any]  # of its memory operations
    build: Build
    device: Accelerator
    tape: Tape = field(default_factory=Tape)
    made: dict[int, Made] = field(default_factory=dict)
    staged: dict[int, int] = field(default_factory=dict)  # copies under way: events

    @property
    def warps(self) -> int:
        """Warps of the program."""
        return self.build.threads // 32

    def write(self) -> Tape:
        """Every operation in order."""
        self.tape.run("int", START, chain=True)
        data, waiting = from_memory(self.ops), only_multiplied(self.ops)
        ahead = self._ahead(waiting)
        for at, op in enumerate(self.ops):
            needs = tuple(self.made.get(n, NOTHING) for n in op.needs)
            if op.kind == "load_global" and waiting[at]:
                self.made[at] = self._staged(at, op, needs, ahead)
            elif op.kind.endswith("_global"):
                self.made[at] = self._memory(op.kind, op, needs)
            elif op.kind == "dot":
                self.made[at] = self._product(op)
            elif op.kind in ("reduce", "scan", "sort"):
                self.made[at] = self._along(op, needs)
            elif op.kind == "barrier":
                self.tape.barrier(self.warps, op.line)
            elif op.kind == "free":
                self.made[at] = next(iter(needs), NOTHING)
            else:
                self.made[at] = self._each(op, needs, data[at])
        self.tape.run("exit", 1)
        return self.tape

    # -- element by element ----------------------------------------------------

    def _each(self, op: Op, needs: tuple[Made, ...], data: bool) -> Made:
        """An operation on every element; counters count once for sixteen bytes."""
        share = op.elements / self.build.threads
        found = needs
        for kind, times in op.work:
            plain = not data and op.detail != "address"
            times = times / 4 if plain else times
            found = (self.tape.run(kind, share * times, found, op.line),)
        return found[0] if found else NOTHING

    def _along(self, op: Op, needs: tuple[Made, ...]) -> Made:
        """A sum, maximum or running sum along an axis."""
        shape, axis, results = op.detail
        share = max(1.0, op.elements / self.build.threads)
        lanes, across = self._spread(op, shape, axis)
        each = max(1.0, results * lanes * across / self.build.threads)
        if op.kind != "reduce":
            each = share  # every element has a result of its own
        kind = "fp32" if op.bits >= 32 else "fp16"
        last = self.tape.run(kind, max(1.0, share - each), needs, op.line, chain=True)
        for _ in range(int(math.log2(max(1, lanes)))):
            moved = self.tape.run("shuffle", each, (last,), op.line)
            last = self.tape.run(kind, each, (moved, last), op.line)
        return self._between(last, each, across, op, kind) if across > 1 else last

    def _spread(self, op: Op, shape: tuple[int, ...], axis: int) -> tuple[int, int]:
        """Lanes, and warps, that an axis is dealt to."""
        if len(shape) == 2 and axis == 1 and self._of_product(op):
            return min(MATRIX_LANES, shape[1]), 1
        inner = math.prod(shape[axis + 1 :])  # elements that lie nearer
        lanes = max(1, min(32 // min(32, inner), shape[axis]))
        return lanes, max(1, min(self.warps, shape[axis] // (lanes * 4)))

    def _of_product(self, op: Op) -> bool:
        """Whether what is summed stems from a matrix product."""
        seen, waiting = set(), list(op.needs)
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            if self.ops[at].kind == "dot":
                return True
            if self.ops[at].elements >= op.elements:
                waiting.extend(self.ops[at].needs)
        return False

    def _between(self, last: Made, each: float, warps: int, op: Op, kind: str) -> Made:
        """What warps have found, exchanged through shared memory."""
        row = (1, 0, 0, 0, 0)
        for _ in range(2):
            self.tape.run("store_shared", each, (last,), op.line, row=row)
            self.tape.barrier(self.warps, op.line)
            last = self.tape.run("load_shared", each, (), op.line, row=row)
            for _ in range(int(math.log2(warps))):
                moved = self.tape.run("shuffle", each, (last,), op.line)
                last = self.tape.run(kind, each, (moved, last), op.line)
            warps = 1
        return last

    # -- memory ----------------------------------------------------------------

    def _memory(self, kind: str, op: Op, needs: tuple[Made, ...]) -> Made:
        """A load, store or atomic of every warp's elements."""
        count = -(-self.requests[op.request].counts.shape[1] // self.warps)
        if kind == "store_global" and self._of_product(op):
            needs = (self._turned(op, needs),)
        return self.tape.run(kind, count, needs, op.line, memory=op.request)

    def _turned(self, op: Op, needs: tuple[Made, ...]) -> Made:
        """Sums of a product go through shared memory to lie as they are stored."""
        size = op.elements * 4 / self.build.threads
        row = (4, 0, 0, 0, 0)  # 16 bytes a thread
        self.tape.run("store_shared", size / 16, needs, op.line, row=row)
        self.tape.barrier(self.warps, op.line)
        return self.tape.run("load_shared", size / 16, (), op.line, row=row)

    def _ahead(self, waiting: Sequence[bool]) -> dict[int, list[int]]:
        """Loads of a line that a loop repeats: all its turns, by the first."""
        sites: dict[int, list[int]] = {}
        for at, op in enumerate(self.ops):
            if waiting[at]:
                sites.setdefault(op.line, []).append(at)
        pipelined = self.build.stages > 1 and self.build.capability >= 8
        return {
            turn: turns
            for turns in sites.values()
            if len(turns) > 1 and pipelined
            for turn in turns
        }

    def _staged(
        self, at: int, op: Op, needs: tuple[Made, ...], ahead: dict[int, list[int]]
    ) -> Made:
        """A factor of a product on its way to shared memory."""
        if at not in ahead:
            loaded = self._memory("load_global", op, needs)
            size = op.elements * op.bits // 8
            count = size / 16 / self.build.threads
            self.tape.run(
                "store_shared", count, (loaded,), op.line, row=(4, 0, 0, 0, 0)
            )
            self.tape.barrier(self.warps, op.line)
            return NOTHING
        turns = ahead[at]
        here, early = turns.index(at), self.build.stages - 1
        for turn in turns[: here + early + 1]:
            if turn not in self.staged:
                self._copy(turn)
        self.tape.run("wait", 1, (), op.line, wait=self.staged[at])
        return NOTHING

    def _copy(self, at: int) -> None:
        """Copies of one turn's tile, begun."""
        op = self.ops[at]
        count = -(-self.requests[op.request].counts.shape[1] // self.warps)
        self.staged[at] = self.tape.event(self.warps * count)
        self.tape.run(
            "async_copy",
            count,
            (),
            op.line,
            memory=op.request,
            arrive=self.staged[at],
        )

    # -- products ---------------------------------------------------------------

    def _product(self, op: Op) -> Made:
        """Matrix instructions, the sums of one waiting for those before."""
        product = op.detail
        found = chosen(product.form, product.m, self.device, self.warps)
        start = self.made.get(self._sums(op), NOTHING)
        factors = self.made.get(product.left, NOTHING)
        if found is None:
            work = product.times * product.m * product.n * product.k
            count = work / self.build.threads
            sums = max(1, round(count / product.k))
            needs = (start, factors)
            return self.tape.run("fp32", count, needs, op.line, stride=sums)
        m, n, k = shape_of(product, found)
        tiles = -(-product.m // m) * -(-product.n // n) * product.times
        group = GROUP if product.by in WIDE else 1  # warps that share an instruction
        tiles = max(1, round(tiles * group / self.warps))
        count = tiles * -(-product.k // k)
        if product.by not in WIDE:
            factors = self._fragments(product, op.line)
        row = (self._cycles(product, count), 0, 0, 0, 0)
        needs = (start, factors)
        return self.tape.run("mma", count, needs, op.line, row=row, stride=tiles)

    def _sums(self, op: Op) -> int:
        """The operation that made the sums a product is added to; -1 for none."""
        factors = {op.detail.left, op.detail.right}
        return next((n for n in op.needs if n not in factors), -1)

    def _fragments(self, product: Product, line: int) -> Made:
        """Factors read from shared memory into registers, 512 bytes a warp at once."""
        high, wide = product.m, product.n
        for _ in range(int(math.log2(self.warps))):
            high, wide = (high // 2, wide) if high >= wide else (high, wide // 2)
        size = (high + wide) * product.k * product.size * product.times
        row = (4, 0, 0, 0, 0)
        return self.tape.run("load_shared", size / (4 * WAVE), (), line, row=row)

    def _cycles(self, product: Product, count: int) -> int:
        """Cycles of a sub-core's tensor port for one of a warp's instructions."""
        rate = peak_of(self.device, FAMILY.get(product.form, product.form)).macs.si
        share = product.times * product.m * product.n * product.k / self.warps
        return max(1, round(share / count / (rate / 4)))


def tape_of(
    ops: Sequence[Op], requests: Sequence[Any], build: Build, device: Accelerator
) -> Tape:
    """The instructions of a program's warps."""
    return Writer(ops, requests, build, device).write()
