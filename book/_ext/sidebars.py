"""The sidebar is made once a folder, and marked on each page.

The theme resolves the whole tree of contents anew for every page. Pages of one folder
differ in it only by the mark of where the reader is: the page's own entry and those
above it. So a folder's sidebar is made once without a mark, and each page marks a copy.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from bs4 import BeautifulSoup
from pydata_sphinx_theme.toctree import add_toctree_functions
from sphinx.application import Sphinx


@cache
def unmarked(app: Sphinx, page: str, options: tuple[tuple[str, Any], ...]) -> str:
    """The theme's sidebar for a page that is in no tree of contents."""
    context: dict[str, Any] = {
        "toctree": partial(app.builder._get_local_toctree, page)  # type: ignore
    }
    add_toctree_functions(app, page, "", context, None)
    return str(context["generate_toctree_html"](**dict(options)))


def marked(sidebar: str, href: str) -> str:
    """A sidebar with the entry that leads to `href` as the page being read."""
    soup = BeautifulSoup(sidebar, "html.parser")
    entry = soup.find("a", href=href)
    if entry is None:  # the book's first page, say
        return sidebar
    entry["href"] = "#"
    entry["class"] = ["current", *entry["class"]]
    for above in entry.parents:
        if above.name == "ul":
            above["class"] = ["current", *above.get("class", [])]
        elif above.name == "li":
            depth, *others = above["class"]
            above["class"] = [depth, "current", "active", *others]
            for part in above.find_all("details", recursive=False):
                part["open"] = "open"
    return str(soup)


def on_page(app: Sphinx, page: str, template: str, context: Any, _: Any) -> None:
    """Give the page's template the kept sidebar in place of the theme's own."""
    made = context["generate_toctree_html"]
    beside = f"{page.rpartition('/')[0]}/-".lstrip("/")  # what is called so is no page
    if page.startswith("_modules/"):  # no document is near: the depth alone counts
        beside = "/".join("-" * len(page.split("/")))

    def sidebar(**options: Any) -> Any:
        if options.get("startdepth") or options.get("collapse"):
            return made(**options)  # what else differs from page to page
        kept = unmarked(app, beside, tuple(sorted(options.items())))
        if page not in app.env.found_docs:
            return kept
        return marked(kept, app.builder.get_relative_uri(beside, page))

    context["generate_toctree_html"] = sidebar


def come_next(app: Sphinx) -> None:
    """Call `on_page` right after the theme has put its own function in.

    Later is too late: the theme fills each template once more, to see if it is empty.
    """
    heard = app.events.listeners.get("html-page-context", [])
    for at, one in enumerate(heard):
        if one.handler is add_toctree_functions:
            heard.insert(at + 1, one._replace(handler=on_page))
            return


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect once the theme has."""
    app.connect("builder-inited", come_next)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
