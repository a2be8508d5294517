"""The live figures of the book, found where they are shown, and what one says."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from _tools import coverage_map, tree

from stacklib.evidence import guard
from stacklib.plots import spec as grammar


@dataclass(frozen=True)
class LiveFigure:
    """One ``plots.live(call=..., controls=...)`` of a page."""

    call: str
    controls_of: str
    name: str = field(compare=False)  # of the first page that shows it

    @property
    def module(self) -> str:
        """The module that the reader's browser imports."""
        return self.call.partition(":")[0]

    @cached_property
    def function(self) -> Any:
        """What the browser calls."""
        return coverage_map.resolve(self.call.replace(":", "."))

    @cached_property
    def controls(self) -> list[dict[str, Any]]:
        """Its menus and sliders."""
        found: list[dict[str, Any]] = coverage_map.resolve(self.controls_of)()
        return found


@cache
def figures() -> tuple[LiveFigure, ...]:
    """Every live figure shown by a notebook or by a page that the build writes."""
    found = {one for path in tree.notebooks() for one in _shown(_cells(path))}
    for path in (tree.ROOT / "book" / "_ext").glob("*.py"):
        found.update(_shown([path.read_text("utf-8")]))
    return tuple(sorted(found, key=lambda figure: figure.call))


def _cells(notebook: Path) -> list[str]:
    cells = tree.read_notebook(notebook).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def _shown(sources: list[str]) -> Iterator[LiveFigure]:
    """Cell by cell: a later one may give a name to another module."""
    imported: dict[str, str] = {}
    for body in map(ast.parse, sources):
        imported.update(coverage_map.bindings(body))
        for node in ast.walk(body):
            given = {k.arg: k.value for k in getattr(node, "keywords", ())}
            if isinstance(node, ast.Call) and {"call", "controls"} <= set(given):
                made = given["controls"]
                assert isinstance(made, ast.Call), ast.unparse(made)
                call = ast.literal_eval(given["call"])
                name = ast.literal_eval(given["name"])
                yield LiveFigure(call, coverage_map.dotted(made.func, imported), name)


def values(control: dict[str, Any]) -> list[Any]:
    """What a control can stand at, in its order."""
    return control.get("values") or [value for value, _ in control["options"]]


def ask(
    function: Any, controls: list[dict[str, Any]], **changed: Any
) -> tuple[dict[str, Any], dict[str, str]]:
    """Spec and readouts' texts from the start with changes, drawable and possible."""
    start = {control["name"]: control["value"] for control in controls}
    spec = function(**{**start, **changed})
    grammar.check(spec)
    name = next((f.name for f in figures() if f.function is function), "f")
    assert guard.faults([grammar.guard_entry(spec, name)]) == [], changed
    return spec, {one["name"]: one["text"] for one in spec["readouts"]}
