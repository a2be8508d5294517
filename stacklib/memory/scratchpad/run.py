"""A scratchpad that exists: a buffer of fixed size, copies in and out, real arithmetic.

`execute` carries out a plan move by move. Operands are views into the buffer and
nothing else, so a plan that forgets a load computes garbage, or is refused. The bytes
are counted where they are copied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .operations import Program
from .programs import matmul_program, mlp_program
from .spilling import Move, Plan, allocate

Array: TypeAlias = NDArray[Any]
Kernel: TypeAlias = Callable[..., None]


class PlanError(ValueError):
    """A plan that cannot be carried out; names the move or the operand."""


@dataclass(frozen=True, slots=True)
class Execution:
    """What ran."""

    memory: dict[str, Array]
    loaded: int  # bytes copied into the scratchpad
    stored: int  # out of it
    streamed: int  # past it
    plan: Plan  # what was carried out


class _Machine:
    """The buffer, the memory, and what lies where."""

    def __init__(self, capacity: int, memory: Mapping[str, Array]) -> None:
        self.buffer: Array = np.zeros(capacity, np.uint8)
        self.memory = {name: array.copy() for name, array in memory.items()}
        self.held: dict[str, tuple[int, int]] = {}
        self.loaded = self.stored = self.streamed = 0

    def place(self, name: str, offset: int, size: int) -> None:
        """Take room, or refuse to lay a tensor over another."""
        if offset < 0 or offset + size > len(self.buffer):
            raise PlanError(f"{name!r} at {offset}: beyond the buffer")
        for other, (start, length) in self.held.items():
            if offset < start + length and start < offset + size:
                raise PlanError(f"{name!r} at {offset} would lie over {other!r}")
        self.held[name] = offset, size

    def carry_out(self, move: Move, size: int, like: Array) -> None:
        """One move of a plan."""
        name = move.tensor
        if move.kind in ("load", "place"):
            self.place(name, move.offset, size)
        elif self.held.get(name, (None, 0))[0] != move.offset:
            raise PlanError(f"{move.kind} of {name!r}, which is not at {move.offset}")
        if move.kind == "load":
            if name not in self.memory:
                raise PlanError(f"load of {name!r}, which memory does not have")
            self.view(name, like)[...] = self.memory[name]
            self.loaded += size
        elif move.kind == "store":
            self.memory[name] = self.view(name, like).copy()
            self.stored += size
        elif move.kind == "drop":
            offset, length = self.held.pop(name)
            # Left as it is, a missing load could go unseen.
            self.buffer[offset : offset + length] = 0xFF

    def view(self, name: str, like: Array) -> Array:
        """A tensor as it lies in the buffer."""
        if name not in self.held:
            raise PlanError(f"{name!r} is not in the scratchpad")
        offset, size = self.held[name]
        return self.buffer[offset : offset + size].view(like.dtype).reshape(like.shape)


def execute(
    program: Program,
    plan: Plan,
    capacity: int,  # bytes of the buffer
    arrays: Mapping[str, Array],
    kernels: Sequence[Kernel],
) -> Execution:
    """Run a program as planned, in a buffer of ``capacity`` bytes."""
    came = {name: arrays[name] for name in program.inputs}
    machine = _Machine(capacity, came)
    before: dict[int, list[Move]] = {}
    behind: dict[int, list[Move]] = {}
    for move in plan.moves:
        (behind if move.after else before).setdefault(move.op, []).append(move)
    for at, op in enumerate(program.ops):
        for move in before.get(at, ()):
            like = arrays[move.tensor]
            machine.carry_out(move, program.sizes[move.tensor], like)
        operands = []
        for name in op.operands:
            if name in program.streamed:
                # Through a buffer of its own, not kept.
                read = name in op.reads
                source = machine.memory[name] if read else arrays[name]
                operands.append(source.copy() if read else np.empty_like(source))
                machine.streamed += program.sizes[name]
            else:
                operands.append(machine.view(name, arrays[name]))
        kernels[at](*operands)
        for name, array in zip(op.operands, operands, strict=True):
            if name in program.streamed and name in op.writes:
                machine.memory[name] = array
        for move in behind.get(at, ()):
            like = arrays[move.tensor]
            machine.carry_out(move, program.sizes[move.tensor], like)
    return Execution(
        machine.memory, machine.loaded, machine.stored, machine.streamed, plan
    )


def run_matmul(
    x: Array,  # (m, k) operands of one type
    w: Array,
    capacity: int,  # bytes of the scratchpad
    *,
    block_k: int,
    panel_n: int,
    policy: str = "belady",
    snake: bool = False,
) -> tuple[Array, Execution]:
    """A product through a scratchpad, as `matmul_program` lays it out."""
    (m, k), n = x.shape, w.shape[1]
    width = x.dtype.itemsize
    cut = {"block_k": block_k, "panel_n": panel_n, "width": width, "snake": snake}
    program = matmul_program(m, n, k, **cut)
    arrays = {f"x{i}": x[:, i * block_k :][:, :block_k] for i in range(k // block_k)}
    for j in range(n // panel_n):
        panel = w[:, j * panel_n : (j + 1) * panel_n]
        arrays[f"y{j}"] = np.empty((m, panel_n), x.dtype)
        for i in range(k // block_k):
            arrays[f"w{i}.{j}"] = panel[i * block_k : (i + 1) * block_k]
    sums = np.zeros((m, panel_n), x.dtype)

    def step(block: Array, weights: Array, result: Array | None = None) -> None:
        sums[...] += block @ weights
        if result is not None:
            result[...] = sums
            sums[...] = 0

    plan = allocate(program, capacity, policy)
    done = execute(program, plan, capacity, arrays, [step] * len(program.ops))
    panels = [done.memory[f"y{j}"] for j in range(n // panel_n)]
    return np.concatenate(panels, axis=1), done


def run_mlp(
    x: Array,  # (rows, d) operands of one type
    up: Array,
    down: Array,
    capacity: int,  # bytes of the scratchpad
    *,
    block: int,
    policy: str = "belady",
    snake: bool = False,
) -> tuple[Array, Execution]:
    """relu(x up) down through a scratchpad, as `mlp_program` lays it out."""
    (rows, d), hidden = x.shape, up.shape[1]
    program = mlp_program(
        rows, d, hidden, block=block, width=x.dtype.itemsize, snake=snake
    )
    arrays = {"x": x, "y": np.empty((rows, d), x.dtype)}
    for i in range(hidden // block):
        part = slice(i * block, (i + 1) * block)
        arrays[f"h{i}"] = np.empty((rows, block), x.dtype)
        arrays[f"u{i}"], arrays[f"d{i}"] = up[:, part], down[part]

    def make(a: Array, weights: Array, result: Array) -> None:
        np.maximum(a @ weights, 0, out=result)

    def begin(h: Array, weights: Array, result: Array) -> None:
        result[...] = h @ weights

    def gather(h: Array, weights: Array, result: Array) -> None:
        result += h @ weights

    blocks = hidden // block
    kernels: list[Kernel] = [make] * blocks + [begin] + [gather] * (blocks - 1)
    plan = allocate(program, capacity, policy)
    done = execute(program, plan, capacity, arrays, kernels)
    return done.memory["y"], done
