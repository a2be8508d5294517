"""The text an exercise is written in, and the other answers stored beside it.

The file of an exercise holds everything: the question in its docstring, the answer,
the tests. What a reader gets is derived from it (``view``). The shape:

    title, ``level:``, question, ``hint:``    the module docstring
    imports
    ``# ---- your answer ----``               functions, each with a docstring
    ``# ---- tests ----``                     functions named ``test_*``

A second file holds the wrong answers, of each what differs: the lines of the book's
answer that it has otherwise, or whole definitions; a third right answers of another
kind:

    ``# ---- fifo: what the grader says``     ``-`` the book's line, ``+`` this one
    ``# ---- arrays: how it differs``         functions
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

ANSWER = "# ---- your answer ----"
TESTS = "# ---- tests ----"
LEVELS = ("estimate", "derive", "build")
OTHER = re.compile(r"^# ----(.*)\n", re.MULTILINE)
NAMED = re.compile(r" ([a-z0-9_]+): (\S.*?)\s*")
FIELD = re.compile(r"^(level|project):\s*(.*?)\s*$")


class FormatError(ValueError):
    """A file of an exercise that does not have the promised shape."""


@dataclass(frozen=True)
class Other:
    """Another answer: the definitions that differ from the book's. ``words`` are what
    the grader must say of a wrong one, and how a right one differs.
    """

    name: str
    words: str
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
        return functions(self.answer)


@lru_cache(maxsize=8)  # many answers of one exercise are graded in a row
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
    if not question.strip():
        raise FormatError(f"{name}: the docstring has no question")
    return {
        "title": title.strip(),
        "level": fields["level"],
        "project": tuple(re.findall(r"[^\s,]+", fields["project"])),
        "question": question.strip(),
        "hint": hint.strip(),
    }


@lru_cache(maxsize=8)
def functions(source: str) -> tuple[str, ...]:
    """Names of the functions at the top level of a piece of source."""
    defs = (ast.FunctionDef, ast.AsyncFunctionDef)
    return tuple(n.name for n in ast.parse(source).body if isinstance(n, defs))


def other_answers(
    text: str, name: str = "other answers", answer: str = ""
) -> tuple[Other, ...]:
    """Take a file of wrong or of right answers apart; lines differ from `answer`'s.

    Raises FormatError for one without a name and words, with another's name, or with
    lines that the answer has not, or has twice.
    """
    above, *parts = OTHER.split(text)
    if above.strip():
        raise FormatError(f"{name}: begins without '# ---- name: words'")
    found: dict[str, Other] = {}
    for line, code in zip(parts[::2], parts[1::2], strict=True):
        if not (named := NAMED.fullmatch(line)):
            raise FormatError(f"{name}: '# ----{line}' is not '# ---- name: words'")
        if named[1] in found:
            raise FormatError(f"{name}: two answers are called {named[1]!r}")
        if code[:1] in ("-", "+", " "):
            code = edited(answer, code, f"{name}: {named[1]}")
        found[named[1]] = Other(named[1], named[2], code)
    return tuple(found.values())


def edited(answer: str, edits: str, name: str) -> str:
    """The book's answer with some lines changed, a blank line between two places.

    As in a diff, ``-`` is the book's line, ``+`` the other's, and a blank before a line
    means that both have it: enough of these to name one place.
    """
    made = "\n" + answer.partition("\n")[2]
    for place in edits.strip("\n").split("\n\n"):
        lines = place.strip("\n").split("\n")
        old, new = (
            "".join("\n" + line[1:] for line in lines if line[0] in side)
            for side in (" -", " +")
        )
        if (times := made.count(f"{old}\n")) != 1:
            raise FormatError(f"{name}: stands {times} times in the answer:{old}")
        made = made.replace(f"{old}\n", f"{new}\n")
    return made[1:]
