"""Outputs of a notebook cell, as `make test` and `make execute` compare them.

Strict nbval, but for what a run made: its numbers are equal where they differ by less
than one part in ten thousand (`stacklib.quantity.runs`), because the width of a vector
unit decides their last digits. A stored text then stands, even where rounding would
turn the last digit that it prints. What no run made is compared to the last character.
The patterns of `tests/book/nbval.cfg` are applied to both sides: of a picture its lines
are held by a digest, and what it says is compared.

As a pytest plugin (`-p _tools.outputs`) this is how nbval compares.
"""

import json
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbval.plugin import IPyNbCell, coalesce_streams, get_sanitize_patterns

from _tools import tree
from _tools.said import Cell, Number
from stacklib.evidence import guard
from stacklib.quantity import Quantity
from stacklib.quantity.runs import alike, ran
from stacklib.quantity.say import MIME as NUMBERS

CONFIG = tree.ROOT / "tests" / "book" / "nbval.cfg"
NOT_COMPARED = {"image/png", "image/jpeg", "application/vnd.jupyter.widget-view+json"}
ERROR = "error"  # of a cell that raised: no mask hides anything of it
SVG = re.compile(r"(?s)<svg\b.*?</svg>")
WORDS = re.compile(r">([^<>]*[^<>\s][^<>]*)<")
TOKEN = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")

Patterns = list[tuple[str, str]]
Pairs = list[tuple[float, float]]


def patterns(config: Path = CONFIG) -> Patterns:
    """The (regex, replacement) pairs of an nbval sanitize file."""
    return get_sanitize_patterns(config.read_text("utf-8"))


def sanitized(value: Any, masks: Patterns) -> str:
    """A value as text, with each mask applied."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    for pattern, replacement in masks:
        text = re.sub(pattern, replacement, text)
    return text


def words(html: str) -> str:
    """What the pictures in a text say, a line each."""
    return "\n".join(told for svg in SVG.findall(html) for told in WORDS.findall(svg))


def comparable(outputs: list[Any]) -> list[dict[str, Any]]:
    """What is compared of a cell's outputs, by kind."""
    seen = []
    for output in coalesce_streams(list(map(NotebookNode, outputs))) or []:
        if output["output_type"] == "stream":
            seen.append({output["name"]: output["text"]})
        if output["output_type"] == "error":
            seen.append({ERROR: f"{output['ename']}: {output['evalue']}"})
        data = output.get("data", {})
        seen.append({mime: data[mime] for mime in sorted(set(data) - NOT_COMPARED)})
    return [part for part in seen if part]


def same(stored: list[Any], fresh: list[Any], masks: Patterns) -> bool:
    """Whether a run found nothing new."""
    return not differences(stored, fresh, masks)


def differences(stored: list[Any], fresh: list[Any], masks: Patterns) -> list[str]:
    """What a run found otherwise than stored; nothing where it may stand."""
    if stored == fresh:
        return []
    old, new = comparable(stored), comparable(fresh)
    if [list(part) for part in old] != [list(part) for part in new]:
        kinds = [[kind for part in side for kind in part] for side in (old, new)]
        return [f"stored is {kinds[0]}, now {kinds[1]}"]
    pairs = zip(old, new, strict=True)
    return [fault for a, b in pairs for fault in _output(a, b, masks)]


def _output(old: dict[str, Any], new: dict[str, Any], masks: Patterns) -> Iterator[str]:
    """Faults of one output, which holds the same kinds on both sides; a text that
    differs is read without what the masks hide.
    """
    pairs: Pairs = []
    if guard.MIME in old:
        yield from _entry(old[guard.MIME], new[guard.MIME], pairs)
    if NUMBERS in old:
        yield from numbers(old[NUMBERS], new[NUMBERS])
    for kind in set(old) - {NUMBERS, guard.MIME}:
        a, b = old[kind], new[kind]
        said = NUMBERS in old and kind == "text/plain"
        if a == b and not said:
            continue
        if kind == "text/html":
            a, b = (f"{sanitized(x, masks)}\n{words(x)}" for x in (a, b))
        elif kind != ERROR:
            a, b = sanitized(a, masks), sanitized(b, masks)
        if said:
            b = _read(b, _lines(new[NUMBERS]), _lines(old[NUMBERS]))
        if a != b and not stands(a, b, pairs):
            yield f"{kind}: {_first(a, b)}"


def _lines(said: dict[str, Any]) -> dict[str, str]:
    """The line that Jupyter prints of each number of a cell."""
    return {name: f"{name} = {one['text']}" for name, one in said["numbers"].items()}


def _read(text: str, new: dict[str, str], old: dict[str, str]) -> str:
    """What a cell prints now, as it reads where the stored texts stand."""
    stored = {line: old.get(name, line) for name, line in new.items()}
    return "\n".join(stored.get(line, line) for line in text.split("\n"))


