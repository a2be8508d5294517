"""The search index: a row for each thing that can be found, for ``search.js`` to weigh.

Sphinx's own says in which pages a word stands, so a page that counts to *zero* is found
as soon as the one on ZeRO. A row is a section, an exercise, a term of the glossary, a
function or a fact page: its names, what it says, and further words that stand in its
tables and code. What folds, labels a box or answers a prediction is not said.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.search import IndexBuilder

__all__ = ["Row", "Rows", "names_of_pages", "rows", "setup"]

NAMES = Path(__file__).parents[1] / "search.toml"
# Each a row of its own.
APART = (nodes.section, addnodes.desc, addnodes.glossary)
LISTED = (nodes.literal_block, nodes.table, nodes.raw)
# Left out: what folds, opens or is no text, by its type; labels, by their class.
LEFT = {"fold", "prediction", "comment", "index", "title", "math_block"}
LEFT |= {"HideCodeCellNode"}
LABELS = {"st-exercise", "st-box-title", "st-origin", "st-check", "st-badge"}
MARKUP = re.compile(r"(?s)<(script|style|svg|details|button)\b.*?</\1>|<[^<]+?>")
WORD = re.compile(r"[^\W\d_][\w.-]*\w")
LONGEST = 8000  # of a text; a ledger is longer, and nobody looks for its sentences


class Row(NamedTuple):
    """Title, place on its page, names a line each, what it says, further words."""

    title: str
    anchor: str
    names: str
    text: str
    words: str


def rows(document: nodes.Node) -> Iterator[Row]:
    """Everything on a page that can be found, the page itself first."""
    elements = list(document.findall(nodes.Element))
    read = Reader({node["shows"] for node in elements if "shows" in node})
    for node in elements:
        place = "".join(node["ids"][:1])
        if isinstance(node, nodes.section):
            yield read.row(node.next_node(nodes.title), place, indexed(node), node)
        elif isinstance(node, addnodes.desc) and node[0]["ids"]:
            name = f"{node[0]['module']}.{node[0]['fullname']}"
            about = list(node[1].findall(nodes.paragraph))[:1]
            yield read.row(nodes.Text(name), node[0]["ids"][0], (), *about)
        elif isinstance(node, nodes.definition_list_item) and node[0]["ids"]:
            terms = [term.astext() for term in node.findall(nodes.term)]
            yield read.row(nodes.Text(terms[0]), node[0]["ids"][0], terms, node[-1])
        elif "st-exercise" in node["classes"]:
            yield read.row(node[0], place, (), *node[1:])


def indexed(section: nodes.Element) -> Iterator[str]:
    """The names under which the book's index has a section before others."""
    for child in section.children:
        if isinstance(child, addnodes.index):
            yield from (entry[1] for entry in child["entries"] if entry[3] == "main")


class Reader:
    """Reads a page aloud, but for the numbers that it asks the reader to predict."""

    def __init__(self, asked: set[str]) -> None:
        self.asked = asked

    def row(
        self, title: nodes.Node, place: str, names: Iterable[str], *held: nodes.Node
    ) -> Row:
        """The row of what is headed by `title` and says what `held` says."""
        parts = [part for node in held for part in self.inside(node)]
        text = " ".join("".join(text for text, is_said in parts if is_said).split())
        listed = " ".join(text for text, is_said in parts if not is_said)
        text, listed = text[:LONGEST], f"{listed} {text[LONGEST:]}"
        words = {*WORD.findall(listed.lower())} - {*WORD.findall(text.lower())}
        heading = "".join(text for text, _ in self.inside(title)).strip()
        lines = "\n".join(dict.fromkeys(names))
        return Row(heading, place, lines, text, " ".join(sorted(words)))

    def pieces(self, node: nodes.Node) -> Iterator[tuple[str, bool]]:
        """The texts of a node, and of each whether it is said or only listed."""
        if isinstance(node, LISTED):
            yield MARKUP.sub(" ", node.astext()), False
        elif isinstance(node, nodes.math) and "\\" in node.astext():
            yield "…", True
        elif isinstance(node, nodes.Element) and node.get("data-q") in self.asked:
            yield "…", True
        elif isinstance(node, nodes.Text) or not (
            isinstance(node, APART)
            or type(node).__name__ in LEFT
            or LABELS & {*node["classes"]}
        ):
            yield from self.inside(node)

    def inside(self, node: nodes.Node) -> Iterator[tuple[str, bool]]:
        """As `pieces`, of what would be a row of its own, too."""
        if isinstance(node, nodes.Text):
            yield str(node), True
        for child in node.children:
            yield from self.pieces(child)
        if not isinstance(node, nodes.Inline | nodes.Text):
            yield " ", True


def names_of_pages(file: Path = NAMES) -> dict[str, list[str]]:
    """What readers call what a page explains, by page."""
    folders = tomllib.loads(file.read_text("utf-8")) if file.exists() else {}
    return {
        f"{folder}/{page}": names
        for folder, pages in folders.items()
        for page, names in pages.items()
    }


class Rows(IndexBuilder):
    """The builder of the index: rows by page, in place of pages by word."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.pages: dict[str, tuple[str, list[Row]]] = {}

    def feed(
        self, docname: str, filename: str, title: str, doctree: nodes.document
    ) -> None:
        """Read a page."""
        found = list(rows(doctree))
        self.pages[docname] = (found[0].title if found else title, found)

    def freeze(self) -> dict[str, Any]:
        """What is stored: Sphinx's version, by page its title and rows, and names."""
        named = {page: n for page, n in names_of_pages().items() if page in self.pages}
        return {"envversion": self.env.version, "pages": self.pages, "names": named}

    def load(self, stream: IO[Any], format: Any) -> None:
        """What was stored, of a book that is now built in part."""
        stored = format.load(stream)
        if stored.get("envversion") != self.env.version or "pages" not in stored:
            raise ValueError("old format")
        self.pages = {
            page: (title, [Row(*one) for one in found])
            for page, (title, found) in stored["pages"].items()
        }

    def prune(self, docnames: Iterable[str]) -> None:
        """Forget pages that are gone."""
        kept = {*docnames}
        self.pages = {page: all for page, all in self.pages.items() if page in kept}


def outdated(app: Sphinx, env: Any, *_: Any) -> list[str]:
    """One page after a change of the names, which is enough to write the index."""
    old, env.search_names = getattr(env, "search_names", None), names_of_pages()
    return [] if old == env.search_names else [app.config.root_doc]


def setup(app: Sphinx) -> dict[str, bool]:
    """Builders of HTML make their index with it."""
    import sphinx.search

    sphinx.search.IndexBuilder = Rows  # type: ignore[misc]
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
