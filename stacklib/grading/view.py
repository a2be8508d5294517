"""What a reader sees of an exercise, derived from its file.

The answer loses its bodies. The tests stay, and lose what would tell: helpers, lambdas,
what a value is compared with and what each mistake gives. The grader runs the book's
own, so that nothing is proven by what stands in a reader's copy.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from stacklib.grading.format import ANSWER, TESTS, FormatError, Text, parse

RULE = """\
# Python, NumPy and the imports above, if there are any, are all it takes. Of stacklib,
# hardware, models and quantity may be used; other rooms hold the answer.
"""
KEPT_BACK = """\
# `stacklib check` runs these. What would tell (...) is kept back.
"""
# Calls whose second argument is what is expected, and names that hold such a thing.
COMPARES = ("number", "compare", "equal", "function_matches")
HOLDS = ("right", "expected", "mistakes", "known", "slips", "wanted")
DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORTS = (ast.Import, ast.ImportFrom)
Cut = tuple[int, int, bytes]


def stub(text: str, name: str = "exercise") -> str:
    """Derive what a reader gets from the file of an exercise.

    Each function of the answer region, and each method of a class there, keeps its
    signature and docstring; its body becomes ``raise NotImplementedError``. Of the
    imports those stay that the answer uses.

    Parameters
    ----------
    text : str
        The file's text.
    name : str
        The file's name, for messages.

    Raises
    ------
    FormatError
        For a text that has no answer to take out.
    """
    whole = parse(text, name)
    try:
        tree = ast.parse(whole.answer)
    except SyntaxError as error:
        raise FormatError(f"{name}: the answer region: {error}") from None
    lines = whole.answer.splitlines(keepends=True)
    found = list(answer_functions(tree))
    if not found:
        raise FormatError(f"{name}: no function between {ANSWER!r} and {TESTS!r}")
    for label, node in reversed(found):
        empty_body(lines, node, label, name)
    return head_in_view(whole) + with_rule(lines) + tests_in_view(whole)


def copy_of(whole: Text, code: str = "") -> str:
    """A reader's file that holds the book's answer and, after it, another: of two
    definitions of a name the later counts.
    """
    answer = whole.answer if not code else f"{whole.answer}{code.strip()}\n\n\n"
    return head_in_view(whole) + answer + tests_in_view(whole)


def with_rule(lines: list[str]) -> str:
    """The answer region, its rule below the marker."""
    return "".join([lines[0], RULE, *lines[1:]])


def head_in_view(whole: Text) -> str:
    """The head with the imports that the answer uses, or the head itself."""
    tree, answer = ast.parse(whole.head), ast.parse(whole.answer)
    rest = [n for n in tree.body if not isinstance(n, IMPORTS)]
    used = {name for tree in (answer, *rest) for name in names_in(tree)}
    data, cuts = whole.head.encode(), []
    for node in (n for n in tree.body if isinstance(n, IMPORTS)):
        names = [a for a in node.names if bound(a) in used]
        if len(names) < len(node.names):
            node.names = names
            text = ast.unparse(node).encode() if names else b""
            cuts.append((*statement(data, node), text + b"\n" if names else b""))
    return tidy(carved(data, cuts))


def names_in(tree: ast.AST) -> set[str]:
    """All names in a piece of source."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def bound(alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or alias.name.split(".")[0]


@lru_cache(maxsize=8)  # many answers of one exercise are graded in a row
def tests_in_view(whole: Text) -> str:
    """The tests without what they compare with."""
    data, tree = whole.tests.encode(), ast.parse(whole.tests)
    cuts: list[Cut] = []
    for node in tree.body:
        if isinstance(node, DEFS) and node.name.startswith("test_"):
            cuts += told_by(data, node)
        elif not in_view(node):
            cuts.append((*statement(data, node), b""))
    text = carved(data, cuts)
    marker, rest = text.split("\n", 1)
    return tidy(f"{marker}\n{KEPT_BACK}\n{rest.lstrip()}")


def in_view(node: ast.stmt) -> bool:
    """Whether a statement between the tests is shown: cases and instruments."""
    if any(isinstance(n, ast.Lambda) for n in ast.walk(node)):
        return False
    if isinstance(node, ast.Assign):
        return all(n.isupper() for t in node.targets for n in names_in(t))
    return isinstance(node, ast.ClassDef)


def told_by(data: bytes, test: Any) -> Iterator[Cut]:
    """The places of a test that would tell, and what stands there instead."""
    for node in ast.walk(test):
        if isinstance(node, DEFS) and node is not test:
            yield (*statement(data, node), b"")
        elif isinstance(node, ast.Lambda):
            yield (*span(data, node), b"...")
        elif isinstance(node, ast.Assign) and held(node):
            yield (*span(data, node.value), b"...")
        elif isinstance(node, ast.Call):
            yield from told_by_call(data, node)


def held(node: ast.Assign) -> bool:
    """Whether an assignment names what is expected, or is arithmetic towards it."""
    names = {name for target in node.targets for name in names_in(target)}
    return bool(names & set(HOLDS)) or isinstance(node.value, ast.BinOp)


def told_by_call(data: bytes, call: ast.Call) -> Iterator[Cut]:
    """Of one call: the mistakes, and a second argument that is more than a name."""
    name = getattr(call.func, "attr", "")
    if name in COMPARES and len(call.args) > 1:
        if not isinstance(call.args[1], (ast.Name, ast.Attribute)):
            yield (*span(data, call.args[1]), b"...")
    for keyword in call.keywords:
        if keyword.arg == "mistakes":
            start, end = span(data, keyword)
            yield data.rindex(b",", 0, start), end, b""


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


def answer_functions(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    """The functions to be written and their names, in file order."""
    defs = (ast.FunctionDef, ast.AsyncFunctionDef)
    for node in tree.body:
        if isinstance(node, defs):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, defs):
                    yield f"{node.name}.{method.name}", method


def empty_body(lines: list[str], node: Any, label: str, name: str) -> None:
    """Replace the statements after the docstring, comments among them, in place."""
    doc = node.body[0]
    if ast.get_docstring(node) is None or (
        len(node.body) > 1 and node.body[1].lineno == doc.end_lineno
    ):
        raise FormatError(
            f"{name}: {label} has no docstring on lines of its own; "
            "it is what the reader is told to write"
        )
    indent = " " * doc.col_offset
    end = node.end_lineno
    # A comment after the last statement belongs to the body and would tell.
    for at in range(end, len(lines)):
        if lines[at].startswith(indent + "#"):
            end = at + 1
        elif lines[at].strip():
            break
    todo = f'{indent}raise NotImplementedError("write {label}")\n'
    lines[doc.end_lineno : end] = [todo]
