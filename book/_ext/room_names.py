"""A short name in the API pages means the nearest of that name.

A docstring says `Span` and means the one of its own room, though other rooms have
theirs. Sphinx calls that ambiguous; here the name that shares most of its module's
path is taken. Of one module some names are offered by the room and others stand in
the API pages under the module itself; a source page's links back follow each name.
"""

import re
from collections.abc import Container, Iterable
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform


def nearest(name: str, module: str, known: Iterable[str]) -> str:
    """The known full name that `name` means in `module`; itself where none is near."""
    here = module.split(".")
    room = ".".join(here[:2]) + "."
    near = [
        full for full in known if full.startswith(room) and full.endswith(f".{name}")
    ]
    return min(
        near,
        key=lambda full: (-shared(full.split("."), here), len(full), full),
        default=name,
    )


def shared(one: list[str], other: list[str]) -> int:
    """How many parts two dotted paths have in common, from the left."""
    same = [a == b for a, b in zip(one, other, strict=False)]
    return [*same, False].index(False)


class RoomNames(SphinxPostTransform):
    """Completes short names before Sphinx looks them up."""

    default_priority = 5  # before its own, which are 10 and later

    def run(self, **options: Any) -> None:
        """Rewrite every short Python name of the page that is meant loosely."""
        known = self.env.domains["py"].data["objects"]
        node: nodes.Element
        for node in self.document.findall(pending_xref):
            module = node.get("py:module")
            if node.get("refdomain") == "py" and node.get("refspecific") and module:
                node["reftarget"] = nearest(node["reftarget"], module, known)


BACK = re.compile(r'(<a class="viewcode-back" href="[^"#]*#)([^"]+)(")')


def links_back(body: str, module: str, known: Container[str]) -> str:
    """A source page whose links to the documentation name what stands there."""

    def mended(match: re.Match[str]) -> str:
        name = match[2]
        for start in range(name.count(".") + 1):  # efficiency_names, Served.share, ...
            own = ".".join([module, *name.split(".")[start:]])
            if name not in known and own in known:
                return match[1] + own + match[3]
        return match[0]

    return BACK.sub(mended, body)


def on_page(app: Sphinx, page: str, _: str, context: dict[str, Any], __: Any) -> None:
    """Mend the links of a source page, which Sphinx gives one prefix for all names."""
    if page.startswith("_modules/stacklib"):
        module = page.removeprefix("_modules/").replace("/", ".")
        known = app.env.domains["py"].data["objects"]
        context["body"] = links_back(context["body"], module, known)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform and the mended links."""
    app.add_post_transform(RoomNames)
    app.connect("html-page-context", on_page)
    return {"version": "1", "parallel_read_safe": True}
