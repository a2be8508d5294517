"""The programs that run at once, and what is kept of what they do.

Programs of a grid run together for as long as they take the same way. Where a
condition parts them, all is undone up to where they began, and each part runs by
itself (`Parting`): programs are not ordered, so every such order is one that a GPU
could have taken.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stacklib.hardware import Accelerator

from ..lang.builder import KernelError
from .work import Work

PATIENCE = 2000  # times that a program may find the same in one word
_HERE = os.path.dirname(os.path.abspath(__file__))


class Parting(Exception):
    """Programs that ran together disagree: which of them go which way."""

    def __init__(self, ways: Any) -> None:
        super().__init__()
        self.ways = ways


@dataclass(frozen=True, slots=True)
class Product:
    """A matrix product of one program: its sizes, and what an instruction needs."""

    form: str  # format of the operands, as `gpu.mma` calls it; fp32, fp64 without cores
    times: int  # matrices in a stack
    m: int
    n: int
    k: int
    size: int  # bytes of an element of an operand
    left: int  # operations that made the operands
    right: int
    by: str  # the instruction; none for ordinary arithmetic


@dataclass(slots=True)
class Op:
    """One operation on a tile, of every program of a batch."""

    kind: str  # of `issue.streams.KINDS`, or dot, reduce, scan, sort, free
    line: int
    elements: int  # of one program's tile
    bits: int  # of an element of its result; 0 for none that stays in registers
    needs: tuple[int, ...]  # earlier operations whose results it takes
    work: Work = ()  # instructions an element, by kind
    request: int = -1  # row of the batch's memory requests
    detail: Any = None


@dataclass(slots=True)
class Batch:
    """Programs that run together."""

    name: str  # of the program
    programs: Any  # (n,) their numbers in the grid
    grid: tuple[int, int, int]
    check: bool
    threads: int  # of a block
    memory: Any  # what `memory.Memory` is
    device: Accelerator
    ops: list[Op] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)  # of memory operations
    undo: list[Callable[[], None]] = field(default_factory=list)
    asked: Any = None  # what the last condition asked of memory, how often running
    times: int = 0
    decided: int = 0  # operations before it

    def __len__(self) -> int:
        return len(self.programs)

    def place(self, axis: int) -> Any:
        """Where the programs are along an axis of the grid."""
        x, y, _ = self.grid
        parts = (self.programs % x, self.programs // x % y, self.programs // (x * y))
        return parts[axis].astype(np.int32)

    def note(
        self,
        kind: str,
        elements: int,
        bits: int,
        needs: tuple[int, ...],
        work: Work = (),
        request: int = -1,
        detail: Any = None,
    ) -> int:
        """Record an operation; its number."""
        wanted = tuple(n for n in needs if n >= 0)
        self.ops.append(Op(kind, line(), elements, bits, wanted, work, request, detail))
        return len(self.ops) - 1

    def put(self, array: Any, at: Any, values: Any) -> None:
        """``array[at] = values``, so that it can be undone while programs may part."""
        if len(self) > 1:
            old = array[at]

            def back() -> None:
                array[at] = old

            self.undo.append(back)
        array[at] = values

    def decide(self, op: int) -> None:
        """Note what a single program's condition rests on; one that waits is named.

        Programs run one after another where they part: what one waits for, no later one
        can write.
        """
        question = self._question(op)
        self.decided = len(self.ops)
        same = question is not None and question == self.asked
        self.times, self.asked = self.times + 1 if same else 0, question
        if question is not None and self.times > PATIENCE:
            where, address, found = question
            raise error(
                f"{where} has given {found} {PATIENCE:,} times: the program waits at "
                f"address {address} for what only a later program could write",
                int(self.programs[0]),
            )

    def _question(self, op: int) -> Any:
        """What was asked of memory for an operation since the last condition."""
        waiting = [op] if len(self) == 1 else []
        while waiting:
            at = waiting.pop()
            if at < self.decided:
                continue
            if self.ops[at].kind.endswith("_global"):
                return self.ops[at].detail
            waiting.extend(self.ops[at].needs)
        return None

    def take_back(self) -> None:
        """Leave memory as it was before this batch."""
        for back in reversed(self.undo):
            back()
        self.undo.clear()


class _Own(threading.local):
    """What this thread runs; another thread has its own."""

    def __init__(self) -> None:
        self.running: list[Batch] = []


_own = _Own()


def batch() -> Batch:
    """The programs that run now."""
    if not _own.running:
        raise TypeError("tiles live in a program: start it with gpu.launch_tiles")
    return _own.running[-1]


def run(now: Batch, body: Callable[[], Any]) -> None:
    """Run a body as these programs."""
    _own.running.append(now)
    try:
        body()
    finally:
        _own.running.pop()


def ours(file: str) -> bool:
    """Whether a file is one of this folder's."""
    return file.startswith(_HERE)


def line() -> int:
    """The line of the reader's source that is running."""
    frame = sys._getframe(1)
    while frame.f_back and ours(frame.f_code.co_filename):
        frame = frame.f_back
    return frame.f_lineno


def error(says: str, program: int | None = None) -> KernelError:
    """What a program may not do, with its line and, where known, its number."""
    now = batch()
    who = "" if program is None else f"; program {place(now, program)}"
    return KernelError(f"{now.name}, line {line()}: {says}{who}")


def place(now: Batch, program: int) -> str:
    """A program's number as ``program_id`` gives it."""
    x, y, z = now.grid
    at = (program % x, program // x % y, program // (x * y))
    used = 3 if z > 1 else 2 if y > 1 else 1
    return str(at[0]) if used == 1 else str(at[:used])


def choose(values: Any) -> Any:
    """The one value all programs have; part them where there are several."""
    first = values.flat[0]
    if values.size > 1 and (values != first).any():
        raise Parting(np.broadcast_to(values, (len(batch()),)))
    return first


def count(shape: tuple[int, ...]) -> int:
    """Elements of a shape."""
    return math.prod(shape)
