"""Fusion counted: which edges of an op graph need not go through memory.

Run one by one, every operation reads its inputs from memory and writes its output.
Fused, operations of one kernel hand each other what they hold on the chip, and an edge
inside the kernel costs nothing; a tensor that nobody outside needs is never written.
What may be one kernel is stated as rules, and a reader changes the graph or the rules:

- ``elementwise``: an elementwise operation joins the kernel that makes one of its
  inputs, if both have the same rows;
- ``rows``: a reduction over the last axis joins the kernel that makes its input; not
  one with a product, whose tile holds only part of a row;
- ``gather``: a product joins the gather that makes its left operand: it loads its rows
  through the index;
- ``siblings``: products of one left operand are one kernel, as with joined weights;
- ``online``: a reduction joins a product after all, and a product joins the rows it
  follows, by rescaling what was summed so far (Milakov and Gimelshein, 2018; Dao et
  al., 2022).

A gather's table must be whole before it starts, and so must what is sorted. Each
operand of a product counts once: what tiles read again is the business of tiling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import bytes_per_element, resolve

__all__ = ["Fusion", "KINDS", "Op", "OpGraph", "RULES", "Tensor", "fuse", "verify"]

KINDS = ("elementwise", "reduction", "matmul", "gather", "sort")
RULES = ("elementwise", "rows", "gather", "siblings", "online")
INDEX = {"int32": 4, "int64": 8}  # bytes of what gathers go by
KERNELS = ("elementwise", "rows", "gather", "siblings")  # all but online softmax


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


@dataclass(frozen=True, slots=True)
class Fusion:
    """A graph cut into kernels, and the bytes that cross to memory."""

    kernels: tuple[tuple[str, ...], ...]  # operations, in the order they run
    gone: tuple[tuple[str, str], ...]  # edges that stay on the chip
    unwritten: tuple[str, ...]  # tensors that never reach memory
    unfused_bytes: int
    fused_bytes: int

    @property
    def launches(self) -> int:
        """Kernels to launch."""
        return len(self.kernels)

    @property
    def saved(self) -> float:
        """Share of the bytes that is saved."""
        return 1 - self.fused_bytes / self.unfused_bytes


def width(dtype: str) -> int:
    """Bytes of an element; whole ones, as arrays in memory have."""
    return INDEX.get(dtype) or math.ceil(bytes_per_element(dtype).si)


# -- what makes sense ----------------------------------------------------------------


def verify(graph: OpGraph) -> list[Op]:
    """The operations in an order in which they can run.

    Raises
    ------
    ValueError
        For a cycle, a tensor made twice or by nobody and yet shaped wrong, an unknown
        kind, and shapes that do not meet; it names the operation.
    UnknownName
        For an input, output or result that the graph has no tensor of.
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


# -- fusing --------------------------------------------------------------------------


def fuse(graph: OpGraph, rules: Iterable[str] = KERNELS) -> Fusion:
    """Cut a graph into as few kernels as the rules make of it, first come first.

    Parameters
    ----------
    graph : OpGraph
        Checked by ``verify`` first.
    rules : iterable of str
        Of ``RULES``; none leaves every operation a kernel of its own.

    Returns
    -------
    Fusion
        Kernels, edges gone, bytes before and after.

    Raises
    ------
    ValueError, UnknownName
        As ``verify``; for a rule there is none of.
    """
    allowed = {resolve(rule, RULES, "rule") for rule in rules}
    order = verify(graph)
    groups: list[list[Op]] = []
    for op in order:
        for home in reversed(groups):
            if _may_join(graph, op, home, allowed) and not _circular(groups, home, op):
                home.append(op)
                break
        else:
            groups.append([op])
    return _counted(graph, order, _sorted(groups))


def _may_join(graph: OpGraph, op: Op, home: list[Op], allowed: set[str]) -> bool:
    """Whether some rule lets an operation into a kernel."""
    made = {member.output for member in home}
    products = [member for member in home if member.kind == "matmul"]
    inside = [name for name in op.inputs if name in made]
    out = graph.of(op.output).shape
    if op.kind == "elementwise" and inside and "elementwise" in allowed:
        return any(graph.of(name).shape[:-1] == out[:-1] for name in inside)
    if op.kind == "reduction" and inside:
        along = graph.of(inside[0]).shape[:-1] == out[:-1]
        free = "rows" in allowed and (not products or "online" in allowed)
        return free and (along or not products)
    if op.kind != "matmul":
        return False
    left, right = op.inputs
    if right in made:
        return False  # all of it must be there before the first row
    if products and all(p.inputs[0] == left for p in products):
        return "siblings" in allowed
    if left not in made:
        return False
    gathers = any(m.kind == "gather" for m in home)
    if gathers and all(m.kind in ("gather", "elementwise") for m in home):
        return "gather" in allowed
    softmax = any(m.kind == "reduction" for m in home) and len(products) == 1
    return softmax and "online" in allowed


def _circular(groups: list[list[Op]], home: list[Op], op: Op) -> bool:
    """Whether the kernel would wait for one that waits for it."""
    merged = [[*g, op] if g is home else g for g in groups]
    try:
        _sorted(merged)
    except ValueError:
        return True
    return False


def _sorted(groups: list[list[Op]]) -> list[list[Op]]:
    """Kernels in an order in which they can run."""
    home = {op.output: number for number, g in enumerate(groups) for op in g}
    needs = [
        {home[name] for op in g for name in op.inputs if name in home} - {number}
        for number, g in enumerate(groups)
    ]
    order: list[int] = []
    while len(order) < len(groups):
        ready = [
            n for n in range(len(groups)) if n not in order and needs[n] <= set(order)
        ]
        if not ready:
            raise ValueError("kernels that wait for each other")
        order += ready
    return [groups[n] for n in order]


# -- counting ------------------------------------------------------------------------


def read_bytes(graph: OpGraph, op: Op, name: str) -> int:
    """Bytes of an input that an operation reads; a gather reads the rows it wants."""
    if op.kind == "gather" and name == op.inputs[0]:
        return math.prod(graph.of(op.output).shape) * width(graph.of(name).dtype)
    return graph.of(name).bytes


def _counted(graph: OpGraph, order: list[Op], groups: list[list[Op]]) -> Fusion:
    users: dict[str, list[Op]] = {}
    for op in order:
        for name in op.inputs:
            users.setdefault(name, []).append(op)
    unfused = sum(
        sum(read_bytes(graph, op, name) for name in set(op.inputs))
        + graph.of(op.output).bytes
        for op in order
    )
    gone, unwritten, fused = [], [], 0
    for group in groups:
        made = {op.output for op in group}
        read: dict[str, int] = {}
        for op in group:
            for name in op.inputs:
                if name in made:
                    gone.append((name, op.output))
                else:
                    asked = read_bytes(graph, op, name)
                    read[name] = max(read.get(name, 0), asked)
            inside = users.get(op.output, []) and all(
                user.output in made for user in users[op.output]
            )
            if inside and op.output not in graph.results:
                unwritten.append(op.output)
            else:
                fused += graph.of(op.output).bytes
        fused += sum(read.values())
    kernels = tuple(tuple(op.output for op in group) for group in groups)
    return Fusion(kernels, tuple(gone), tuple(unwritten), unfused, fused)
