"""No typed numbers: every quantity in prose is computed, or allowed by name.

A quantity may stand in a computed link, in code, in a citation, in the *claimed*
column of a table, in a sentence of an exercise that says "suppose" or where the
value is from, or in a phrase of `book/allowlist.toml`.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from _tools import prose, quantities, tree
from _tools.prose import Block

ALLOWED_AT_MOST = 60
Span = tuple[int, int]

CITATION = re.compile(r"\{cite[\w:]*\}`[^`]*`|\[@[^\]]*\]|\[\^[^\]]+\]")
TARGET = re.compile(r"(?<=\])\([^()\s]*|<https?://[^>]+>|https?://\S+")
# What a reader sees of a mark: the words under a picture, and over a link.
SEEN = r"""\b(?:title|alt|aria-label)\s*=\s*(?:"[^"]*"|'[^']*')"""
HTML = re.compile(
    rf"<!--.*?-->|</?[a-zA-Z](?:(?!{SEEN})[^>])*>?|(?<=[\"'])\s*/?>", re.S
)
INLINE = re.compile(r"</?(?:b|i|em|strong|su[bp]|span|small|mark)\b[^>]*>", re.I)
DIGIT = re.compile(r"&#(?:0*(?:4[89]|5[0-7])|x0*3\d);", re.I)
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
OPTION = re.compile(r"^[ \t]*:(?!alt:)[\w-]+:[^\n]*$|^[ \t]*[`:~]{3,}\{[\w:-]+\}", re.M)
TABLE = re.compile(r"(?:^[ \t]*\|[^\n]*(?:\n|\Z))+", re.M)
MATH = re.compile(
    r"(?<![\\$\w])\$(?![\s$])[^$\n]+?(?<!\s)\$(?![\d$])|\$\$.+?\$\$", re.S
)
# Spacing and wrappers inside a formula: 3.35\,\mathrm{TB/s} reads 3.35 TB/s.
WRAPPER = re.compile(r"\\(?:[,;:! ]|q?quad|(?:mathrm|text|mathit|mathbf)\{)|[{}$~]")
EMPHASIS = re.compile(r"(?<![\w*_])[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)")
GIVEN = re.compile(
    r"\bsuppose\b|\baccording to\b|\bsource:|\bdatasheets?\b|\bdata sheets?\b"
    r"|\bspecifications?\b|\bwhite ?paper\b|\bpaper\b|\bmodel(?:'s)? card\b"
    r"|`config\.json`",
    re.I,
)


@dataclass(frozen=True)
class Typed:
    """A quantity typed where one should be computed."""

    block: Block
    found: quantities.Found

    @property
    def sentence(self) -> str:
        return prose.sentence_at(self.block.text, self.found.start)

    def __str__(self) -> str:
        line = prose.line_of(self.block.text, self.found.start)
        text = self.found.text
        return (
            f'{self.block}, line {line}: {self.found.kind} "{text}" is typed, not '
            f'computed, in "{self.sentence}"; write [{text}](#q:name) or allow the '
            "phrase in book/allowlist.toml"
        )


def typed(block: Block) -> list[Typed]:
    """The quantities of a block that no rule accepts."""
    visible = blanked(block)
    hits = [Typed(block, f) for f in quantities.find(visible)]
    hits += [
        Typed(block, quantities.Found("digit in code", m[0], *m.span()))
        for m in DIGIT.finditer(visible)
    ]
    if block.kind == "exercise":
        hits = [t for t in hits if not GIVEN.search(t.sentence)]
    return hits


def blanked(block: Block) -> str:
    """The text with everything blanked in which a quantity may stand."""
    text = prose.blank(block.text, prose.code_spans(block.text))
    inline = [m.span() for m in INLINE.finditer(text) if not re.search(SEEN, m[0])]
    text = prose.blank(text, inline, quantities.NOTHING)
    for pattern in (FRONT_MATTER, prose.LINK, CITATION, TARGET, HTML, OPTION):
        text = prose.blank(text, [m.span() for m in pattern.finditer(text)])
    text = prose.blank(text, claimed_cells(text))
    for formula in MATH.finditer(text):
        gaps = [m.span() for m in WRAPPER.finditer(text, *formula.span())]
        text = prose.blank(text, gaps, quantities.NOTHING)
    # Emphasis marks part a number from its unit: **3** ms.
    marks = [m.span() for m in EMPHASIS.finditer(text)]
    return prose.blank(text, marks, quantities.NOTHING)


def claimed_cells(text: str) -> list[Span]:
    """The cells under a heading that says *claimed*, in every table."""
    spans: list[Span] = []
    for table in TABLE.finditer(text):
        rows = list(re.finditer(r"[^\n]+", text[table.start() : table.end()]))
        head = rows[0][0].strip().strip("|").lower().split("|")
        columns = {i for i, cell in enumerate(head) if "claimed" in cell}
        for row in rows[1:]:
            start = table.start() + row.start()
            spans += [s for i, s in enumerate(cells(row[0], start)) if i in columns]
    return spans


def cells(row: str, start: int) -> Iterator[Span]:
    """Start and end of each cell of a table row."""
    bars = [m.start() for m in re.finditer(r"\|", row)]
    if bars and row[bars[-1] :].strip() != "|":
        bars.append(len(row))
    yield from ((start + a + 1, start + b) for a, b in pairwise(bars))


def allowlist_faults(entries: list[dict], hits: list[Typed]) -> list[str]:
    """What is wrong with the allow-list: too long, incomplete, or no longer needed."""
    faults = []
    if len(entries) > ALLOWED_AT_MOST:
        faults.append(
            f"book/allowlist.toml has {len(entries)} entries; at most {ALLOWED_AT_MOST}"
        )
    for entry in entries:
        missing = [k for k in ("text", "file", "why") if not entry.get(k, "").strip()]
        if missing:
            faults.append(f"book/allowlist.toml: {entry} lacks {', '.join(missing)}")
        elif not any(allows(entry, hit) for hit in hits):
            faults.append(
                f'book/allowlist.toml: "{entry["text"]}" allows nothing in '
                f"{entry['file']}; delete the entry"
            )
    return faults


def allows(entry: dict, hit: Typed) -> bool:
    """Whether the quantity stands inside the entry's phrase, in the entry's file."""
    if entry.get("file") != hit.block.file or not entry.get("text"):
        return False
    phrase = re.compile(r"\s+".join(map(re.escape, entry["text"].split())))
    spans = [m.span() for m in phrase.finditer(hit.block.text)]
    return any(a <= hit.found.start and hit.found.end <= b for a, b in spans)


def faults(blocks: Iterable[Block], entries: list[dict] | None = None) -> list[str]:
    """Every typed quantity that no entry allows, and every fault of the entries."""
    entries = entries or []
    hits = [t for block in blocks for t in typed(block)]
    bare = [str(t) for t in hits if not any(allows(entry, t) for entry in entries)]
    return bare + allowlist_faults(entries, hits)


def allowed(root: Path = tree.ROOT) -> list[dict]:
    """The entries of `book/allowlist.toml`."""
    return tree.read_toml(root / "book" / "allowlist.toml").get("allow", [])


def main() -> int:
    """Print every fault; exit 1 where there is one."""
    found = faults(prose.blocks(), allowed())
    print("\n".join([*found, f"{len(found)} typed quantities or allow-list faults"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
