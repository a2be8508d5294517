"""A graph of operations that a reader edits: tensors, makers and readers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import bytes_per_element, resolve

KINDS = ("elementwise", "reduction", "matmul", "gather", "sort")
INDEX = {"int32": 4, "int64": 8}  # bytes of what gathers go by


@dataclass(frozen=True, slots=True)
class Tensor:
    """An array in memory."""

    shape: tuple[int, ...]
    dtype: str = "bf16"

    @property
    def bytes(self) -> int:
        """Of the whole array."""
        return math.prod(self.shape) * width(self.dtype)


@dataclass(frozen=True, slots=True)
class Op:
    """An operation: what it reads, what it makes, and how to run it."""

    output: str  # the tensor it makes, and its name
    kind: str
    inputs: tuple[str, ...]
    run: Callable[..., Any] | None = None  # of arrays; only `execute` needs it
    turned: bool = False  # a product that reads its right operand as its transpose


@dataclass(frozen=True)
class OpGraph:
    """Tensors by name, the operations on them, and what is wanted of it all."""

    tensors: Mapping[str, Tensor]
    ops: tuple[Op, ...]
    results: tuple[str, ...]

    def of(self, name: str) -> Tensor:
        """A tensor by name; an unknown one suggests the nearest."""
        return self.tensors[resolve(name, self.tensors, "tensor")]


def width(dtype: str) -> int:
    """Bytes of an element; whole ones, as arrays in memory have."""
    return INDEX.get(dtype) or math.ceil(bytes_per_element(dtype).si)


def read_bytes(graph: OpGraph, op: Op, name: str) -> int:
    """Bytes of an input that an operation reads; a gather reads the rows it wants."""
    if op.kind == "gather" and name == op.inputs[0]:
        return math.prod(graph.of(op.output).shape) * width(graph.of(name).dtype)
    return graph.of(name).bytes


# -- what makes sense ----------------------------------------------------------------


def verify(graph: OpGraph) -> list[Op]:
    """The operations in an order in which they can run.

    - raises ``ValueError`` for a cycle, a tensor made twice or by nobody and yet shaped
      wrong, an unknown kind, and shapes that do not meet; it names the operation.
    - raises ``UnknownName`` for an input, output or result that the graph has no tensor
      of.
    """
    makers: dict[str, Op] = {}
    for op in graph.ops:
        resolve(op.kind, KINDS, "kind of operation")
        for name in (op.output, *op.inputs):
            graph.of(name)
        if op.output in makers:
            raise ValueError(f"{op.output!r} is made twice: by two operations")
        makers[op.output] = op
        _check_shapes(graph, op)
    for name in graph.results:
        graph.of(name)
    return _in_order(graph.ops, makers)


def _in_order(ops: Sequence[Op], makers: Mapping[str, Op]) -> list[Op]:
    order: list[Op] = []
    done: set[str] = set()
    while len(order) < len(ops):
        ready = [
            op
            for op in ops
            if op.output not in done
            and all(name in done or name not in makers for name in op.inputs)
        ]
        if not ready:
            left = [op.output for op in ops if op.output not in done]
            raise ValueError(f"a cycle among {', '.join(left)}: each waits for another")
        order += ready
        done |= {op.output for op in ready}
    return order


def _check_shapes(graph: OpGraph, op: Op) -> None:
    shapes = [graph.of(name).shape for name in op.inputs]
    out = graph.of(op.output).shape
    if op.turned and len(shapes) == 2:
        shapes[1] = (*shapes[1][:-2], *shapes[1][:-3:-1])
    needs = {"matmul": 2, "gather": 2, "reduction": 1}.get(op.kind)
    if not shapes or (needs and len(shapes) != needs):
        raise ValueError(f"{op.output!r}: a {op.kind} of {len(shapes)} inputs")
    try:
        made = _MADE[op.kind](shapes, out)
    except ValueError as wrong:
        raise ValueError(f"{op.output!r}, {op.kind} of {shapes}: {wrong}") from None
    if made != out:
        raise ValueError(f"{op.output!r}, {op.kind} of {shapes}: {made}, not {out}")


def _broadcast(shapes: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    out: tuple[int, ...] = ()
    for shape in shapes:
        high = max(len(out), len(shape))
        a = (1,) * (high - len(out)) + out
        b = (1,) * (high - len(shape)) + shape
        if any(m != n and 1 not in (m, n) for m, n in zip(a, b, strict=True)):
            raise ValueError("shapes that do not meet")
        out = tuple(max(m, n) for m, n in zip(a, b, strict=True))
    return out


def _product(shapes: Sequence[tuple[int, ...]], _: Any) -> tuple[int, ...]:
    a, b = shapes
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2]:
        raise ValueError("the inner sizes differ")
    return (*_broadcast((a[:-2], b[:-2])), a[-2], b[-1])


def _reduced(
    shapes: Sequence[tuple[int, ...]], out: tuple[int, ...]
) -> tuple[int, ...]:
    (shape,) = shapes
    if len(shape) == len(out):
        for axis in range(len(shape)):
            made = (*shape[:axis], 1, *shape[axis + 1 :])
            if made == out:
                return made
    raise ValueError("one axis becomes 1, the others stay")


_MADE: dict[str, Callable[[Any, Any], tuple[int, ...]]] = {
    "elementwise": lambda shapes, _: _broadcast(shapes),
    "reduction": _reduced,
    "matmul": _product,
    "gather": lambda shapes, _: (*shapes[1], shapes[0][-1]),
    "sort": lambda _, out: out,  # anything: order, top k, counts
}
