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

from collections.abc import Iterable
from dataclasses import dataclass

from stacklib.quantity import resolve

from .op_graph import Op, OpGraph, read_bytes, verify

RULES = ("elementwise", "rows", "gather", "siblings", "online")
KERNELS = ("elementwise", "rows", "gather", "siblings")  # all but online softmax


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

    def seconds(self, bandwidth: float, node: float) -> float:
        """Time of its kernels: bytes at a bandwidth, and a start of ``node`` for each.

        - ``bandwidth``: bytes a second
        - ``node``: seconds, as ``launches.cost("node").si`` has them
        """
        return self.fused_bytes / bandwidth + self.launches * node


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
        ready = [i for i, on in enumerate(needs) if i not in order and on <= {*order}]
        if not ready:
            raise ValueError("kernels that wait for each other")
        order += ready
    return [groups[n] for n in order]


# -- counting ------------------------------------------------------------------------


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
