"""The coverage map: every id, where it is shown, and what computes it there.

`book/systems.toml` lists the ids; `book/coverage.toml` maps an id to the notebook,
exercise or page that shows it and the callables that compute it. An entry holds when
the section exists, each callable imports, and the section's code calls it.
"""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _tools import prose, tree

WAYS = ("closed", "simulated", "real")
CODE_FENCES = ("python", "{pyrun}", "{code-cell}")


def systems(root: Path = tree.ROOT) -> dict[str, dict]:
    """Every id with its title and the chapter that owns it."""
    return tree.read_toml(root / "book" / "systems.toml")


def coverage(root: Path = tree.ROOT) -> dict[str, dict]:
    """The ids that are shown so far."""
    return tree.read_toml(root / "book" / "coverage.toml")


def faults(root: Path = tree.ROOT) -> list[str]:
    """What is wrong with any entry of the map."""
    known = systems(root)
    entries = coverage(root).items()
    return [
        f'book/coverage.toml, "{id}": {fault}'
        for id, entry in entries
        for fault in entry_faults(id, entry, known, root)
    ]


def entry_faults(
    id: str, entry: dict, known: dict[str, dict], root: Path = tree.ROOT
) -> Iterator[str]:
    """What is wrong with one entry."""
    if id not in known:
        yield "no such id in book/systems.toml"
    unknown = set(entry) - {"section", "callables", "ways"}
    if unknown:
        yield f"unknown keys {sorted(unknown)}"
    section = root / entry.get("section", "")
    if not section.is_file():
        yield f"section {entry.get('section')!r} does not exist"
        return
    if not entry.get("callables"):
        yield "names no callables"
    called = set(calls(section))
    for name in entry.get("callables", ()):
        yield from callable_faults(name, called, entry["section"])
    yield from way_faults(entry.get("ways", {}))


def callable_faults(name: str, called: set[str], section: str) -> Iterator[str]:
    """Whether a callable imports and is among those called."""
    try:
        thing = resolve(name)
    except (ImportError, AttributeError) as error:
        yield f"callable {name} does not import: {error}"
        return
    if not callable(thing):
        yield f"{name} is a {type(thing).__name__}, nothing to call"
    elif not any(is_same(thing, other) for other in called):
        yield f"{name} is not called in {section}"


def way_faults(ways: dict[str, str]) -> Iterator[str]:
    """Whether each way has a known kind and imports."""
    for kind, name in ways.items():
        if kind not in WAYS:
            yield f"way {kind!r} is not one of {', '.join(WAYS)}"
        try:
            resolve(name)
        except (ImportError, AttributeError) as error:
            yield f"way {kind}: {name} does not import: {error}"


def is_same(thing: Any, name: str) -> bool:
    """Whether a dotted name is this very object, wherever it is exported."""
    try:
        return resolve(name) is thing
    except (ImportError, AttributeError):
        return False


def resolve(name: str) -> Any:
    """The object a dotted name means: `stacklib.roofline.decode_step`."""
    parts = name.split(".")
    thing = importlib.import_module(parts[0])
    for depth, part in enumerate(parts[1:], 2):
        if not hasattr(thing, part):
            importlib.import_module(".".join(parts[:depth]))
        thing = getattr(thing, part)
    return thing


def calls(section: Path) -> Iterator[str]:
    """Dotted names of all that a section's code calls."""
    body = ast.parse(code(section))
    imported = dict(bindings(body))
    for node in ast.walk(body):
        if isinstance(node, ast.Call):
            name = dotted(node.func, imported)
            if name:
                yield name
            # counted(misses, trace, room) calls what it is given
            yield from filter(None, (dotted(given, imported) for given in node.args))
            # plots.live(call="stacklib.pages.roofline.decode.live:explore")
            for keyword in node.keywords:
                value = getattr(keyword.value, "value", None)
                if keyword.arg == "call" and isinstance(value, str):
                    yield value.replace(":", ".")


def code(section: Path) -> str:
    """The Python of a notebook, an exercise or a page's fences."""
    if section.suffix == ".ipynb":
        cells = tree.read_notebook(section).cells
        return "\n".join(c.source for c in cells if c.cell_type == "code")
    if section.suffix == ".py":
        return section.read_text("utf-8")
    fences = prose.FENCE.finditer(section.read_text("utf-8"))
    return "\n".join(f["body"] for f in fences if f["info"].startswith(CODE_FENCES))


def bindings(body: ast.Module) -> Iterator[tuple[str, str]]:
    """What each imported name stands for."""
    for node in ast.walk(body):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                yield alias.asname or top, alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def dotted(node: ast.expr, imported: dict[str, str]) -> str:
    """`roofline.ridge` as `stacklib.roofline.ridge`; empty for anything else."""
    if isinstance(node, ast.Name):
        return imported.get(node.id, "")
    if isinstance(node, ast.Attribute):
        base = dotted(node.value, imported)
        return f"{base}.{node.attr}" if base else ""
    return ""
