"""Public names are documented, and only they: what they take, return and raise.

Public is what a room offers (its `__all__`) and the open members of its classes; what
an API page shows beyond that is shown with its one sentence. Docstrings are NumPy
style. A parameter that `book/api/parameters.md` explains needs no words of its own, a
return value none that its annotation says.
"""

import ast
import functools
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from _ext.shared_parameters import glossary

from _tools import coverage_map, tree

SECTION = r"^\s*{0}\n\s*-{{3,}}"
# Sections that only a public name has.
LONG = r"(Parameters|Returns|Yields|Raises|Attributes|Examples)"
# Where they are looked for; an exercise's docstring is its question.
FOLDERS = ("stacklib", "book/_ext", "book/_tools", "benchmarks", "tests")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def rooms(root: Path = tree.ROOT) -> list[str]:
    """The rooms of `stacklib` that exist, packages and single modules."""
    packages = {p.parent.name for p in (root / "stacklib").glob("*/__init__.py")}
    modules = {p.stem for p in (root / "stacklib").glob("*.py")}
    return sorted(packages | {m for m in modules if not m.startswith("__")})


def room_of(room: str) -> ModuleType:
    return importlib.import_module(f"stacklib.{room}")


def faults(root: Path = tree.ROOT) -> list[str]:
    """Everything public that is not documented or not shown, and what says too much."""
    short = [fault for room in rooms(root) for fault in room_faults(room, root)]
    return short + wordy(root)


def room_faults(room: str, root: Path = tree.ROOT) -> list[str]:
    """The faults of one room."""
    module = room_of(room)
    found = [] if module.__doc__ else [f"stacklib.{room} has no docstring"]
    if not getattr(module, "__all__", ()):
        found.append(f"stacklib.{room} has no __all__: what is public?")
    found += [f for name, thing in offered(module) for f in thing_faults(name, thing)]
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
    return [name for name, _ in public(room_of(room))]


def offered(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The public names of a room, with the open functions of its classes."""
    for name, thing in public(module):
        yield name, thing
        if inspect.isclass(thing):
            yield from ((f"{name}.{part}", found) for part, found in members(thing))


def members(owner: type) -> Iterator[tuple[str, Any]]:
    """Functions and properties of a class that are ours and have no underscore."""
    ours = [base for base in owner.__mro__ if base.__module__.startswith("stacklib")]
    for name in {name: None for base in ours for name in vars(base) if name[0] != "_"}:
        found = function_of(inspect.getattr_static(owner, name))
        if inspect.isfunction(found):
            yield name, found


def function_of(thing: Any) -> Any:
    """What was written with `def`, behind a property, a cache or a class method."""
    if isinstance(thing, property):
        thing = thing.fget
    elif isinstance(thing, functools.cached_property):
        thing = thing.func
    elif isinstance(thing, (classmethod, staticmethod)):
        thing = thing.__func__
    return inspect.unwrap(thing) if callable(thing) else thing


def places(root: Path = tree.ROOT) -> set[str]:
    """Where all that is public is written: `stacklib.gpu.simt.report.Report.time`."""
    found = [thing for room in rooms(root) for _, thing in offered(room_of(room))]
    written = map(function_of, found)
    return {f"{thing.__module__}.{thing.__qualname__}" for thing in written}


def thing_faults(name: str, thing: Any) -> Iterator[str]:
    """The faults of one public name's docstring."""
    doc = own_doc(thing)
    if not doc:
        yield f"{name} has no docstring"
        return
    if inspect.isclass(thing):
        return
    explained = glossary()
    silent = [
        p
        for p in parameters(thing)
        if p not in explained and not re.search(rf"\b{re.escape(p)}\b", doc)
    ]
    if silent:
        yield f"{name} takes {', '.join(silent)} and does not say what that is"
    if not (says(doc, "Returns") or says(doc, "Yields")) and not returns(thing):
        yield f"{name} has no annotation of what it returns, and no section Returns"
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


def returns(function: Any) -> bool:
    """Whether the signature says what comes back."""
    return "return" in getattr(function, "__annotations__", {})


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


def wordy(root: Path = tree.ROOT, folders: Iterable[str] = FOLDERS) -> list[str]:
    """Sections in docstrings of what is not public, with their places."""
    known = places(root)
    files = [path for folder in folders for path in tree.find(root, folder, "*.py")]
    return [fault for path in files for fault in section_faults(path, known, root)]


def section_faults(path: Path, known: set[str], root: Path) -> Iterator[str]:
    """Names of one file that have sections and stand nowhere among the `known`."""
    parts = path.relative_to(root).with_suffix("").parts
    module = ".".join(parts).removesuffix(".__init__")
    text = path.read_text("utf-8")
    if not re.search(SECTION.format(LONG), text, re.M):
        return  # most files: parsing them all would take the longest
    for name, node in definitions(ast.parse(text)):
        doc = ast.get_docstring(node) or ""
        heading = re.search(SECTION.format(LONG), doc, re.M)
        if heading and f"{module}.{name}" not in known:
            yield (
                f"{tree.name(path, root)}:{node.lineno}: {name} is not public and has "
                f"a section {heading[1]}; one sentence, and the equation if it has one"
            )


def definitions(node: ast.AST, above: str = "") -> Iterator[tuple[str, Any]]:
    """Functions and classes of a tree under the names they have at run time."""
    for child in ast.iter_child_nodes(node):
        name = above
        if isinstance(child, DEFINITIONS):
            yield above + child.name, child
            inner = "." if isinstance(child, ast.ClassDef) else ".<locals>."
            name = above + child.name + inner
        yield from definitions(child, name)
