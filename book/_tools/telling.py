"""How a section is told: what stands in its reading path, counted.

`python -m _tools.telling 3` prints a row a section and what it lacks. The reading path
is what a reader meets without opening a fold: Markdown outside of `{dropdown}`, cells
and outputs that no tag hides.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from _tools import prose, tree

WORDS, TABLES, ROWS, LOOP = 1400, 3, 8, 15  # at most
FOLDED = 600  # words behind folds, at most: what carries the argument is in the path
ONCE = ("predict", "napkin", "takeaway", "not-modelled", "tonight")
# What our workshop says and no reader should meet.
WORKSHOP = re.compile(
    r"\b(?:first review|documents? \d{3}|held[- ]out|the bar\b|our ledger|the ledger"
    r"|source documents?|row ids?|[A-E]-\d{3,4})\b",
    re.I,
)
TITLE = re.compile(r"^# (?P<number>\d+\.\d+) (?P<question>.+)$", re.M)
BOX = re.compile(r"^[`:]{3,}\{(?P<kind>[\w-]+)\}", re.M)
HEAD = re.compile(r"# \d+\.\d+ [^\n]+\n+:{3,}\{token-before\}")
MATH = re.compile(r"\$\$.+?\$\$|^[`:]{3,}\{math\}", re.S | re.M)
LOOPS = re.compile(r"^\s*(?:for|while)\b[^\n]*:", re.M)
TABLE = re.compile(r"^[ \t]*\|[^\n]*\|[ \t]*\n[ \t]*\|[ :|-]+\|[ \t]*\n", re.M)
BODY = re.compile(r"<tbody>(.*?)</tbody>", re.S)
LINK = re.compile(r"\]\([^()\s]*\)|\{[\w:]+\}(?=`)")
RAIL = re.compile(r"^[ \t]*(?::[\w-]+:|[`:]{3,})[^\n]*$", re.M)
WORD = re.compile(r"\S*[^\W_]\S*")
DRAWING, FIGURE = "st-figure st-drawing", re.compile(r'class="st-(?:figure|live)\b')
# The account's bar, which is no drawing of the section's subject.
BAR = re.compile(r'id="fig-token-\d')
OPENED = re.compile(r'data-q="([^"]+)"')


@dataclass(frozen=True)
class Told:
    """The counts of a section."""

    section: str
    words: int
    tables: int  # in the path
    rows: int  # of the longest of them
    drawings: int
    equations: int  # displayed, in the path
    loops: int  # visible
    folds: int
    folded: int  # words in them
    numbers: int  # that open
    lacks: tuple[str, ...]


@dataclass(frozen=True)
class Piece:
    """What a reader meets of a cell: prose, code, or an output."""

    kind: str  # "prose", "code", "output"
    text: str
    folded: bool = False


def sections(root: Path = tree.ROOT, chapter: int | None = None) -> list[Path]:
    """The notebooks of numbered sections."""
    found = [p for p in tree.notebooks(root) if tree.chapter_of(p)]
    mine = [p for p in found if chapter in (None, tree.chapter_of(p))]
    return sorted((p for p in mine if TITLE.search(first(p))), key=number)


@cache
def first(path: Path) -> str:
    """The cell that has the title."""
    return str(tree.read_notebook(path).cells[0].source)


def number(path: Path) -> tuple[int, ...]:
    """3.4 as (3, 4)."""
    found = TITLE.search(first(path))
    assert found
    return tuple(map(int, found["number"].split(".")))


def pieces(path: Path) -> Iterator[Piece]:
    """A notebook as its reader meets it."""
    for cell in tree.read_notebook(path).cells:
        tags = set(cell.metadata.get("tags", ()))
        if cell.cell_type == "markdown":
            yield from parted(cell.source)
            continue
        hidden = bool(tags & {"hide-cell", "remove-cell"})
        yield Piece("code", cell.source, hidden or "hide-input" in tags)
        for output in cell.get("outputs", ()):
            html = str(output.get("data", {}).get("text/html", ""))
            yield Piece("output", html, hidden or "hide-output" in tags)


def parted(text: str) -> Iterator[Piece]:
    """Prose and the code in it; what a dropdown holds is folded."""
    start = 0
    for fence in prose.FENCE.finditer(text):
        kind = prose.DIRECTIVE.match(fence["info"].strip())
        name = kind["name"] if kind else ""
        if name in prose.PROSE_DIRECTIVES - {"dropdown"}:
            continue
        yield Piece("prose", text[start : fence.start()])
        start = fence.end()
        if name == "dropdown":
            yield Piece("prose", fence["body"], folded=True)
        else:
            yield Piece("code" if name == "pyrun" else "other", fence[0])
    yield Piece("prose", text[start:])


def count(words: str) -> int:
    """Words that are read: not where links lead, options or formulas."""
    plain = LINK.sub("", MATH.sub("", words))
    plain = re.sub(
        r"^[ \t]*:[\w-]+:[^\n]*$|^[ \t]*[`:]{3,}[^\n]*$", "", plain, flags=re.M
    )
    return len(WORD.findall(plain))


def told(path: Path, root: Path = tree.ROOT) -> Told:
    """What one section has in its reading path, and what it lacks."""
    parts = list(pieces(path))
    path_of = [p for p in parts if not p.folded]
    text = "\n".join(p.text for p in path_of if p.kind == "prose")
    outputs = [p.text for p in path_of if p.kind == "output"]
    shown = [html for html in outputs if not BAR.search(html)]
    tables = [rows(html) for html in shown if "<tbody>" in html]
    tables += [0] * len(TABLE.findall(text))
    hidden = "\n".join(p.text for p in parts if p.folded and p.kind == "prose")
    made: dict[str, Any] = {
        "section": ".".join(map(str, number(path))),
        "words": count(text),
        "tables": len(tables),
        "rows": max(tables, default=0),
        "drawings": sum(html.count(DRAWING) for html in shown),
        "equations": len(MATH.findall(text)),
        "loops": sum(looped(p) for p in path_of),
        "folds": sum(p.folded and p.kind != "output" for p in parts),
        "folded": count(hidden),
        "numbers": len(prose.links(text)) + len(set(OPENED.findall("".join(outputs)))),
    }
    return Told(**made, lacks=tuple(lacks(made, parts, path_of, text)))


def rows(html: str) -> int:
    """Rows of the longest table of an output."""
    return max(body.count("<tr") for body in BODY.findall(html))


def looped(piece: Piece) -> bool:
    """Whether it is a loop that a reader sees."""
    return piece.kind == "code" and bool(LOOPS.search(piece.text))


def lacks(
    made: dict[str, Any], parts: list[Piece], path_of: list[Piece], text: str
) -> Iterator[str]:
    """Sentences, one for each rule that a section breaks."""
    most = {"words": WORDS, "tables": TABLES, "rows": ROWS, "folded": FOLDED}
    for what, limit in most.items():
        if made[what] > limit:
            yield f"{made[what]} {what}, at most {limit}"
    for what in ("drawings", "equations", "loops"):
        if not made[what]:
            yield f"no {what} in the reading path"
    kinds = BOX.findall("\n".join(p.text for p in parts if p.kind != "output"))
    yield from (f"no box {kind!r}" for kind in ONCE if kind not in kinds)
    if not HEAD.search(text):
        yield "the token's line does not stand under the title"
    if "token-after" not in kinds:
        yield "no changed line of the token at the foot"
    bars = [p.text for p in path_of if p.kind == "output" and BAR.search(p.text)]
    if len(bars) < 2:
        yield "no bar of the account at its head and at its foot"
    if late(path_of):
        yield "a chart stands before the first drawing"
    if kinds.count("claims-table"):
        yield "a table of claims: it belongs to the chapter's evidence page"
    everything = "\n".join(p.text for p in parts if p.kind == "prose")
    for found in WORKSHOP.finditer(LINK.sub("", everything)):
        yield f"a word of the workshop: {found[0]!r}"


def late(path_of: list[Piece]) -> bool:
    """Whether a chart is met before the first drawing."""
    shown = [p.text for p in path_of if p.kind == "output"]
    shown = [html for html in shown if not BAR.search(html)]
    kinds = [DRAWING in html for html in shown if FIGURE.search(html)]
    return any(kinds) and not kinds[0]


def main(chapters: list[str]) -> int:
    """Print the table; 1 where a section lacks something."""
    chosen = {int(c) for c in chapters}
    every = [p for p in sections() if not chosen or tree.chapter_of(p) in chosen]
    found = [told(path) for path in every]
    heads = [f.name for f in fields(Told)][:-1]
    print("  ".join(f"{head:>9}" for head in heads))
    for one in found:
        print("  ".join(f"{getattr(one, head)!s:>9}" for head in heads))
    faults = [f"{one.section}: {fault}" for one in found for fault in one.lacks]
    print("\n".join(faults))
    totals = {h: sum(getattr(one, h) for one in found) for h in heads[1:]}
    print("in all: " + ", ".join(f"{n} {what}" for what, n in totals.items()))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
