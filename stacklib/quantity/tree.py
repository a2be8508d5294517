"""A derivation as text and as JSON: formula, inputs, sources."""

from __future__ import annotations

from typing import Any

from .core import Quantity
from .meeting import Comparison
from .units import format_number

_RANK = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}
_SIGN = {"*": "×", "-": "−"}


def _is_stop(q: Quantity) -> bool:
    """Formulas stop at leaves and at named quantities."""
    return bool(q.label) or not q.inputs


def _add(q: Quantity, found: list[Quantity]) -> None:
    """List an input, unless it is already there under the same name and value."""
    if all((q.label, q.si, q.op) != (x.label, x.si, x.op) for x in found):
        found.append(q)


def _operand(q: Quantity, found: list[Quantity], rank: int) -> str:
    if _is_stop(q):
        if not q.label:
            return q.text() if q.shown.symbol else format_number(q.si, 6)
        _add(q, found)
        return q.label
    text, own = _expression(q, found)
    return f"({text})" if own < rank else text


def _expression(q: Quantity, found: list[Quantity]) -> tuple[str, int]:
    """Infix text and its binding strength; named inputs are added to ``found``."""
    if q.kind == "counted":
        for part in q.inputs:
            _add(part, found)
        return q.note, 9
    if q.op in _RANK:
        a, b = q.inputs
        rank = _RANK[q.op]
        left = _operand(a, found, rank)
        right = _operand(b, found, rank + (q.op in "-/"))
        return f"{left} {_SIGN.get(q.op, q.op)} {right}", rank
    if q.op == "where":
        *test, a, b = q.inputs
        parts = [_operand(x, found, 0) for x in (a, b)]
        condition = _comparison(test[0], found) if test else "the case chosen"
        return f"{parts[0]} if {condition} else {parts[1]}", 0
    inside = ", ".join(_operand(x, found, 0) for x in q.inputs)
    return f"{q.op}({inside})", 9


def _comparison(c: Comparison, found: list[Quantity]) -> str:
    left, right = (_operand(x, found, 0) for x in c.inputs)
    return f"{left} {c.op} {right}"


def formula(q: Quantity) -> tuple[str, list[Quantity]]:
    """Infix formula of a quantity and its named or sourced inputs; none for a leaf."""
    if not q.op:
        return "", []
    found: list[Quantity] = []
    text, _ = _expression(q, found)
    return text, found


def tree(q: Quantity) -> dict[str, Any]:
    """Derivation as JSON-able dicts."""
    text, inputs = formula(q)
    source = None
    if q.source:
        names = ("title", "where", "seen", "confidence", "inherited")
        source = {name: getattr(q.source, name) for name in names}
    whole = not q.inputs and q.value == int(q.value)
    why = {"why": q.note} if q.kind == "assumed" else {}
    return {
        "label": q.label,
        "text": q.text(digits=15 if whole else 4),
        "value": q.value if whole else float(f"{q.value:.6g}"),
        "unit": q.unit,
        "kind": q.kind,
        "formula": text,
        "inputs": [tree(part) for part in inputs],
        "source": source,
        **why,
    }


def _source_text(source: dict[str, Any]) -> str:
    where = f", {source['where']}" if source["where"] else ""
    note = ", inherited" if source["inherited"] else ""
    return f"{source['title']}{where} ({source['confidence']}{note}, {source['seen']})"


def _line(node: dict[str, Any], sources: list[str]) -> str:
    """One node; its source is numbered, and added to ``sources`` when new."""
    tags = " ".join(["", *node["unit"].split()[1:]])
    head = f"{node['label'] or 'value'} = {node['text']}{tags}"
    if node["formula"]:
        return f"{head} = {node['formula']}"
    if not node["source"]:
        reason = f": {node['why']}" if "why" in node else ""
        return f"{head}  ({node['kind']}{reason})"
    text = _source_text(node["source"])
    if text not in sources:
        sources.append(text)
    return f"{head}  [{sources.index(text) + 1}]"


class Derivation(str):
    """A text that a prompt shows as it prints."""

    __slots__ = ()
    __repr__ = str.__str__


def explain(q: Quantity) -> str:
    """The derivation of a quantity as an indented tree of text, sources below.

    Raises
    ------
    TypeError
        When ``q`` is not a Quantity (a float has forgotten where it came from).

    Examples
    --------
    >>> print(explain(Quantity(6, "GB") / Quantity(2, "TB/s", label="bandwidth")))
    value = 3 ms = 6 GB / bandwidth
    └─ bandwidth = 2 TB/s  (bare)
    """
    if not isinstance(q, Quantity):
        raise TypeError(f"explain needs a Quantity, not {q!r}: pass it before float()")
    lines: list[str] = []
    sources: list[str] = []

    def walk(node: dict[str, Any], lead: str, below: str) -> None:
        line = _line(node, sources)
        if any(old.endswith(line) for old in lines) and node["inputs"]:
            lines.append(f"{lead}{node['label']} = {node['text']}  (as above)")
            return
        lines.append(lead + line)
        for i, child in enumerate(node["inputs"]):
            last = i == len(node["inputs"]) - 1
            walk(
                child,
                below + ("└─ " if last else "├─ "),
                below + ("   " if last else "│  "),
            )

    walk(tree(q), "", "")
    notes = [f"[{i}] {text}" for i, text in enumerate(sources, 1)]
    return Derivation("\n".join([*lines, *notes]))
