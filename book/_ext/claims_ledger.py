"""``{claims-ledger}``: every claim of the ledger, by chapter, to search and filter.

Without JavaScript all rows are there, a fold for each chapter; ``claims.js`` adds
the search box, the filters and an address for what they show. Each claim has an
anchor of its own, ``#claim-ID``.
"""

from typing import Any, ClassVar

from by_page import by_page, remember, watch
from computed_links import computed_number, digest
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxTranslator

from stacklib import pages
from stacklib.evidence import DOCUMENTS, VERDICTS, Judgement, counted

SHOWN = "claims_digests"  # by page the chapters it shows, None is the whole ledger
TITLES = (
    "Roofline",
    "GPU architecture",
    "The memory hierarchy",
    "Kernels",
    "TPUs and other accelerators",
    "Interconnects",
    "Number formats",
    "Inference and serving",
    "DIY builds",
    "Frontier and co-design",
)


class ledger(nodes.General, nodes.Element):
    """The form, the count, and the groups inside."""


class claim_group(nodes.General, nodes.Element):
    """One chapter's claims behind a line to open."""


class claim_item(nodes.General, nodes.Element):
    """One claim."""


def number(judgement: Judgement) -> computed_number:
    """Our value, which opens like every computed number."""
    quantity = judgement.computed
    assert quantity is not None
    tree = {**quantity.tree(), "text": judgement.computed_text}
    tree |= {"what": judgement.claim.text, "evidence": judgement.verdict}
    node = computed_number("", judgement.computed_text, tree=tree)
    node["data-q"] = f"claim:{judgement.claim.id}"
    return node


def verdict_class(judgement: Judgement) -> str:
    """The class that colours a verdict: ``st-verdict-right-if``."""
    return f"st-verdict-{judgement.verdict.replace(' ', '-')}"


def word(text: str, *classes: str) -> nodes.inline:
    """Inline text of a class."""
    return nodes.inline("", text, classes=list(classes))


def pair(what: str, value: nodes.Node) -> nodes.inline:
    """A value and what it is, which stay on one line."""
    what_it_is = word(f"{what} ", "st-claim-what")
    return nodes.inline("", "", what_it_is, value, classes=["st-claim-pair"])


def link(id: str, *classes: str) -> nodes.reference:
    """A link to a claim of this page, reading its id."""
    return nodes.reference(
        "", id, refuri=f"#claim-{id}", internal=True, classes=list(classes)
    )


def facts(judgement: Judgement) -> nodes.paragraph:
    """Verdict, what is claimed, what we compute, and where it is claimed."""
    claim, verdict = judgement.claim, judgement.verdict
    line = nodes.paragraph(classes=["st-claim-facts"])
    line += word(verdict, "st-verdict", verdict_class(judgement))
    line += [nodes.Text(" "), pair("claimed", word(claim.claimed, "st-claim-value"))]
    if judgement.computed is not None:
        line += [nodes.Text(" "), pair("computed", number(judgement))]
    line += [nodes.Text(" "), word(claim.document, "st-claim-source")]
    return line


def reasons(judgement: Judgement) -> nodes.paragraph:
    """Why, in words; what a first review said; which claim this one repeats."""
    claim = judgement.claim
    line = nodes.paragraph(classes=["st-claim-why"])
    line += word(judgement.reason, "st-claim-reason")
    if judgement.first_review:
        line += [nodes.Text(" "), word(judgement.first_review, "st-claim-first")]
    if claim.same_as:
        line += [nodes.Text(" Same claim as "), link(claim.same_as), nodes.Text(".")]
    return line


def item(judgement: Judgement) -> claim_item:
    """One claim as a card."""
    claim = judgement.claim
    text = nodes.paragraph(classes=["st-claim-text"])
    text += [nodes.Text(f"{claim.text} "), link(claim.id, "st-claim-id")]
    return claim_item(
        "",
        text,
        facts(judgement),
        reasons(judgement),
        ids=[f"claim-{claim.id}"],
        source=claim.source,
        verdict=judgement.verdict,
    )


