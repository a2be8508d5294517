"""``{pyrun}``: a Python block that runs, and can be edited, in the page.

The code may use the standard library and the plain-Python core of ``stacklib``.
Without JavaScript and in print it is an ordinary listing.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class PyRun(SphinxDirective):
    """The directive's content is the program."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        code = "\n".join(self.content)
        try:
            compile(code, "pyrun", "exec")
        except SyntaxError as error:
            raise self.error(f"{{pyrun}} does not parse: {error}") from error
        listing = nodes.literal_block(code, code, language="python")
        block = nodes.container("", listing, classes=["st-pyrun"], is_div=True)
        self.set_source_info(listing)
        return [block]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("pyrun", PyRun, override=True)
    return {"version": "1", "parallel_read_safe": True}
