"""The glossary's terms: the first use of each links to it, search finds their pages.

Pages link terms by hand where they explain them; the first use often comes earlier,
and moves when a page is written anew. So every page marks its own first uses as it is
read, and those that another page has before it become plain words again as it is
written. Where the glossary says that a page explains a term, search has that page
first.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from posixpath import normpath
from typing import Any

from by_page import by_page, keep
from docutils import nodes
from sphinx.addnodes import index, pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

PAGE = "book/glossary"
# The text; facts and API link by rows, and the map's L1 and L2 are layers of a stack.
TOLD = re.compile(r"chapters/|book/(?!glossary$|stack-map$)[\w-]+$")
ENTRY = re.compile(r"^(?![\s:#])(\S.*)\n((?:  .*\n|(?=\n  )\n)+)", re.M)
WHERE = re.compile(r"\]\(([\w./-]+)\.(?:ipynb|md)\)")
# Everyday words, too: linked by hand where the term is meant.
EVERYDAY = frozenset({"pass", "stack map", "stream", "wave", "yield"})
PLAIN = (nodes.paragraph, nodes.term)
NOT_WORDS = (nodes.reference, nodes.literal, nodes.math, pending_xref, nodes.title)


@cache
def entries(page: Path) -> dict[str, str]:
    """What a glossary says of each of its terms."""
    return dict(ENTRY.findall(page.read_text("utf-8")))


@cache
def explained(page: Path) -> dict[str, list[str]]:
    """The terms that each page explains, as the glossary says."""
    found: dict[str, list[str]] = {}
    for term, text in entries(page).items():
        for place in WHERE.findall(text):
            found.setdefault(normpath(f"{PAGE}/../{place}"), []).append(term)
    return found


@cache
def terms(page: Path) -> dict[str, str]:
    """The terms of a glossary by what may stand for them: themselves and plurals."""
    found = entries(page).keys() - EVERYDAY
    return {form: term for term in found for form in forms(term)}


def forms(term: str) -> Iterator[str]:
    """A term, its plural, and both as a sentence begins."""
    for word in (term, f"{term}s"):
        yield word
        if term.islower():
            yield word[0].upper() + word[1:]


@cache
def pattern(page: Path) -> re.Pattern[str]:
    """Any of the terms, the longest first, as whole words."""
    longest = sorted(map(re.escape, terms(page)), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(longest)})(?![\w-])")


def uses(env: BuildEnvironment) -> dict[str, set[str]]:
    """The terms that each page uses, kept in Sphinx's pickled environment."""
    return by_page(env, "term_uses")


class MarkUses(SphinxTransform):
    """Makes the page's first use of each term a link."""

    default_priority = 600

    def apply(self, **kwargs: Any) -> None:
        """Read the page from its top, words and links by hand alike."""
        source = Path(self.env.srcdir) / f"{PAGE}.md"
        page = self.env.docname
        if not TOLD.match(page) or not source.exists():
            return
        self.env.note_dependency(str(source))
        for section in list(self.document.findall(nodes.section))[:1]:
            section.insert(1, found_by(*explained(source).get(page, ())))
        seen = uses(self.env).setdefault(page, set())
        for node in list(self.document.findall()):
            if isinstance(node, pending_xref) and node.get("reftype") == "term":
                seen.add(terms(source).get(node["reftarget"], node["reftarget"]))
            elif isinstance(node, nodes.Text) and is_prose(node):
                node.parent.replace(node, linked(node.astext(), seen, source, page))


def found_by(*names: str) -> index:
    """Names under which the index, and so search, has a page before others."""
    return index(entries=[("single", name, "", "main", None) for name in names])


def is_prose(text: nodes.Text) -> bool:
    """Whether a text stands in a sentence, and in no link, code or formula."""
    above = list(ancestors(text))
    return any(isinstance(a, PLAIN) for a in above) and not any(
        isinstance(a, NOT_WORDS) or type(a).__name__ == "computed_number" for a in above
    )


def ancestors(node: nodes.Node) -> Iterator[nodes.Node]:
    """What holds a node, from the inside."""
    while node.parent is not None:
        node = node.parent
        yield node


def linked(text: str, seen: set[str], source: Path, page: str) -> list[nodes.Node]:
    """The text with links at the terms that were not `seen`, which it adds to."""
    parts: list[nodes.Node] = []
    end = 0
    for match in pattern(source).finditer(text):
        term = terms(source)[match[0]]
        if term in seen:
            continue
        seen.add(term)
        parts += [nodes.Text(text[end : match.start()]), link(match[0], term, page)]
        end = match.end()
    return [*parts, nodes.Text(text[end:])]


def link(words: str, term: str, page: str) -> pending_xref:
    """A reference to a term, as the role of that name makes it, and marked."""
    return pending_xref(
        "",
        nodes.inline("", words, classes=["st-term"]),
        first_use=term,
        refdoc=page,
        refdomain="std",
        reftype="term",
        reftarget=term,
        refexplicit=True,
        refwarn=True,
    )


class KeepFirst(SphinxPostTransform):
    """Takes the links away where the book used the term on a page before."""

    default_priority = 5  # before Sphinx looks them up, which is 10

    def run(self, **options: Any) -> None:
        """Keep the links of terms that no page before this one uses."""
        marked = [n for n in self.document.findall(pending_xref) if "first_use" in n]
        if not marked:
            return
        before = earlier(self.env, self.env.docname)
        for node in marked:
            if node["first_use"] in before:
                node.replace_self(nodes.Text(node.astext()))


def earlier(env: BuildEnvironment, page: str) -> set[str]:
    """The terms that the pages before a page use, in the order of the contents."""
    order = list(walk(env, env.config.root_doc))
    pages = order[: order.index(page)] if page in order else order
    return {term for one in pages for term in uses(env).get(one, ())}


def walk(env: BuildEnvironment, page: str) -> Iterator[str]:
    """The pages of the book, each before its sections."""
    yield page
    for below in env.toctree_includes.get(page, ()):
        yield from walk(env, below)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register both transforms."""
    app.add_transform(MarkUses)
    app.add_post_transform(KeepFirst)
    keep(app, "term_uses")
    return {"version": "1", "env_version": 1, "parallel_read_safe": True}
