"""The book's few boxes, each with one fixed meaning.

``{napkin}`` an estimate by hand, ``{takeaway}`` one sentence with one number,
``{not-modelled}`` what the model leaves out, ``{tonight}`` what to do on a rented
machine, ``{token-before}`` and ``{token-after}`` the section's line of the token's
waterfall, ``{measured}`` what a device did (device, date and raw data are read from the
result file, never typed). The boxes that do more have modules of their own.
"""

import json
import zlib
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

RESULTS = "benchmarks/results"

TITLES = {
    "napkin": "Napkin",
    "takeaway": "Takeaway",
    "not-modelled": "Not modelled",
    "tonight": "Tonight",
    "token-before": "The token so far",
    "token-after": "The token now",
}


def box(kind: str, title: str, name: str = "") -> nodes.container:
    """An empty box of `kind` headed by `title`; `name` becomes its id."""
    # is_div keeps docutils from adding the class "container", which is Bootstrap's.
    node = nodes.container(classes=["st-box", f"st-{kind}"], is_div=True)
    node += nodes.paragraph("", title, classes=["st-box-title"])
    if name:
        node["ids"].append(name)
    return node


class Box(SphinxDirective):
    """A box whose body is Markdown; an optional argument extends its title."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    kind: ClassVar[str]

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        node = box(self.kind, TITLES[self.kind])
        if self.arguments:
            text, _ = self.parse_inline(self.arguments[0])
            node[0] += [nodes.Text(": "), *text]
        node += self.parse_content_to_nodes()
        return [node]


class Measured(SphinxDirective):
    """``{measured}`` with ``:result: FILE`` of ``benchmarks/results``."""

    has_content = True
    option_spec: ClassVar = {"result": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        node = box("measured", "Measured")
        node += self.parse_content_to_nodes()
        if "result" in self.options:
            node += self.origin(Path(self.options["result"]).name)
        return [node]

    def origin(self, file: str) -> nodes.paragraph:
        """Device, date and raw data file of the measurement."""
        path = Path(self.env.srcdir) / RESULTS / file
        if not path.exists():
            raise self.error(f"no result file {RESULTS}/{file}; run `make bench`")
        self.env.note_dependency(str(path))
        result = json.loads(path.read_text(encoding="utf-8"))
        line = nodes.paragraph(classes=["st-origin"])
        line += nodes.Text(f"{result['device']}, {result['date']}, raw data: ")
        line += nodes.literal("", f"{RESULTS}/{file}")
        return line


def directive_of(kind: str) -> type[Directive]:
    """The directive class of one plain box."""
    return type(f"{kind.title().replace('-', '')}Box", (Box,), {"kind": kind})


def source_version() -> int:
    """Changes with the text of these extensions, so that pages are read again."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return zlib.crc32(b"".join(path.read_bytes() for path in sources))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register every box, the pages' styles and their scripts, in order."""
    for kind in TITLES:
        app.add_directive(kind, directive_of(kind), override=True)
    app.add_directive("measured", Measured, override=True)
    modules = (
        "assets",
        "predict",
        "pyrun",
        "exercise_box",
        "claims_table",
        "claims_words",
        "assumptions_table",
        "fact_pages",
        "stack_map",
        "front_table",
        "chapters_table",
        "said_cells",
        "sidebars",
        "workers",
    )
    for module in modules:
        app.setup_extension(module)
    return {"version": "1", "env_version": source_version(), "parallel_read_safe": True}