def _first(a: str, b: str) -> str:
    """The first lines that differ."""
    sides = zip_longest(a.splitlines(), b.splitlines())
    old, new = next(((x, y) for x, y in sides if x != y), (a, b))
    return f"stored {old!r}, now {new!r}"


def stands(old: str, new: str, pairs: Pairs) -> bool:
    """Whether texts differ only where two runs made one number and rounded it apart.

    `pairs` are the numbers of runs that the output registers, stored and now: half way
    between two printed texts lies what rounds to either, and so between the runs.
    """
    if TOKEN.sub("#", old) != TOKEN.sub("#", new):
        return False
    return all(
        a == b or any(_apart(_float(a), _float(b), *pair) for pair in pairs)
        for a, b in zip(TOKEN.findall(old), TOKEN.findall(new), strict=True)
    )


def _apart(text: float, other: float, x: float, y: float) -> bool:
    low, high = sorted((abs(x), abs(y)))
    slack = 1e-12 * high
    return low < high and low - slack <= (text + other) / 2 <= high + slack


def _float(token: str) -> float:
    return float(token.replace(",", ""))


def numbers(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """Faults of what a cell said: texts, derivations, files."""
    if old == new:
        return
    before, now = Cell("stored", old), Cell("now", new)
    for a, b in zip_longest(before.nodes, now.nodes, fillvalue={}):
        if a != b and not _derived(a, b):
            yield f"derivation: stored {a}, now {b}"
            return  # what follows stands on it
    for i, node in enumerate(before.nodes):
        a, b = before.quantities[i], now.quantities[i]
        if "si" in node and not _one(a, b):
            yield f"{node.get('label')!r}: stored {a.value!r}, now {b.value!r}"
    heads = [
        (side["files"], {n: _without(v, "text") for n, v in side["numbers"].items()})
        for side in (old, new)
    ]
    if heads[0] != heads[1]:
        yield f"said: stored {heads[0]}, now {heads[1]}"
        return
    for name in old["numbers"]:
        c, d = Number(name, before), Number(name, now)
        texts = {d.text, c.printed(c.quantity)}
        # A small difference of large numbers may be another, but prints the same.
        one = _one(c.quantity, d.quantity) or (ran(c.quantity) and len(texts) == 1)
        if c.text not in texts or not one:
            yield f"{name}: stored {c.text!r}, now {d.text!r}"


def _one(a: Quantity, b: Quantity) -> bool:
    """Whether two runs made one number; what no run made is equal or is not."""
    return a.si == b.si or (ran(a) and alike(a.value, b.value))


def _derived(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two nodes differ at most in a value and in a call's numbers."""
    return _without(a, "si", "note") == _without(b, "si", "note") and _call(a, b)


def _call(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two leaves name one reason, or one call of a run: its arguments, too,
    may be numbers that a run made."""
    old, new = a.get("note", ""), b.get("note", "")
    made = a.get("kind") == "counted" and TOKEN.sub("#", old) == TOKEN.sub("#", new)
    tokens = zip(TOKEN.findall(old), TOKEN.findall(new), strict=False)
    return old == new or (made and all(alike(_float(x), _float(y)) for x, y in tokens))


def _without(of: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {name: value for name, value in of.items() if name not in keys}


def _entry(old: dict[str, Any], new: dict[str, Any], pairs: Pairs) -> Iterator[str]:
    """Faults of what the guard was told; `pairs` gets the numbers that a run made."""
    heads = [{**e, "rows": list(map(_row_head, e["rows"]))} for e in (old, new)]
    if heads[0] != heads[1]:
        yield f"guard: stored {heads[0]}, now {heads[1]}"
        return
    for a, b in zip(old["rows"], new["rows"], strict=True):
        for column, (value, *about) in a["values"].items():
            now, run = b["values"][column][0], about[-1].endswith(guard.RUN)
            x, y = (v if isinstance(v, list) else [v] for v in (value, now))
            run = run and len(x) == len(y)
            pairs += zip(x, y, strict=True) if run else ()
            if x != y and not (run and all(map(alike, x, y))):
                yield f"row {a['row']}, column {column}: stored {value}, now {now}"


def _row_head(row: dict[str, Any]) -> dict[str, Any]:
    """A row without its numbers."""
    cells = {column: about for column, (_, *about) in row["values"].items()}
    return {**row, "values": cells}


def _compare(cell: IPyNbCell, test: list[Any], ref: list[Any], *_: Any) -> bool:
    """nbval's comparison of a cell, by `differences`."""
    masks = list(cell.parent.sanitize_patterns.items())
    cell.comparison_traceback = differences(ref, test, masks)
    return not cell.comparison_traceback


def pytest_configure() -> None:
    """Let nbval compare as `make execute` does."""
    IPyNbCell.compare_outputs = _compare
