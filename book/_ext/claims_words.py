"""``{claims-words} rules``: what words and kinds of claims mean, as the judge has it.

``{claims-words} count`` counts words by chapter and kind, and ``{claims-words} moved``
lists the claims whose word is not the former one, each with the rule that moved it.
"""

from collections.abc import Iterable
from typing import Any

from by_page import remember
from claims_ledger import SHOWN, link, state
from claims_table import cell
from computed_links import nearest
from docutils import nodes
from exercise_box import folded
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from stacklib import pages
from stacklib.evidence import VERDICTS, Judgement
from stacklib.evidence.judge import MEANING
from stacklib.evidence.kinds import KINDS
from stacklib.evidence.moved import moved, words


def plain(text: object) -> nodes.Node:
    """Text of a cell."""
    return nodes.Text(str(text))


def table(
    head: Iterable[str], rows: Iterable[Iterable[nodes.Node]], widths: tuple[int, ...]
) -> nodes.table:
    """A table of the given cells."""
    group = nodes.tgroup("", cols=len(widths))
    group += [nodes.colspec(colwidth=width) for width in widths]
    group += nodes.thead("", nodes.row("", *(cell(plain(word)) for word in head)))
    group += nodes.tbody("", *(nodes.row("", *map(cell, row)) for row in rows))
    return nodes.table("", group)


def rules(_: list[Judgement]) -> list[nodes.Node]:
    """What each word means, and the rule of each kind."""
    means = ([plain(word), plain(meaning)] for word, meaning in MEANING.items())
    told = ([plain(name), plain(kind.rule)] for name, kind in KINDS.items())
    return [
        table(("verdict", "meaning"), means, (24, 76)),
        table(("kind of claim", "rule"), told, (24, 76)),
    ]


def count(judged: list[Judgement]) -> list[nodes.Node]:
    """How many claims have a word, by chapter and kind; a word in turn."""
    found = words(judged)
    rows = sorted({(chapter, kind) for chapter, kind, _ in found}, key=_order)
    lines = []
    for chapter, kind in rows:
        each = [(found[chapter, kind, word], word) for word in VERDICTS]
        told = ", ".join(f"{many} {word}" for many, word in each if many)
        lines.append([plain(chapter), plain(kind), plain(told)])
    whole = table(("chapter", "kind", "words"), lines, (10, 18, 72))
    return [folded("Words by chapter and kind", whole)]


def _order(row: tuple[int, str]) -> tuple[int, int]:
    return row[0], list(KINDS).index(row[1])


def changed(judged: list[Judgement]) -> list[nodes.Node]:
    """The claims whose word moved."""
    lines = [
        [
            link(one.judgement.claim.id),
            plain(one.before),
            plain(one.judgement.verdict),
            plain(one.why),
        ]
        for one in moved(judged)
    ]
    whole = table(("claim", "was", "is", "by which rule"), lines, (30, 14, 16, 40))
    return [folded(f"Words that moved: {len(lines)}", whole)]


PARTS = {"rules": rules, "count": count, "moved": changed}


class ClaimsWords(SphinxDirective):
    """One part; the argument names it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        asked = self.arguments[0].strip()
        if asked not in PARTS:
            raise self.error(f"{{claims-words}}: no {asked!r}{nearest(asked, PARTS)}")
        remember(self.env, SHOWN, {None: state(self.env.app, None)})
        return PARTS[asked](pages.claims())


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("claims-words", ClaimsWords, override=True)
    app.setup_extension("claims_ledger")
    return {"version": "1", "env_version": 1, "parallel_read_safe": True}
