"""What a reader sees of an exercise, derived from its file.

The question loses its hint, which is a key away, the answer its bodies, the tests what
would tell (``outline``). The grader runs the book's own, so that nothing is proven by
what stands in a reader's copy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from stacklib.grading.format import ANSWER, TESTS, FormatError, Text, parse
from stacklib.grading.outline import carved, names_in, statement, tests_in_view, tidy

RULE = """\
# Python, NumPy and the imports above, if there are any, are all it takes. Of stacklib,
# hardware, models and quantity may be used; other rooms hold the answer.
"""
IMPORTS = (ast.Import, ast.ImportFrom)


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
    if not whole.hint:
        raise FormatError(f"{name}: the docstring has no hint")
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
    """The head without its hint, with the imports that the answer uses."""
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
    if (start := data.find(b"\n\nhint:")) >= 0:
        cuts.append((start, data.index(b'"""', start), b"\n"))
    return tidy(carved(data, cuts))


def bound(alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or alias.name.split(".")[0]


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
