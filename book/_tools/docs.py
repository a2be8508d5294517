"""Public names are documented: what they are, what they take, what they raise.

The public names of a room are its `__all__`. Docstrings are NumPy style, one line
where one suffices; the API page `book/api/<room>.md` must show the room.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from _tools import coverage_map, tree

SECTION = r"^\s*{0}\n\s*-{{3,}}"


def rooms(root: Path = tree.ROOT) -> list[str]:
    """The rooms of `stacklib` that exist, packages and single modules."""
    packages = {p.parent.name for p in (root / "stacklib").glob("*/__init__.py")}
    modules = {p.stem for p in (root / "stacklib").glob("*.py")}
    return sorted(packages | {m for m in modules if not m.startswith("__")})


def faults(root: Path = tree.ROOT) -> list[str]:
    """Everything public that is not documented, or not shown."""
    return [fault for room in rooms(root) for fault in room_faults(room, root)]


def room_faults(room: str, root: Path = tree.ROOT) -> list[str]:
    """The faults of one room."""
    module = importlib.import_module(f"stacklib.{room}")
    found = [] if module.__doc__ else [f"stacklib.{room} has no docstring"]
    if not getattr(module, "__all__", ()):
        found.append(f"stacklib.{room} has no __all__: what is public?")
    found += [f for name, thing in public(module) for f in thing_faults(name, thing)]
    return found + page_faults(room, root)


def page_faults(room: str, root: Path) -> list[str]:
    """Whether the room's API page exists and shows it."""
    page = root / "book" / "api" / f"{room}.md"
    if not page.exists():
        return [f"book/api/{room}.md does not exist; it should show stacklib.{room}"]
    if f"stacklib.{room}" not in page.read_text("utf-8"):
        return [f"book/api/{room}.md does not show stacklib.{room}"]
    return []


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The functions and classes a room offers, those of its public parts too."""
    for name in getattr(module, "__all__", ()):
        full = f"{module.__name__}.{name}"
        thing = coverage_map.resolve(full)
        if inspect.ismodule(thing):
            yield from public(thing)
        elif inspect.isclass(thing) or inspect.isroutine(thing):
            yield full, thing


def public_names(room: str) -> list[str]:
    """Full names of a room's public functions and classes."""
    module = importlib.import_module(f"stacklib.{room}")
    return [name for name, _ in public(module)]


def thing_faults(name: str, thing: Any) -> Iterator[str]:
    """The faults of one public name's docstring."""
    doc = own_doc(thing)
    if not doc:
        yield f"{name} has no docstring"
        return
    if inspect.isclass(thing):
        return
    silent = [p for p in parameters(thing) if not re.search(rf"\b{p}\b", doc)]
    if silent and not says(doc, "Parameters"):
        yield f"{name} takes {', '.join(silent)} and does not say what that is"
    for error in sorted(raises(thing)):
        if error not in doc:
            yield f"{name} raises {error} and does not say so"


def own_doc(thing: Any) -> str:
    """The docstring as written; a dataclass's made-up signature is none."""
    doc = inspect.cleandoc(thing.__doc__ or "")
    made_up = inspect.isclass(thing) and doc.startswith(f"{thing.__name__}(")
    return "" if made_up else doc


def parameters(function: Any) -> list[str]:
    """Names of what a function takes."""
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return []
    return [name for name in names if name not in ("self", "cls")]


def says(doc: str, section: str) -> bool:
    """Whether the docstring has that NumPy section."""
    return bool(re.search(SECTION.format(section), doc, re.M))


def raises(function: Any) -> set[str]:
    """Names of the errors a function's own body raises."""
    try:
        source = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
    except (OSError, TypeError):
        return set()
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            name = ast.unparse(raised).split(".")[-1]
            if name[:1].isupper():
                found.add(name)
    return found
