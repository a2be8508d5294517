"""Computed numbers: ``[21.5 ms](#q:decode.t_mem)`` becomes a number that opens.

What stands between the brackets, and the derivation behind it, were stored by the cell
that says the number (``stacklib.quantity.say``); nothing is computed here. A bracket
that differs from its stored text, a stored text that differs from its derivation and a
stored leaf that differs from the record it names are warnings, and no page is built
with one under ``-W``. The derivations of a page's numbers are embedded once at its end,
as JSON, for ``quantities.js``. Print and pages without JavaScript keep the plain text.
"""

import difflib
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from _tools import leaves, said
from by_page import remember, watch
from docutils import nodes
from shared_trees import shared
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxTranslator

logger = logging.getLogger(__name__)

PREFIX = "#q:"
DRAWN = re.compile(r'<tspan class="st-q" data-q="([^"]+)"')
LEADS = re.compile(r'(<a href="[^":]+)\.ipynb"')


class computed_number(nodes.inline):
    """Inline text of a computed number, named by attribute ``data-q``.

    A node that no cell said brings its derivation in attribute ``tree``;
    raw HTML brings those of its numbers in attribute ``trees``, by name. What writes
    a said number by itself names it in attribute ``shows``.
    """


class page_trees(nodes.General, nodes.Element):
    """The derivations of a page's numbers, invisible, at the page's end."""


def numbers_of(app: Sphinx) -> dict[str, Any]:
    """Every number of this book by name, as its cell stored it."""
    if not hasattr(app, "computed_numbers"):
        app.computed_numbers = said.numbers(Path(app.srcdir))
    return app.computed_numbers


def hold(app: Sphinx, *_: Any) -> None:
    """Warn of stored texts and leaves that are no longer true."""
    cells = list(said.cells(Path(app.srcdir)))
    for fault in [*said.faults(said.index(cells)), *leaves.stale(cells)]:
        logger.warning(fault)


def nearest(name: str, known: Iterable[str]) -> str:
    """``; nearest: a, b`` for the names of `known` closest to `name`."""
    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.4)
    return f"; nearest: {', '.join(close)}" if close else ""


def digest(tree: dict[str, Any]) -> str:
    """Short digest of a derivation, to see on a later build that it moved."""
    text = json.dumps(tree, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def as_script(data: dict[str, Any]) -> str:
    """`data` as JSON that may stand inside a ``<script>`` element."""
    return json.dumps(data, sort_keys=True, default=str).replace("</", "<\\/")


def span(name: str, text: str) -> computed_number:
    """The node of one computed number."""
    node = computed_number("", text)
    node["data-q"] = name
    return node


class ComputedLinks(SphinxTransform):
    """Replace ``#q:`` references before anything resolves link targets."""

    default_priority = 1  # later, MyST reports each as a missing target

    def apply(self, **kwargs: Any) -> None:
        links = [
            node
            for node in self.document.findall(nodes.reference)
            if node.get("refuri", "").startswith(PREFIX)
        ]
        shown, own = set(), {}
        for node in self.document.findall(computed_number):
            if "tree" in node:
                own[node["data-q"]] = node["tree"]
            else:
                shown.add(node["data-q"])
        for node in self.document.findall(nodes.Element):
            own |= node.get("trees", {}) if isinstance(node, nodes.raw) else {}
            shown |= {node["shows"]} if "shows" in node else set()
            shown |= self.drawn(node) if isinstance(node, nodes.raw) else set()
        for link in links:
            name = link["refuri"].removeprefix(PREFIX)
            if self.check(name, link):
                shown.add(name)
            link.replace_self(span(name, link.astext()))
        self.embed(sorted(shown), own)

    def drawn(self, node: nodes.raw) -> set[str]:
        """Numbers that a drawing has named in its texts, as its cell said them.

        What leads to a notebook leads to its page.
        """
        html = node.astext()
        if "st-drawing" in html and LEADS.search(html):
            node[:] = [nodes.Text(LEADS.sub(r'\1.html"', html))]
        names = set(DRAWN.findall(html)) if "st-drawing" in html else set()
        for name in names - set(numbers_of(self.app)):
            logger.warning("a drawing names %r, which no cell says", name)
        return names & set(numbers_of(self.app))

    def check(self, name: str, link: nodes.reference) -> bool:
        """Warn of an unknown name or a stale text; True when the name is known."""
        known = numbers_of(self.app)
        if name not in known:
            logger.warning(
                "no computed number %r%s", name, nearest(name, known), location=link
            )
            return False
        fresh = known[name].text
        if link.astext() != fresh:
            logger.warning(
                "computed number %r reads %r here, its cell says %r; run make links",
                name,
                link.astext(),
                fresh,
                location=link,
            )
        return True

    def embed(self, names: list[str], own: dict[str, dict[str, Any]]) -> None:
        """Append the derivations; remember the said ones for the next build."""
        numbers = numbers_of(self.app)
        trees = {name: numbers[name].tree() for name in names}
        if trees or own:
            # Inside the last section: what follows the sections of a chapter's first
            # page would make its pages stand beside it in the list of contents.
            last = self.document.children[-1]
            end = last if isinstance(last, nodes.section) else self.document
            end += page_trees(trees=as_script(shared({**trees, **own})))
        if trees:
            digests = {name: digest(tree) for name, tree in trees.items()}
            remember(self.env, "computed_number_digests", digests)


def state(app: Sphinx, name: str) -> str:
    """Digest of a number's derivation; empty where no cell says it any more."""
    numbers = numbers_of(app)
    return digest(numbers[name].tree()) if name in numbers else ""


def open_span(self: SphinxTranslator, node: computed_number) -> None:
    attributes = {"class": "st-q", "data-q": node["data-q"]}
    self.body.append(self.starttag(node, "span", "", **attributes))


def close_span(self: SphinxTranslator, node: computed_number) -> None:
    self.body.append("</span>")


def write_trees(self: SphinxTranslator, node: page_trees) -> None:
    self.body.append(
        f'<script type="application/json" id="st-quantities">{node["trees"]}</script>\n'
    )
    raise nodes.SkipNode


def pass_by(self: SphinxTranslator, node: nodes.Node) -> None:
    """Other writers show the plain text."""


def skip(self: SphinxTranslator, node: nodes.Node) -> None:
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform, its nodes and the check of remembered pages."""
    others = ("latex", "text", "man", "texinfo")
    app.add_node(
        computed_number,
        override=True,
        html=(open_span, close_span),
        **dict.fromkeys(others, (pass_by, pass_by)),
    )
    app.add_node(
        page_trees,
        override=True,
        html=(write_trees, pass_by),
        **dict.fromkeys(others, (skip, pass_by)),
    )
    app.add_transform(ComputedLinks)
    app.connect("env-check-consistency", hold)
    watch(app, "computed_number_digests", state)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True}
