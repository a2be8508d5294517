"""The sidebar is made once, and each page writes it from where it stands.

The theme resolves the whole tree of contents anew for every page. Pages differ in it
only by the way to each link, and by the mark of where the reader is: the page's own
entry and those above it.
"""

import re
from functools import cache, partial
from typing import Any

from pydata_sphinx_theme.toctree import add_toctree_functions
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

LINK = re.compile(r'(?<=href=")[^":]+(?=")')  # one within the book
ENTRY = re.compile(r'(?<=<li class="toctree-l)\d')


@cache
def unmarked(app: Sphinx, options: tuple[tuple[str, Any], ...]) -> list[str]:
    """Lines of the theme's sidebar, for a page at the root that is in no contents."""
    page = "-"  # what is called so is no page
    context: dict[str, Any] = {
        "toctree": partial(app.builder._get_local_toctree, page)  # type: ignore
    }
    add_toctree_functions(app, page, "", context, None)
    return str(context["generate_toctree_html"](**dict(options))).split("\n")


def marked(sidebar: list[str], here: str) -> str:
    """A sidebar with the entry that leads to `here` as the page being read."""
    lines, above = list(sidebar), list[int]()
    for n, line in enumerate(sidebar):  # an entry with others under it opens a list
        if f'href="{here}"' in line:
            lines[n] = entered(line.replace('<a class="', '<a class="current '))
            for one in above:
                held = lines[one].replace('<ul class="', '<ul class="current ')
                lines[one] = entered(held.replace("<ul>", '<ul class="current">'))
            break
        if line.startswith("</ul>"):
            above.pop()
        elif "<ul" in line:
            above.append(n)
    return LINK.sub(lambda to: relative_uri(here, to[0]) or "#", "\n".join(lines))


def entered(line: str) -> str:
    """An entry as one that the reader is in."""
    line = ENTRY.sub(r"\g<0> current active", line)
    return line.replace("<details>", '<details open="open">')


def on_page(app: Sphinx, page: str, template: str, context: Any, _: Any) -> None:
    """Give the page's template the kept sidebar in place of the theme's own."""
    made, here = context["generate_toctree_html"], app.builder.get_target_uri(page)

    def sidebar(**options: Any) -> Any:
        if options.get("startdepth") or options.get("collapse"):
            return made(**options)  # what else differs from page to page
        return marked(unmarked(app, tuple(sorted(options.items()))), here)

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
