"""A derivation as text and as JSON: formula, inputs, sources."""

from __future__ import annotations

from typing import Any

from .core import Comparison, Quantity
from .units import format_number

_RANK = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}
_SIGN = {"*": "×", "-": "−"}


def _is_stop(q: Quantity) -> bool:
    """Formulas stop at leaves and at named quantities."""
    return bool(q.label) or not q.inputs


def _operand(q: Quantity, found: list[Quantity], rank: int) -> str:
    if _is_stop(q):
        if not q.label:
            return q.text() if q.shown.symbol else format_number(q.si, 6)
        if all(q is not seen for seen in found):
            found.append(q)
        return q.label
    text, own = _expression(q, found)
    return f"({text})" if own < rank else text


def _expression(q: Quantity, found: list[Quantity]) -> tuple[str, int]:
    """Infix text and its binding strength; named inputs are added to ``found``."""
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
    """Infix formula of a quantity and the named or sourced inputs it stands on."""
    if not q.inputs:
        return "", []
    found: list[Quantity] = []
    text, _ = _expression(q, found)
    return text, found


def tree(q: Quantity) -> dict[str, Any]:
    """Derivation as JSON-able dicts.

    Returns
    -------
    dict
        ``label, text, value, unit, kind, formula, inputs, source``; ``inputs``
        is a list of such dicts, ``source`` a dict or None.
    """
    text, inputs = formula(q)
    source = None
    if q.source:
        names = ("title", "where", "seen", "confidence", "inherited")
        source = {name: getattr(q.source, name) for name in names}
    whole = not q.inputs and q.value == int(q.value)
    return {
        "label": q.label,
        "text": q.text(digits=15 if whole else 4),
        "value": q.value if whole else float(f"{q.value:.6g}"),
        "unit": q.unit,
        "kind": q.kind,
        "formula": text,
        "inputs": [tree(part) for part in inputs],
        "source": source,
    }


def _line(node: dict[str, Any]) -> str:
    tags = " ".join(["", *node["unit"].split()[1:]])
    head = f"{node['label'] or 'value'} = {node['text']}{tags}"
    if node["formula"]:
        return f"{head} = {node['formula']}"
    if node["source"]:
        s = node["source"]
        note = ", inherited" if s["inherited"] else ""
        where = f", {s['where']}" if s["where"] else ""
        return f"{head}  [{s['title']}{where}; {s['confidence']}{note}, {s['seen']}]"
    return f"{head}  [{node['kind']}]"


def explain(q: Quantity) -> str:
    """The derivation of a quantity as an indented tree of text.

    Raises
    ------
    TypeError
        When ``q`` is not a Quantity (a float has forgotten where it came from).
    """
    if not isinstance(q, Quantity):
        raise TypeError(f"explain needs a Quantity, not {q!r}: pass it before float()")
    lines: list[str] = []
    seen: set[str] = set()

    def walk(node: dict[str, Any], lead: str, below: str) -> None:
        line = _line(node)
        if line in seen and node["inputs"]:
            lines.append(f"{lead}{node['label']} = {node['text']}  [as above]")
            return
        seen.add(line)
        lines.append(lead + line)
        for i, child in enumerate(node["inputs"]):
            last = i == len(node["inputs"]) - 1
            walk(child, below + ("└─ " if last else "├─ "),
                 below + ("   " if last else "│  "))  # fmt: skip

    walk(tree(q), "", "")
    return "\n".join(lines)
