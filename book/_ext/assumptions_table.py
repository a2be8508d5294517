"""``{assumptions}``: what the book assumes, why, and where numbers stand on it.

Read from the stored numbers of the notebooks, as ``stacklib assumptions`` reads them.
"""

from pathlib import Path
from typing import Any

from by_page import remember, watch
from claims_table import cell
from computed_links import digest
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from stacklib.cli.assumptions import assumptions

HEAD = ("Assumed", "Value", "Because", "What stands on it")
WIDTHS = (22, 13, 35, 30)


def found(root: Path) -> list[dict[str, Any]]:
    """The assumptions; none where the sources hold no number."""
    try:
        return assumptions(root)
    except ValueError:
        return []


def standing(numbers: dict[str, list[str]], home: str) -> nodes.entry:
    """How many numbers of which pages stand on it; a page is a link to it."""
    shown = nodes.entry()
    for page, names in numbers.items():
        many = f"{len(names)} number{'s' * (len(names) > 1)}"
        line = nodes.paragraph()
        if page:
            line += link(page, home)
            line += nodes.Text(f": {many}")
        else:
            line += nodes.Text(f"{many} of the pages without cells")
        shown += line
    return shown


def link(page: str, home: str) -> pending_xref:
    """A link to a page, under its title."""
    return pending_xref(
        "",
        nodes.inline("", page),
        refdomain="std",
        reftype="doc",
        reftarget=f"/{page}",
        refdoc=home,
        refexplicit=False,
        refwarn=True,
    )


def table(rows: list[dict[str, Any]], home: str) -> nodes.table:
    """One row an assumption."""
    group = nodes.tgroup("", cols=len(HEAD))
    group += [nodes.colspec(colwidth=width) for width in WIDTHS]
    heads = (cell(nodes.Text(word)) for word in HEAD)
    group += nodes.thead("", nodes.row("", *heads))
    body = nodes.tbody()
    for row in rows:
        texts = (cell(nodes.Text(row[name])) for name in ("what", "value", "why"))
        body += nodes.row("", *texts, standing(row["numbers"], home))
    group += body
    return nodes.table("", group, classes=["st-assumptions"])


class Assumptions(SphinxDirective):
    """The table of all of them, under their count."""

    def run(self) -> list[nodes.Node]:
        rows = found(Path(self.env.srcdir))
        remember(self.env, "assumption_digests", {"": digest({"rows": rows})})
        count = nodes.paragraph("", f"{len(rows)} assumptions.")
        return [count, table(rows, self.env.docname)]


def state(app: Sphinx, _: Any) -> str:
    """Digest of the table's rows."""
    return digest({"rows": found(Path(app.srcdir))})


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive and the check of remembered pages."""
    app.add_directive("assumptions", Assumptions, override=True)
    watch(app, "assumption_digests", state)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True}
