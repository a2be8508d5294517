"""The prose of the book: Markdown pages, notebook cells, exercise questions.

Positions count; nothing here rewrites text. Blanked regions keep their length, so
that what is found in a blanked copy can be quoted from the original.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from _tools import tree

# ``[3.35 TB/s](#q:h100.bandwidth)``; in the README, whose pages are not built here, a
# number is plain and its name a comment behind it: ``157<!--#q:house.devices-->``.
LINK = re.compile(
    r"(?P<open>\[)?(?P<text>(?(open)[^\]\[]*|\d[\d,.]*))"
    r"(?(open)\]\(|<!--)#q:(?P<name>[\w.\-]+)(?(open)\)|-->)"
)
FENCE = re.compile(
    r"^(?P<indent> {0,3})(?P<mark>`{3,}|~{3,}|:{3,})(?P<info>[^\n`]*)\n"
    r"(?P<body>.*?)(?:^ {0,3}(?P=mark)[`~:]*[ \t]*$|\Z)",
    re.M | re.S,
)
INLINE = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?P<body>.+?)(?<!`)(?P=ticks)(?!`)", re.S)
# Directives whose body is prose; the body of any other fence is code.
PROSE_DIRECTIVES = set(
    """
    admonition attention card caution danger dropdown epigraph exercise figure glossary
    grid grid-item grid-item-card hint important list-table margin measured napkin
    not-modelled note predict proof seealso sidebar solution stack-layer stack-map
    tab-item tab-set table takeaway tip token-after token-before tonight topic warning
    """.split()
)
DIRECTIVE = re.compile(r"^\{(?P<name>[\w:-]+)\}")
PARAGRAPH = re.compile(r"(?:[^\n]*\S[^\n]*(?:\n|\Z))+")
# A line that starts something of its own: list item, table row, heading, fence.
OWN_LINE = re.compile(r"(?m)^(?=[ \t]*(?:[-*+] |\d+[.)] |\||#|>|[`:~]{3,}|:[\w-]+:))")
# A fence or an option line says nothing that belongs to the sentence below it.
RAIL = re.compile(r"(?m)^[ \t]*(?:[`:~]{3,}|:[\w-]+:)[^\n]*\n")
STOP = re.compile(r"[.!?][\"')*_\]]*\s+(?=[\"'(*_\[]*[A-Z0-9])")


@dataclass(frozen=True)
class Block:
    """One piece of prose: a page, a Markdown cell, an exercise's question."""

    file: str
    where: str
    text: str
    kind: str  # "page", "cell" or "exercise"

    def __str__(self) -> str:
        return f"{self.file}, {self.where}" if self.where else self.file


def blocks(root: Path = tree.ROOT) -> Iterator[Block]:
    """Every block of prose in the repo."""
    for page in tree.pages(root):
        yield Block(tree.name(page, root), "", page.read_text("utf-8"), "page")
    for path in tree.notebooks(root):
        for number, cell in enumerate(tree.read_notebook(path).cells, 1):
            if cell.cell_type == "markdown":
                where = f"cell {number}"
                yield Block(tree.name(path, root), where, cell.source, "cell")
    for path in tree.exercises(root):
        question = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        yield Block(tree.name(path, root), "", question, "exercise")


def code_spans(text: str) -> list[tuple[int, int]]:
    """Where code stands: fences that are not prose directives, and inline code."""
    spans: list[tuple[int, int]] = []
    rails: list[tuple[int, int]] = []  # the fence lines of prose directives
    for fence in FENCE.finditer(text):
        directive = DIRECTIVE.match(fence["info"].strip())
        if directive and directive["name"] in PROSE_DIRECTIVES:
            shift = fence.start("body")
            spans += [(a + shift, b + shift) for a, b in code_spans(fence["body"])]
            rails += [(fence.start(), shift), (fence.end("body"), fence.end())]
        else:
            spans.append(fence.span())
    rest = blank(text, spans + rails)
    inline = [m.span() for m in INLINE.finditer(rest) if "\n\n" not in m[0]]
    return sorted(spans + inline)


def blank(text: str, spans: list[tuple[int, int]], fill: str = " ") -> str:
    """`text` with each span filled, newlines kept, length kept."""
    for start, end in spans:
        gap = re.sub(r"[^\n]", fill, text[start:end])
        text = text[:start] + gap + text[end:]
    return text


def links(text: str) -> list[re.Match[str]]:
    """The computed links of `text`, those shown as code left out."""
    return list(LINK.finditer(blank(text, code_spans(text))))


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence; a list item or table row ends one too."""
    # Full stops inside a link's address must not end a sentence.
    quiet = blank(text, [m.span() for m in LINK.finditer(text)], "x")
    quiet = blank(quiet, code_spans(text), "x")
    for paragraph in PARAGRAPH.finditer(quiet):
        cuts = {paragraph.start(), paragraph.end()}
        inside = (paragraph.start(), paragraph.end())
        cuts |= {m.start() for m in OWN_LINE.finditer(quiet, *inside)}
        cuts |= {m.end() for m in RAIL.finditer(quiet, *inside)}
        cuts |= {m.end() for m in STOP.finditer(quiet, *inside)}
        yield from pairwise(sorted(cuts))


def sentence_at(text: str, position: int) -> str:
    """The sentence that holds `position`, on one line."""
    for start, end in sentences(text):
        if start <= position < end:
            return " ".join(text[start:end].split())
    return ""


def line_of(text: str, position: int) -> int:
    """The 1-based line of `position`."""
    return text.count("\n", 0, position) + 1
