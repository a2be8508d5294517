"""What a reader sees of the tests of an exercise: how the answer is called, on what.

Loops over cases, calls of the answer and comparisons stay, each without what it is
compared with; every other statement would tell, and becomes ``...``.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Any

from stacklib.grading.format import Text

KEPT_BACK = """\
# `stacklib check` runs these. What would tell (...) is kept back.
"""
# Calls whose second argument is what is expected, and names that hold such a thing.
COMPARES = ("number", "compare", "equal", "function_matches")
REFUSES = ("refuses",)
HOLDS = ("right", "expected", "mistakes", "known", "slips", "wanted")
# Calls in a test that say nothing of what is expected.
HARMLESS = (
    *"call whole read sequence numbers truth range dict list tuple get zip".split(),
    *("enumerate", "items", "product"),
)
DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
Cut = tuple[int, int, bytes]


@lru_cache(maxsize=8)  # many answers of one exercise are graded in a row
def tests_in_view(whole: Text) -> str:
    """The tests without what they compare with: how the answer is called, on what."""
    data, tree = whole.tests.encode(), ast.parse(whole.tests)
    mine = {getattr(n, "name", "") for n in ast.parse(whole.answer).body}
    cuts: list[Cut] = []
    shown: set[str] = set()
    for node in tree.body:
        if isinstance(node, DEFS) and node.name.startswith("test_"):
            found, names = outline(data, node.body, mine)
            cuts += found
            shown |= names
    for node in reversed(tree.body):  # a case may be made of those above it
        if isinstance(node, DEFS) and node.name.startswith("test_"):
            continue
        if in_view(node) and shown & bound_by(node):
            shown |= names_in(node)
        else:
            cuts.append((*statement(data, node), b""))
    text = carved(data, cuts)
    marker, rest = text.split("\n", 1)
    return tidy(f"{marker}\n{KEPT_BACK}\n{rest.lstrip()}")


def in_view(node: ast.stmt) -> bool:
    """Whether a statement between the tests may be shown: cases and instruments."""
    if any(isinstance(n, ast.Lambda) for n in ast.walk(node)):
        return False
    if isinstance(node, ast.Assign):
        return all(name.isupper() for name in bound_by(node))
    return isinstance(node, ast.ClassDef)


def bound_by(node: ast.stmt) -> set[str]:
    """The names that a statement between the tests binds."""
    if isinstance(node, ast.Assign):
        return {name for target in node.targets for name in names_in(target)}
    return {getattr(node, "name", "")}


def outline(
    data: bytes, body: list[ast.stmt], mine: set[str]
) -> tuple[list[Cut], set[str]]:
    """What to cut of some statements of a test, and the names in what is left: of loops
    over cases, calls of the answer, and comparisons, their second sides cut.
    """
    cuts: list[Cut] = []
    left: set[str] = set()
    dropped = False  # whether a run of statements is marked already
    for node in reversed(body):
        found, names = trimmed(data, node, mine, left)
        if found is None:
            first, end = statement(data, node)
            mark = b"" if dropped else b" " * node.col_offset + b"...\n"
            cuts.append((first, end, mark))
        else:
            cuts += found
            left |= names
        dropped = found is None
    return cuts, left


def trimmed(
    data: bytes, node: ast.stmt, mine: set[str], below: set[str]
) -> tuple[list[Cut] | None, set[str]]:
    """The cuts of one statement and the names left in it; None where it would tell.
    ``below`` are the names that what follows it shows.
    """
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return [], set()
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        if getattr(node.value.func, "attr", "") in (*COMPARES, *REFUSES):
            return told_by_call(data, node.value)
    if isinstance(node, ast.For):
        cuts, names = outline(data, node.body, mine)
        if not names:
            return None, set()
        # What of a case is not shown to be used is what is expected of it.
        if names_in(node.target) <= names and plain(node.iter, mine):
            return cuts, names | names_in(node.iter)
        return [*cuts, (*span(data, node.iter), b"...")], names
    if isinstance(node, ast.Assign):
        names = {n for target in node.targets for n in names_in(target)}
        if not names & below and not names_in(node.value) & mine:
            return None, set()
        if not names & set(HOLDS) and plain(node.value, mine):
            return [], names_in(node.value)
        return [(*span(data, node.value), b"...")], set()
    return None, set()


def plain(node: ast.AST, mine: set[str]) -> bool:
    """Whether an expression is data, or the answer called on data: no arithmetic on
    names, no comparison, no call of the tests' own.
    """
    for n in ast.walk(node):
        if isinstance(n, (ast.Compare, ast.BoolOp, ast.Lambda, ast.IfExp)):
            return False
        if isinstance(n, (ast.BinOp, ast.UnaryOp)) and names_in(n):
            return False
        if isinstance(n, ast.Call):
            name = getattr(n.func, "id", "") or getattr(n.func, "attr", "")
            if name not in mine and name not in HARMLESS:
                return False
    return True


def told_by_call(data: bytes, call: ast.Call) -> tuple[list[Cut], set[str]]:
    """Of one comparison: mistakes, lambdas and second argument; the names left."""
    name = getattr(call.func, "attr", "")
    cuts: list[Cut] = []
    left: set[str] = set()
    for at, part in enumerate([*call.args, *call.keywords]):
        start, end = span(data, part)
        if isinstance(part, ast.keyword) and part.arg == "mistakes":
            cuts.append((data.rindex(b",", 0, start), end, b""))
        elif at == 1 and name in COMPARES and len(call.args) > 1:
            cuts.append((start, end, b"..."))
        elif lambdas := [n for n in ast.walk(part) if isinstance(n, ast.Lambda)]:
            cuts += [(*span(data, n), b"...") for n in lambdas]
        else:
            left |= names_in(part)
    return cuts, left


def names_in(tree: ast.AST) -> set[str]:
    """All names in a piece of source."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def span(data: bytes, node: Any) -> tuple[int, int]:
    """First and last byte of a node; its columns count bytes."""
    starts = [0, *(m.end() for m in re.finditer(rb"\n", data))]
    first = starts[node.lineno - 1] + node.col_offset
    return first, starts[node.end_lineno - 1] + node.end_col_offset


def statement(data: bytes, node: Any) -> tuple[int, int]:
    """The lines of a statement, with its decorators and the comments above it."""
    lines = data.splitlines(keepends=True)
    top = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    while top > 2 and lines[top - 2].lstrip().startswith(b"#"):
        top -= 1
    before = sum(map(len, lines[: top - 1]))
    return before, before + sum(map(len, lines[top - 1 : node.end_lineno]))


def carved(data: bytes, cuts: list[Cut]) -> str:
    """The text with each cut replaced; one inside another is taken with it."""
    outer: list[Cut] = []
    for cut in sorted(cuts, key=lambda c: (c[0], -c[1])):
        if not outer or cut[0] >= outer[-1][1]:
            outer.append(cut)
    for start, end, text in reversed(outer):
        data = data[:start] + text + data[end:]
    return data.decode()


def tidy(text: str) -> str:
    """At most two empty lines in a row, one newline at the end of the tests."""
    return re.sub(r"\n{4,}", "\n\n\n", text)
