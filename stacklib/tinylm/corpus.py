"""What the model reads: text that comes with every CPython, and this book's own.

The first part is taken from the Python that runs this code: the language reference
inside `pydoc_data.topics`, and each module of the standard library with its code
taken out, which leaves signatures, docstrings and comments. Nothing is downloaded.
Its bytes differ a little between releases, so a release is accepted by the SHA-256
of what it gives, and any other is refused. The second part is a frozen snapshot of
this project's prose, kept in `data/own_prose.txt`.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import io
import platform
import sysconfig
import tokenize
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "CorpusError",
    "Document",
    "accepted",
    "corpus",
    "digest",
    "evaluation_text",
    "from_cpython",
    "own_prose",
]

DATA = Path(__file__).parent / "data"
# Absent from some distributions, or no text of CPython's own.
LEFT_OUT = frozenset(
    "distutils ensurepip idlelib lib2to3 pydoc_data site-packages dist-packages "
    "test tests tkinter turtledemo __pycache__".split()
)
HELD_OUT_OF = 16  # one document in this many is never trained on
SHORT = 60  # characters; shorter paragraphs say little that could leak
SEPARATOR = "\x1e"  # before each document's name in the snapshot


class CorpusError(ValueError):
    """The text of this Python is not one that the model was trained on."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text with a name."""

    name: str  # `topics/assert`, `lib/json/decoder.py`, `own/book/glossary.md`
    text: str

    @property
    def is_held_out(self) -> bool:
        """Whether training never sees it: one in sixteen, by the hash of its name."""
        name = hashlib.sha256(self.name.encode()).digest()
        return name[0] % HELD_OUT_OF == 0


def topics() -> Iterator[Document]:
    """The language reference, a document a topic, in order of their names."""
    found = importlib.import_module("pydoc_data.topics").topics
    for name in sorted(found):
        yield Document(f"topics/{name}", found[name].strip("\n") + "\n")


def said_by(source: str) -> str:
    """A module with its code taken out: signatures, docstrings, whole-line comments.

    Lines keep their indentation; runs of what was taken out become one empty line.
    """
    kept: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            kept.update(range(node.lineno, max(node.lineno + 1, node.body[0].lineno)))
        elif not isinstance(node, ast.Module):
            continue
        first = node.body[0] if node.body else None
        if first is not None and ast.get_docstring(node, clean=False) is not None:
            kept.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and token.line.lstrip().startswith("#"):
            kept.add(token.start[0])
    text = ""
    for number in sorted(kept):
        gap = "" if number - 1 in kept or not text else "\n"
        text += gap + lines[number - 1].rstrip() + "\n"
    return text


def modules(folder: Path | None = None) -> Iterator[Document]:
    """The standard library's modules without their code, in order of their paths."""
    root = Path(folder or sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py"), key=lambda p: p.relative_to(root).parts):
        parts = path.relative_to(root).parts
        if LEFT_OUT & set(parts) or parts[0].startswith(("_sysconfig", "sitecustom")):
            continue
        with tokenize.open(path) as source:
            text = said_by(source.read())
        if text:
            yield Document("lib/" + "/".join(parts), text)


def own_prose() -> list[Document]:
    """This project's prose: pages, and modules without their code; a snapshot."""
    snapshot = (DATA / "own_prose.txt").read_text(encoding="utf-8")
    named = (part.split("\n", 1) for part in snapshot.split(SEPARATOR)[1:])
    return [Document(f"own/{name}", text) for name, text in named]


def from_cpython() -> list[Document]:
    """What the running Python says of itself: its reference, then its modules."""
    return [*topics(), *modules()]


def digest(documents: Sequence[Document]) -> str:
    """SHA-256 of names and texts, in order; the same on every machine."""
    whole = hashlib.sha256()
    for document in documents:
        whole.update(f"{SEPARATOR}{document.name}\n{document.text}".encode())
    return whole.hexdigest()


def accepted() -> dict[str, str]:
    """The SHA-256 of `from_cpython()` for each CPython release that was read."""
    table = tomllib.loads((DATA / "corpus.toml").read_text(encoding="utf-8"))
    return dict(table["sha256"])


def without_repeats(documents: Sequence[Document]) -> list[Document]:
    """Each paragraph once: first in what is held out, then in the order given.

    The reference says some things under several topics, and modules share licences
    and signatures. Without this, a text held out would be read in training under
    another name. Paragraphs of under `SHORT` characters may come again.
    """
    seen: set[str] = set()
    said: dict[str, str] = {}
    for document in sorted(documents, key=lambda d: not d.is_held_out):
        kept = []
        for paragraph in document.text.split("\n\n"):
            bare = " ".join(paragraph.split())
            if len(bare) >= SHORT and bare in seen:
                continue
            seen.add(bare)
            kept.append(paragraph)
        said[document.name] = "\n\n".join(kept).strip("\n")
    return [
        Document(d.name, said[d.name] + "\n") for d in documents if said[d.name].strip()
    ]


def corpus() -> list[Document]:
    """Every document, the CPython ones checked, no paragraph twice.

    Those with `is_held_out` are not for training.
    """
    found = from_cpython()
    this, known = digest(found), accepted()
    if this not in known.values():
        raise CorpusError(
            f"Python {platform.python_version()} gives a text with SHA-256 {this}, "
            f"not one of those read before ({', '.join(known)}): train with one of "
            "these releases, or measure on evaluation_text(), which needs none"
        )
    return without_repeats([*found, *own_prose()])


def evaluation_text() -> list[Document]:
    """The held-out part of this project's prose: the same under every Python."""
    return without_repeats([d for d in own_prose() if d.is_held_out])
