"""What an answer may lean on: Python, NumPy, data, and not what it is asked to write.

Of ``stacklib`` an answer may use the rooms of data and units, and what the book's own
answer imports. All else holds the answer: a call of ``gpu.occupancy`` counts no warps.
The rule is read from the text, so that it names the line; code that hides what it
imports is not what it is for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from functools import lru_cache

from stacklib.grading.format import Text
from stacklib.grading.view import IMPORTS, bound

DATA = ("stacklib.hardware", "stacklib.models", "stacklib.quantity")
DOTTED = re.compile(r"stacklib(\.\w+)+")


def borrowed(reader: Text, book: Text) -> tuple[str, int] | None:
    """A message and a line where an answer leans on what it is asked to write.

    None where it does not, and for a text that is not Python yet.
    """
    try:
        tree = ast.parse(reader.head + reader.answer)
    except SyntaxError:
        return None
    free = paths(book.head + book.answer)
    for path, line in used(tree):
        if not allowed(path, free):
            return (
                f"{path} is not for this answer: it asks you to write that yourself. "
                "Of stacklib, hardware, models and quantity may be used"
                + "".join(f", and {p}" for p in sorted(free) if not allowed(p, set())),
                line,
            )
    return None


@lru_cache(maxsize=8)  # many answers of one exercise are graded in a row
def paths(source: str) -> frozenset[str]:
    """What of stacklib a text uses."""
    return frozenset(path for path, _ in used(ast.parse(source)))


def allowed(path: str, free: Set[str]) -> bool:
    """Whether an answer may use what stands at this path."""
    return any(path == p or path.startswith(p + ".") for p in (*DATA, *free))


def used(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """What of stacklib a text uses, as dotted paths, and in which line."""
    names = dict(imported(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names:
            if names[node.id] != "stacklib":
                yield names[node.id], node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if names.get(node.value.id) == "stacklib":
                yield f"stacklib.{node.attr}", node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if DOTTED.fullmatch(node.value):
                yield node.value, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            if (node.module or "").split(".")[0] == "stacklib":
                yield node.module or "", node.lineno


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names that imports of stacklib bind, wherever they stand, and their paths."""
    for node in ast.walk(tree):
        if not isinstance(node, IMPORTS):
            continue
        above = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            path = above + alias.name
            if path.split(".")[0] == "stacklib":
                whole = above or alias.asname
                yield bound(alias), path if whole else "stacklib"
