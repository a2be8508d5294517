"""Derivations as they are stored in a notebook's output, and read back.

A number is a list of nodes, inputs before what is computed from them, each once. Only
leaves carry values: what was computed is computed again when it is read, so that a
stored text can be held to its own derivation, and a moved spec can be put through it.
Of what a run made six digits are stored: the others are its processor's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .core import Quantity, _fill
from .meeting import Comparison
from .runs import kept
from .source import Source
from .units import parse

Node = dict[str, Any]
_SOURCE = ("title", "where", "seen", "confidence", "inherited")
_RUN: dict[str, Callable[..., float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": lambda a, b: a**b,
    "min": lambda *each: min(each),
    "max": lambda *each: max(each),
    "ceil": math.ceil,
    "log2": math.log2,
    "exp": math.exp,
}
_TEST: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def dump(numbers: Mapping[str, Quantity]) -> tuple[list[Node], dict[str, int]]:
    """The nodes of some numbers, and the index of each number's node."""
    nodes: list[Node] = []
    seen: dict[str, int] = {}  # a node's text -> its index: equal subtrees are one
    known: dict[int, int] = {}

    def visit(q: Any) -> int:
        if id(q) not in known:
            node = _node(q)
            if q.inputs:
                node["inputs"] = [visit(part) for part in q.inputs]
            known[id(q)] = seen.setdefault(repr(node), len(nodes))
            if known[id(q)] == len(nodes):
                nodes.append(node)
        return known[id(q)]

    return nodes, {name: visit(q) for name, q in numbers.items()}


def _node(q: Any) -> Node:
    if isinstance(q, Comparison):
        return {"op": q.op}
    node: Node = {"unit": q.shown.text}
    if q.op and q.op != "counted":
        node["op"] = q.op
        if q.op == "where" and len(q.inputs) == 2:
            node["took"] = int(q.si != q.inputs[0].si)
    else:
        node |= {"kind": q.kind, "si": kept(q)}
    named = {"label": q.label, "key": q.key, "family": q.family, "note": q.note}
    node |= {name: word for name, word in named.items() if word}
    if q.source:
        values = [getattr(q.source, name) for name in _SOURCE]
        node["source"] = values if values[-1] else values[:-1]
    return node


def load(
    nodes: Iterable[Node], moved: Callable[[str, float], float] | None = None
) -> list[Any]:
    """The quantities (and comparisons) of a list of nodes, computed anew."""
    made: list[Any] = []
    for node in nodes:
        inputs = tuple(made[i] for i in node.get("inputs", ()))
        if "unit" not in node:
            holds = _TEST[node["op"]](*(part.si for part in inputs))
            made.append(Comparison(holds, node["op"], inputs))
            continue
        si = node["si"] if "si" in node else _value(node, inputs)
        key = node.get("key", "")
        if moved and key:
            si = moved(key, si)
        source = Source(*node["source"]) if "source" in node else None
        kind = node.get("kind", "computed")
        op = "counted" if kind == "counted" else node.get("op", "")
        made.append(_fill(
            object.__new__(Quantity), si, parse(node["unit"]), node.get("label", ""),
            kind, source, op, inputs, key, node.get("family", ""),
            node.get("note", ""), "",
        ))  # fmt: skip
    return made


def _value(node: Node, inputs: tuple[Any, ...]) -> float:
    if node["op"] != "where":
        return float(_RUN[node["op"]](*(part.si for part in inputs)))
    *test, yes, no = inputs
    second = not test[0].holds if test else node.get("took", 0)
    return float((no if second else yes).si)