class ClaimsLedger(SphinxDirective):
    """All claims; no argument."""

    option_spec: ClassVar = {}

    def run(self) -> list[nodes.Node]:
        remember(self.env, SHOWN, {None: state(self.env.app, None)})
        judged = pages.claims()
        whole = ledger(count=counted(judged))
        for chapter, title in enumerate(TITLES, 1):
            own = [j for j in judged if j.claim.chapter == chapter]
            whole += claim_group(
                "",
                *map(item, own),
                chapter=chapter,
                title=f"Chapter {chapter}: {title}",
                count=counted(own),
                opened=chapter == 1,
            )
        return [whole]


# ---- what is written ----


def select(
    self: SphinxTranslator, name: str, label: str, every: str, options: Any
) -> str:
    """A labelled menu whose first entry filters nothing."""
    entries = "".join(
        f'<option value="{self.attval(value)}">{self.encode(text)}</option>'
        for value, text in (("", every), *options)
    )
    field = f"st-claims-{name}"
    return (
        f'<span class="st-claims-field"><label for="{field}">{label}</label>'
        f'<select id="{field}" name="{name}">{entries}</select></span>'
    )


def open_ledger(self: SphinxTranslator, node: ledger) -> None:
    chapters = [(str(n), f"{n}: {title}") for n, title in enumerate(TITLES, 1)]
    documents = [(key, f"{key}: {text}") for key, text in DOCUMENTS.items()]
    verdicts = [(verdict, verdict) for verdict in VERDICTS]
    self.body.append(
        '<div class="st-claims-ledger">\n'
        '<form class="st-claims-form" role="search" aria-label="Claims" hidden>'
        '<span class="st-claims-field st-claims-words">'
        '<label for="st-claims-search">Search the claims</label>'
        '<input id="st-claims-search" name="search" type="search" autocomplete="off" '
        'spellcheck="false"></span>'
        + select(self, "chapter", "Chapter", "all chapters", chapters)
        + select(self, "source", "Document", "all documents", documents)
        + select(self, "verdict", "Verdict", "all verdicts", verdicts)
        + '<button type="reset" class="st-button">Clear</button></form>\n'
        f'<p class="st-claims-count" role="status" aria-live="polite">'
        f"{self.encode(node['count'])}</p>\n"
    )


def close_ledger(self: SphinxTranslator, node: ledger) -> None:
    self.body.append("</div>\n")


def open_group(self: SphinxTranslator, node: claim_group) -> None:
    self.body.append(
        f'<details class="st-claims-group" data-chapter="{node["chapter"]}"'
        f"{' open' if node['opened'] else ''}>"
        f'<summary><span class="st-claims-title">{self.encode(node["title"])}</span> '
        f'<span class="st-claims-sum">{self.encode(node["count"])}</span></summary>\n'
        '<ul class="st-claims-list">\n'
    )


def close_group(self: SphinxTranslator, node: claim_group) -> None:
    self.body.append("</ul></details>\n")


def open_item(self: SphinxTranslator, node: claim_item) -> None:
    # Written by hand: the list is ours, and the id is the card's own.
    self.body.append(
        f'<li class="st-claim" id="{node["ids"][0]}" data-source="{node["source"]}" '
        f'data-verdict="{node["verdict"]}">'
    )


def close_item(self: SphinxTranslator, node: claim_item) -> None:
    self.body.append("</li>\n")


def pass_by(self: SphinxTranslator, node: nodes.Node) -> None:
    """Other writers show the plain text."""


# ---- pages that would read differently now ----


def state(app: Sphinx, chapter: int | None) -> str:
    """Digest of a chapter's rows, or of the whole ledger."""
    return digest({"rows": [row.row for row in pages.claims(chapter=chapter)]})


def add_assets(app: Sphinx, page: str, template: str, context: Any, _: Any) -> None:
    """The ledger's style and script, on its own page only."""
    if None in by_page(app.env, SHOWN).get(page, ()):
        app.add_css_file("claims.css")
        app.add_js_file("claims.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive, its nodes, its files and the check of pages."""
    app.add_directive("claims-ledger", ClaimsLedger, override=True)
    writers = (
        (ledger, open_ledger, close_ledger),
        (claim_group, open_group, close_group),
        (claim_item, open_item, close_item),
    )
    others = dict.fromkeys(("latex", "text", "man", "texinfo"), (pass_by, pass_by))
    for node, opened, closed in writers:
        app.add_node(node, override=True, html=(opened, closed), **others)
    watch(app, SHOWN, state)
    app.connect("html-page-context", add_assets)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True}
