"""Small programs in a small instruction set, and what they compute.

An instruction is a tuple. Registers are names, numbers are themselves, a branch goes
to the position of an instruction (``assemble`` works it out from names):

    ("load", "x", "X", "i")        x = X[i]
    ("store", "Y", "i", "x")       Y[i] = x
    ("add", "i", "i", 1)           i = i + 1; also sub, mul, lt, rem
    ("atomic", "S", 0, "x")        S[0] = S[0] + x
    ("branch", "c", 7)             go to instruction 7 if c is not zero
    ("jump", 0), ("halt",)

A thread starts with its number in ``tid`` and the number of threads in ``threads``.
``interpret`` runs one thread after the other and is the reference for every core.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Instruction = tuple[Any, ...]
Memory = dict[str, list[int]]

OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "rem": lambda a, b: a % b,
    "lt": lambda a, b: int(a < b),
}


class ProgramError(ValueError):
    """A program that cannot run; names the instruction."""


@dataclass(frozen=True, slots=True)
class Step:
    """One executed instruction of one thread.

    ``reads`` and ``writes`` are registers, ``address`` is (array, index) of a load,
    store or atomic, and ``taken`` says whether a branch went to its target.
    """

    at: int
    op: str
    reads: tuple[str, ...]
    writes: str
    address: tuple[str, int] | None
    taken: bool


class Thread:
    """Registers and position of one thread; ``step`` executes one instruction."""

    def __init__(self, program: list[Instruction], tid: int, threads: int) -> None:
        self.program, self.at = program, 0
        self.registers = {"tid": tid, "threads": threads}

    @property
    def done(self) -> bool:
        """Whether the next instruction is the last."""
        return self.program[self.at][0] == "halt"

    def value(self, operand: Any) -> int:
        """A register's value, or the number itself."""
        return self.registers[operand] if isinstance(operand, str) else int(operand)

    def step(self, memory: Memory) -> Step:
        """Execute one instruction."""
        line = self.program[self.at]
        try:
            return self._step(line, memory)
        except (KeyError, IndexError, ValueError, TypeError) as wrong:
            fault = f"{type(wrong).__name__}: {wrong}"
            raise ProgramError(f"instruction {self.at} {line!r}: {fault}") from None

    def _step(self, line: Instruction, memory: Memory) -> Step:
        op, at, writes, address, taken = line[0], self.at, "", None, False
        sources: tuple[Any, ...] = ()
        if op in OPERATIONS:
            writes, sources = line[1], line[2:]
            left, right = sources
            self.registers[writes] = OPERATIONS[op](self.value(left), self.value(right))
        elif op == "load":
            writes, sources = line[1], line[3:]
            address = _element(memory, line[2], self.value(line[3]))
            self.registers[writes] = memory[address[0]][address[1]]
        elif op in ("store", "atomic"):
            sources = line[2:]
            address = _element(memory, line[1], self.value(line[2]))
            before = memory[address[0]][address[1]] if op == "atomic" else 0
            memory[address[0]][address[1]] = before + self.value(line[3])
        elif op in ("branch", "jump"):
            sources = line[1:-1]
            taken = op == "jump" or self.value(line[1]) != 0
        else:
            raise ValueError(f"no operation {op!r}")
        self.at = line[-1] if taken else at + 1
        reads = tuple(s for s in sources if isinstance(s, str))
        return Step(at, op, reads, writes, address, taken)


def _element(memory: Memory, array: str, index: int) -> tuple[str, int]:
    if not 0 <= index < len(memory[array]):
        raise IndexError(f"{array}[{index}] of {len(memory[array])}")
    return array, index


def trace(
    program: list[Instruction],
    memory: Memory,
    tid: int = 0,
    threads: int = 1,
    most: int = 10**6,
) -> Iterator[Step]:
    """The instructions one thread executes, in order; ``memory`` is changed."""
    thread = Thread(program, tid, threads)
    for _ in range(most):
        if thread.done:
            return
        yield thread.step(memory)
    # Taken to run for ever.
    raise ProgramError(f"no halt within {most} instructions")


def interpret(program: list[Instruction], memory: Memory, threads: int = 1) -> Memory:
    """What the program leaves in memory, one thread after the other."""
    copy = {name: list(array) for name, array in memory.items()}
    for tid in range(threads):
        for _ in trace(program, copy, tid, threads):
            pass
    return copy


def assemble(text: str) -> list[Instruction]:
    """A program from lines such as ``load x X i``; ``name:`` marks a place."""
    places: dict[str, int] = {}
    listed: list[list[Any]] = []  # words and numbers
    for line in text.split("\n"):
        words = line.split()
        if words and words[0].endswith(":"):
            places[words[0][:-1]] = len(listed)
        elif words:
            listed.append([int(w) if w.lstrip("-").isdigit() else w for w in words])
    for made in listed:
        if made[0] in ("branch", "jump"):
            if made[-1] not in places:
                raise ProgramError(f"{' '.join(made)}: no place {made[-1]!r}")
            made[-1] = places[made[-1]]
    return [tuple(made) for made in listed]


def _loop(n: int, body: str, before: str = "", after: str = "") -> list[Instruction]:
    """``for i in range(tid, n, threads): body``."""
    return assemble(
        f"""
        {before}
        add i tid 0
        again:
        lt more i {n}
        branch more in
        jump out
        in:
        {body}
        add i i threads
        jump again
        out:
        {after}
        halt"""
    )


def saxpy(n: int) -> list[Instruction]:
    """``Y[i] = 3 X[i] + Y[i]``: the same steps for every element."""
    body = "load x X i\n load y Y i\n mul x x 3\n add y y x\n store Y i y"
    return _loop(n, body)


def branchy(n: int, steps: int = 4) -> list[Instruction]:
    """Other steps where X[i] is odd than where it is even."""
    odd, even = "add x x 3\n" * steps, "sub x x 1\n" * steps
    body = f"load x X i\n rem odd x 2\n branch odd odd\n {even} jump both\n odd:\n"
    return _loop(n, body + f"{odd} both:\n store Y i x")


def reduction(n: int) -> list[Instruction]:
    """``S[0] = sum(X)``: a sum in each thread, then one atomic addition each."""
    body = "load x X i\n add sum sum x"
    return _loop(n, body, before="add sum 0 0", after="atomic S 0 sum")


def chase(n: int) -> list[Instruction]:
    """Thread 0 follows ``NEXT`` n times from 0: each load needs the last value."""
    return assemble(
        f"""
        branch tid out
        add p 0 0
        add k 0 0
        again:
        load p NEXT p
        add k k 1
        lt more k {n}
        branch more again
        store S 0 p
        out:
        halt"""
    )


def inputs(n: int, seed: int = 0, line: int = 8) -> Memory:
    """Arrays for the four programs: random X and Y, a ring NEXT, a sum S."""
    if n < 1:
        raise ValueError(f"n = {n}: give one element or more")
    chance = random.Random(seed)
    # The ring visits each cache line once before it returns.
    order: list[int] = list(range(0, n, line))
    chance.shuffle(order)
    order.remove(0)
    ring: list[int] = [0] * n
    for here, there in zip([0, *order], [*order, 0], strict=True):
        ring[here] = there
    x, y = ([chance.randrange(1000) for _ in range(n)] for _ in "xy")
    return {"X": x, "Y": y, "NEXT": ring, "S": [0]}


PROGRAMS: dict[str, Callable[[int], list[Instruction]]] = {
    "saxpy": saxpy,
    "branches on data": branchy,
    "reduction": reduction,
    "pointer chase": chase,
}
