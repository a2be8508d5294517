"""The text an exercise is written in, the stub derived from it, its wrong answers.

The file of an exercise holds everything: the question in its docstring, the answer,
the tests. What a reader gets is the same text with each answer's body taken out, so
the two cannot drift apart. The shape:

    title, ``level:``, question, ``hint:``    the module docstring
    imports
    ``# ---- your answer ----``               functions, each with a docstring
    ``# ---- tests ----``                     functions named ``test_*``

A second file holds the wrong answers, of each the definitions that differ:

    ``# ---- fifo: what the grader says``     functions
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

ANSWER = "# ---- your answer ----"
TESTS = "# ---- tests ----"
LEVELS = ("estimate", "derive", "build")
WRONG = re.compile(r"^# ----(.*)\n", re.MULTILINE)
NAMED = re.compile(r" ([a-z0-9_]+): (\S.*?)\s*")
FIELD = re.compile(r"^(level|project):\s*(.*?)\s*$")


class FormatError(ValueError):
    """A file of an exercise that does not have the promised shape."""


@dataclass(frozen=True)
class Wrong:
    """One wrong answer: what the grader must say of it, and what differs in it."""

    name: str
    diagnosis: str
    code: str


@dataclass(frozen=True)
class Text:
    """The file of an exercise or a reader's copy, taken apart.

    ``question`` and ``hint`` are Markdown; ``head``, ``answer`` and ``tests`` are
    source text and join to the file again. ``project`` holds project ids of the
    learning guide (``P1.1``), empty where there is none.
    """

    title: str
    level: str
    project: tuple[str, ...]
    question: str
    hint: str
    head: str
    answer: str
    tests: str

    @property
    def source(self) -> str:
        """The whole file."""
        return self.head + self.answer + self.tests

    @property
    def test_names(self) -> tuple[str, ...]:
        """Names of the test functions, in file order."""
        return tuple(n for n in functions(self.tests) if n.startswith("test_"))

    @property
    def answer_names(self) -> tuple[str, ...]:
        """Names of the functions the reader writes, in file order."""
        return tuple(functions(self.answer))

    def with_wrong(self, wrong: Wrong) -> str:
        """The file with a wrong answer after the right one: the later name counts."""
        return f"{self.head}{self.answer}{wrong.code.strip()}\n\n\n{self.tests}"


def parse(text: str, name: str = "exercise") -> Text:
    """Take the text of an exercise apart.

    The answer region is not compiled here: a reader's half-written answer must
    still parse.

    Parameters
    ----------
    text : str
        The file's text.
    name : str
        The file's name, for messages.

    Raises
    ------
    FormatError
        Naming the file and what is missing.
    """
    head, answer, tests = regions(text, name)
    try:
        doc = ast.get_docstring(ast.parse(head), clean=True)
        functions(tests)
    except SyntaxError as error:
        raise FormatError(f"{name}: {error.msg} outside the answer region") from None
    if not doc:
        raise FormatError(f"{name}: no docstring; it holds the question")
    fields = docstring_fields(doc, name)
    return Text(**fields, head=head, answer=answer, tests=tests)


def regions(text: str, name: str) -> tuple[str, str, str]:
    """Head, answer and tests; each marker starts its region."""
    lines = text.splitlines(keepends=True)
    at = []
    for marker in (ANSWER, TESTS):
        found = [i for i, line in enumerate(lines) if line.strip() == marker]
        if len(found) != 1:
            raise FormatError(
                f"{name}: the line {marker!r} stands {len(found)} times; once is wanted"
            )
        at += found
    if at[0] > at[1]:
        raise FormatError(f"{name}: the tests stand above the answer")
    parts = lines[: at[0]], lines[at[0] : at[1]], lines[at[1] :]
    return "".join(parts[0]), "".join(parts[1]), "".join(parts[2])


def docstring_fields(doc: str, name: str) -> dict[str, Any]:
    """Title, level, project, question and hint of a module docstring."""
    title, *rest = doc.splitlines()
    fields = {"level": "", "project": ""}
    while rest and (not rest[0].strip() or FIELD.match(rest[0])):
        if found := FIELD.match(rest[0]):
            fields[found[1]] = found[2]
        rest = rest[1:]
    question, _, hint = ("\n" + "\n".join(rest)).partition("\nhint:")
    if fields["level"] not in LEVELS:
        raise FormatError(
            f"{name}: level {fields['level']!r} is not one of {', '.join(LEVELS)}"
        )
    for what, value in (("question", question), ("hint", hint)):
        if not value.strip():
            raise FormatError(f"{name}: the docstring has no {what}")
    return {
        "title": title.strip(),
        "level": fields["level"],
        "project": tuple(re.findall(r"[^\s,]+", fields["project"])),
        "question": question.strip(),
        "hint": hint.strip(),
    }


def functions(source: str) -> list[str]:
    """Names of the functions at the top level of a piece of source."""
    defs = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [n.name for n in ast.parse(source).body if isinstance(n, defs)]


def wrong_answers(text: str, name: str = "wrong answers") -> tuple[Wrong, ...]:
    """Take a file of wrong answers apart.

    Raises FormatError for one without a name and a diagnosis, or with another's name.
    """
    above, *parts = WRONG.split(text)
    if above.strip():
        raise FormatError(f"{name}: begins without '# ---- name: diagnosis'")
    found: dict[str, Wrong] = {}
    for line, code in zip(parts[::2], parts[1::2], strict=True):
        if not (named := NAMED.fullmatch(line)):
            raise FormatError(f"{name}: '# ----{line}' is not '# ---- name: diagnosis'")
        if named[1] in found:
            raise FormatError(f"{name}: two wrong answers are called {named[1]!r}")
        found[named[1]] = Wrong(named[1], named[2], code)
    return tuple(found.values())


def stub(text: str, name: str = "exercise") -> str:
    """Derive what a reader gets from the file of an exercise.

    Each function of the answer region, and each method of a class there, keeps its
    signature and docstring; its body becomes ``raise NotImplementedError``. All
    else, comments included, stays as it is, byte for byte.

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
    return whole.head + "".join(lines) + whole.tests


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
