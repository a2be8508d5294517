"""``{claims-table} 1``: a chapter's rows of the claims ledger, judged at build time.

``{claims-count} 1`` is a line for the chapter's index: how many by verdict, and a link
to its evidence page, which has the table. In the table, claims with a computed value or
a citation of ours come first; those whose check is not written yet are folded below,
counted, so that nothing is hidden.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from by_page import remember
from claims_ledger import SHOWN, number, state, verdict_class
from computed_links import nearest
from docutils import nodes
from docutils.parsers.rst import directives
from exercise_box import folded
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from stacklib import pages
from stacklib.evidence import Judgement, claims, counted

PAGE = "/book/evidence/chapter-{chapter}"  # the evidence page of a chapter
HEAD = ("Claim", "Claimed", "Computed", "Verdict")
WIDTHS = (52, 16, 16, 16)


def cell(*children: nodes.Node) -> nodes.entry:
    """A table cell holding one paragraph per child."""
    return nodes.entry("", *(nodes.paragraph("", "", child) for child in children))


def computed_cell(judgement: Judgement) -> nodes.entry:
    """Our value, which opens like every computed number; empty where none is."""
    if judgement.computed is None:
        return cell(nodes.Text("–"))
    return cell(number(judgement))


def row(judgement: Judgement) -> nodes.row:
    """Claim with its document and the reason, claimed, computed, verdict."""
    claim = judgement.claim
    where = f"{claim.document} ({claim.id})"
    reason = f"{judgement.reason} {judgement.first_review}".rstrip()
    verdict = nodes.inline("", judgement.verdict)
    verdict["classes"] = ["st-verdict", verdict_class(judgement)]
    first = cell(
        nodes.Text(claim.text),
        nodes.inline("", where, classes=["st-source"]),
        nodes.inline("", reason, classes=["st-why"]),
    )
    claimed = cell(nodes.Text(claim.claimed))
    return nodes.row("", first, claimed, computed_cell(judgement), cell(verdict))


def table(judgements: list[Judgement]) -> nodes.table:
    """The rows as a table that scrolls on a narrow screen."""
    group = nodes.tgroup("", cols=len(HEAD))
    group += [nodes.colspec(colwidth=width) for width in WIDTHS]
    head = nodes.row("", *(cell(nodes.Text(word)) for word in HEAD))
    group += nodes.thead("", head)
    group += nodes.tbody("", *(row(judgement) for judgement in judgements))
    return nodes.table("", group, classes=["st-claims"])


class OfChapter(SphinxDirective):
    """What is shown of a chapter's claims; the page is read again when they change."""

    required_arguments = 1

    def of(self) -> int:
        """The chapter asked for, remembered with the state of its rows."""
        chapter = self.chapter()
        remember(self.env, SHOWN, {chapter: state(self.env.app, chapter)})
        return chapter

    def chapter(self) -> int:
        """The argument as the number of a chapter that has claims."""
        known = sorted({row.claim.chapter for row in claims()})
        text = self.arguments[0].strip()
        if text not in map(str, known):
            raise self.error(
                f"{{{self.name}}} {text!r}: no such chapter; one of {known}"
            )
        return int(text)


class ClaimsCount(OfChapter):
    """How many claims of a chapter, by verdict, and a link to them all."""

    def run(self) -> list[nodes.Node]:
        chapter = self.of()
        counts = nodes.Text(f"{counted(pages.claims(chapter=chapter))}. ")
        page = addnodes.pending_xref(
            "",
            nodes.inline("", f"All claims of chapter {chapter}"),
            refdomain="std",
            reftype="doc",
            reftarget=PAGE.format(chapter=chapter),
            refexplicit=True,
            refwarn=True,
            refdoc=self.env.docname,
        )
        return [nodes.paragraph("", "", counts, page, nodes.Text("."))]


class ClaimsTable(OfChapter):
    """The table of one chapter, or with ``:only: ID ...`` those rows of it."""

    option_spec: ClassVar = {"only": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        chapter = self.of()
        rows = {row.claim.id: row for row in pages.claims(chapter=chapter)}
        if "only" in self.options:
            return [table([rows[id] for id in self.only(rows)])]
        return self.all(list(rows.values()))

    def only(self, rows: Mapping[str, Judgement]) -> list[str]:
        """The ids asked for, each one of the chapter's."""
        asked = self.options["only"].split()
        for name in asked:
            if name not in rows:
                raise self.error(
                    f"{{claims-table}}: no claim {name!r} here{nearest(name, rows)}"
                )
        return asked

    def all(self, judgements: list[Judgement]) -> list[nodes.Node]:
        """Counts, the judged rows, and the rest folded."""
        checked = pages.checks()
        judged, waiting = [], []
        for judgement in judgements:
            ours = judgement.claim.id in checked or judgement.verdict == "cited"
            (judged if ours else waiting).append(judgement)
        shown: list[nodes.Node] = [nodes.paragraph("", f"{counted(judgements)}.")]
        if judged:
            shown.append(table(judged))
        if waiting:
            shown.append(folded(f"Not judged yet: {len(waiting)}", table(waiting)))
        return shown


def together(app: Sphinx, env: Any, docs: list[str]) -> None:
    """Have pages that show claims read first, so by one process, which judges once."""
    docs.sort(key=lambda page: b"{claims-" not in Path(env.doc2path(page)).read_bytes())


def setup(app: Sphinx) -> dict[str, Any]:
    """Register both directives."""
    app.add_directive("claims-table", ClaimsTable, override=True)
    app.add_directive("claims-count", ClaimsCount, override=True)
    app.setup_extension("claims_ledger")
    app.connect("env-before-read-docs", together)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True}
