"""The foot of each page: the edition, and of a notebook when and on what it last ran.

``make execute`` writes ``stacklib.executed`` into a notebook's metadata:
``{"date": "2026-11-21", "python": "3.11.7", "machine": "2-core x86-64"}``.
"""

import html
import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

from stacklib import __version__

logger = logging.getLogger(__name__)

EDITION = "book/edition"
FOOT = {
    "download": "Download the book",
    "changes": f"Version {__version__}",
    "errata": "Errata",
    "report": "Report a number",
}
FIELDS = ("date", "python", "machine")


def executed(notebook: Path) -> dict[str, str] | None:
    """``stacklib.executed`` of `notebook`, or None where it never ran."""
    metadata = json.loads(notebook.read_text(encoding="utf-8"))["metadata"]
    return metadata.get("stacklib", {}).get("executed")


def ran_line(ran: dict[str, str]) -> str:
    """The sentence at the foot of the page, as HTML."""
    date, python, machine = (html.escape(ran[field]) for field in FIELDS)
    return (
        f'<p class="st-ran">This page last ran on <time>{date}</time> '
        f"with Python {python} on {machine}.</p>"
    )


def add_ran_line(app: Sphinx, page: str, template: str, context: Any, _: Any) -> None:
    """Append the line to the page's body, where the page is a notebook."""
    if page not in app.env.found_docs:
        return
    source = Path(app.env.doc2path(page))
    if source.suffix != ".ipynb":
        return
    ran = executed(source)
    if ran is None:
        return
    missing = [field for field in FIELDS if not ran.get(field)]
    if missing:
        logger.warning(
            "stacklib.executed lacks %s; run `make execute`",
            ", ".join(missing),
            location=page,
        )
        return
    context["body"] += ran_line(ran)


def add_edition(app: Sphinx, page: str, template: str, context: Any, _: Any) -> None:
    """Link the edition's page at the foot of every page, where the book has one."""
    if EDITION not in app.env.found_docs:
        return
    there = context["pathto"](EDITION).rstrip("#")  # "#" is the page itself
    links = (f'<a href="{there}#{id}">{words}</a>' for id, words in FOOT.items())
    context["theme_extra_footer"] = f'<p class="st-edition">{" · ".join(links)}</p>'


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the line's hook."""
    app.connect("html-page-context", add_ran_line)
    app.connect("html-page-context", add_edition)
    return {"version": "1", "parallel_read_safe": True}
