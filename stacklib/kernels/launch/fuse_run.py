"""A fused graph that is run: arrays in a memory that counts what crosses.

The second way to the bytes of ``fuse``: every kernel fetches from ``Recorded`` what it
has not made itself, holds the rest, and puts back what others want. What is counted are
the elements of the arrays that really cross, at the width the graph gives them; the
results can be compared with those of every operation by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .fuse import Fusion
from .op_graph import Op, OpGraph, verify, width


@dataclass
class Recorded:
    """A memory of named arrays that counts the bytes of what crosses."""

    graph: OpGraph
    arrays: dict[str, Any] = field(default_factory=dict)
    read: int = 0
    written: int = 0

    def fetch(self, name: str) -> Any:
        """A whole array."""
        self.read += self.arrays[name].size * width(self.graph.of(name).dtype)
        return self.arrays[name]

    def rows(self, name: str, index: Any) -> Any:
        """Rows of an array, by number."""
        table = self.arrays[name]
        found = table.reshape(-1, table.shape[-1])[index]
        self.read += found.size * width(self.graph.of(name).dtype)
        return found

    def put(self, name: str, array: Any) -> None:
        """Write an array."""
        if array.shape != self.graph.of(name).shape:
            told = self.graph.of(name).shape
            raise ValueError(f"{name!r} came out as {array.shape}: {told} was said")
        self.written += array.size * width(self.graph.of(name).dtype)
        self.arrays[name] = array

    @property
    def moved(self) -> int:
        """Bytes both ways."""
        return self.read + self.written


def execute(graph: OpGraph, fusion: Fusion, given: Mapping[str, Any]) -> Recorded:
    """Run a graph kernel by kernel.

    - ``graph``: OpGraph; whose operations have a ``run``, but for products and gathers.
    - ``fusion``: Fusion; from ``fuse``.
    - ``given``: mapping of str to array; the tensors that no operation makes.
    - gives Recorded: the memory afterwards, with its bytes.
    - raises ``ValueError`` for a given array of another shape, and an operation without
      ``run``.
    """
    ops = {op.output: op for op in verify(graph)}
    memory = Recorded(graph)
    for name, array in given.items():
        memory.put(name, np.asarray(array))
    memory.written = 0
    for kernel in fusion.kernels:
        chip: dict[str, Any] = {}
        for name in kernel:
            chip[name] = _run(ops[name], chip, memory)
        wanted = {
            used for op in ops.values() if op.output not in kernel for used in op.inputs
        } | set(graph.results)
        for name in kernel:
            if name in wanted:
                memory.put(name, chip[name])
    return memory


def _run(op: Op, chip: dict[str, Any], memory: Recorded) -> Any:
    if op.kind == "gather":
        table, index = op.inputs
        if index not in chip:
            chip[index] = memory.fetch(index)
        return memory.rows(table, chip[index])
    for name in op.inputs:
        if name not in chip:
            chip[name] = memory.fetch(name)
    operands = [chip[name] for name in op.inputs]
    if op.kind == "matmul":
        left, right = operands
        return left @ (right.swapaxes(-1, -2) if op.turned else right)
    if op.run is None:
        raise ValueError(f"{op.output!r} has no `run`: it can be counted, not executed")
    return np.asarray(op.run(*operands))
