"""``{stack-map}``: the seven layers as a list that is also a map, for any screen.

    ::::{stack-map}
    :::{stack-layer} 2 memory
    :to: chapters/01-roofline/decode
    :share: journey.memory_share
    **How fast do the bytes come?** An H100 reads [3.35 TB/s](#q:h100.bandwidth).
    :::
    ::::

Each layer's name leads to where it is explained, to a page of ours or else to the first
written chapter of the layer; numbers open as everywhere. The
token's path is drawn at the left by SVG that stretches with the text, so that the map
reads the same on a phone, by keyboard, on paper and without scripts. The bar under a
band is the share of the trip that the token spends there. The dot that
travels it does so once, and not at all for readers who prefer no motion.

``{reading-time} FOLDER`` is a sentence: how long a folder's notebooks take to read,
computed from their words when the book is built.
"""

import json
import re
from pathlib import Path
from typing import Any, ClassVar

from _tools import contents
from computed_links import nearest, numbers_of
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxTranslator

from stacklib import grading
from stacklib.roofline.journey.layers import STACK

logger = logging.getLogger(__name__)

PLACE = re.compile(r"(?P<layer>[1-7]) (?P<name>[a-z][a-z ]*)")
WORDS_A_MINUTE = 200  # prose with numbers to think about, not a novel
MINUTES_A_FIGURE = 1
EXERCISE_MINUTES = {"estimate": 5, "derive": 15, "build": 30}
SHOWN = re.compile(r"<figure|<table|st-live")
TABLE = re.compile(r"^\|[ :|-]*-{3}[ :|-]*\|?$", re.M)  # the rule under its head
NOT_WORDS = re.compile(r"\]\([^)]*\)|^:{3,}.*$|^:\w.*$|[\[\]{}#*_`>|$-]", re.M)

# Down at the left, up at the right; the last row turns. Stretched to its row's height.
DOWN, UP = 14, 34
STRAIGHT = f"M{DOWN} 0V100M{UP} 0V100"
TURN = f"M{DOWN} 0V58Q{DOWN} 78 24 78T{UP} 58V0"


class stack_map(nodes.General, nodes.Element):
    """The list; children are ``stack_layer``."""


class stack_layer(nodes.General, nodes.Element):
    """One layer; attributes ``layer``, ``name``, ``to``; children are its words."""


class StackMap(SphinxDirective):
    """The whole map; its body holds seven ``{stack-layer}``, the top one first."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        node = stack_map()
        node += self.parse_content_to_nodes()
        found = [part["layer"] for part in node.findall(stack_layer)]
        if found != list(range(7, 0, -1)):
            raise self.error(f"{{stack-map}} needs layers 7 down to 1, not {found}")
        return [node]


class StackLayer(SphinxDirective):
    """``{stack-layer} 2 memory`` with ``:to: DOCUMENT#ANCHOR``."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {
        "to": directives.unchanged,
        "share": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        found = PLACE.fullmatch(self.arguments[0].strip())
        if not found:
            raise self.error(f"{{stack-layer}} {self.arguments[0]!r}: write `2 memory`")
        layer = int(found["layer"])
        to = self.options.get("to") or self.explained(layer)
        node = stack_layer(layer=layer, name=found["name"], to=to)
        node["share"] = self.share()
        node += self.parse_content_to_nodes()
        return [node]

    def explained(self, layer: int) -> str:
        """The first written chapter of a layer; of none, where the map tells of it."""
        written = contents.written(Path(self.env.srcdir))
        found = (n for n in STACK[layer - 1].chapters if n in written)
        first = next(found, None)
        return written[first][0].document if first else f"book/stack-map#layer-{layer}"

    def share(self) -> float:
        """The said number named by ``:share:``, a share; 0 without one."""
        name = self.options.get("share", "")
        if not name:
            return 0.0
        known = numbers_of(self.env.app)
        if name not in known:
            raise self.error(f"no computed number {name!r}{nearest(name, known)}")
        share = float(known[name].quantity.si)
        if not 0 <= share <= 1:
            raise self.error(f"{{stack-layer}}: {name} is {share:g}, not a share")
        return share


class ReadingTime(SphinxDirective):
    """``{reading-time} chapters/01-roofline``: what its notebooks take, all told."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        folder = Path(self.env.srcdir) / self.arguments[0].strip()
        books = sorted(folder.glob("*.ipynb"))
        if not books:
            raise self.error(f"{{reading-time}}: no notebook in {self.arguments[0]}")
        for book in books:
            self.env.note_dependency(str(book))
        count, seen = (sum(map(of, books)) for of in (words, shown))
        levels = [read(path).level for path in exercises(folder, Path(self.env.srcdir))]
        reading = count / WORDS_A_MINUTE + seen * MINUTES_A_FIGURE
        text = (
            f"Reading time: about {lasting(reading)} ({count:,} words; figures and "
            f"tables: {seen:,})."
        )
        if levels:
            work = lasting(sum(map(EXERCISE_MINUTES.__getitem__, levels)))
            text += f" Exercises ({len(levels)}): about {work} more."
        return [nodes.paragraph("", text, classes=["st-reading-time"])]


def lasting(minutes: float) -> str:
    """``45 minutes``, ``3 hours``, ``3.5 hours``: no finer than it is known."""
    if minutes < 90:
        return f"{max(5, round(minutes / 5) * 5)} minutes"
    return f"{round(minutes / 30) / 2:g} hours"


def exercises(folder: Path, root: Path) -> list[Path]:
    """The exercises of a chapter, which have its folder's name."""
    return sorted((root / "exercises" / folder.name).glob("[0-9]*.py"))


def read(exercise: Path) -> grading.Text:
    """An exercise taken apart."""
    return grading.parse(exercise.read_text("utf-8"), exercise.name)


def shown(notebook: Path) -> int:
    """Figures and tables of a notebook: those of its outputs and of its prose."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    outputs = [o for c in cells for o in c.get("outputs", ())]
    pages = ["".join(o.get("data", {}).get("text/html", "")) for o in outputs]
    prose = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
    drawn = sum(bool(SHOWN.search(page)) for page in pages)
    return drawn + sum(len(TABLE.findall(text)) for text in prose)


def words(notebook: Path) -> int:
    """Words of a notebook's prose: no code, no addresses, no option lines."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    texts = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
    return sum(len(NOT_WORDS.sub(" ", text).split()) for text in texts)


def uri(translator: SphinxTranslator, node: stack_layer) -> str:
    """Address of a layer's target from the page being written; warns of none."""
    page, _, anchor = node["to"].partition("#")
    builder = translator.builder
    if page not in builder.env.found_docs:
        logger.warning("{stack-layer}: no page %r", page, location=node)
        return f"#{anchor}"
    here = builder.current_docname
    return builder.get_relative_uri(here, page) + (f"#{anchor}" if anchor else "")


def open_map(self: SphinxTranslator, node: stack_map) -> None:
    self.body.append(
        '<nav class="st-stack" aria-label="The seven layers, from the invoice down '
        'to the transistor">\n<p class="st-stack-end" aria-hidden="true">'
        "<span>a prompt goes in</span><span>a word comes out</span></p>\n"
        '<ol reversed><li class="st-stack-token" aria-hidden="true"></li>\n'
    )


def close_map(self: SphinxTranslator, node: stack_map) -> None:
    self.body.append("</ol></nav>\n")


def open_layer(self: SphinxTranslator, node: stack_layer) -> None:
    layer, name = node["layer"], self.encode(node["name"])
    path = TURN if layer == 1 else STRAIGHT
    self.body.append(
        f'<li class="st-stack-layer" value="{layer}" style="--layer: '
        f'var(--st-layer-{layer})">'
        '<svg class="st-stack-path" viewBox="0 0 48 100" preserveAspectRatio="none" '
        f'aria-hidden="true"><path d="{path}"/></svg>'
        f'<div class="st-stack-words"><p class="st-stack-name">'
        f'<a href="{self.attval(uri(self, node))}">'
        f"<span>{layer}</span> {name}</a></p>\n"
    )


def close_layer(self: SphinxTranslator, node: stack_layer) -> None:
    self.body.append(
        '</div><span class="st-stack-share" aria-hidden="true" '
        f'style="width: calc({node["share"]:.4g} * (100% - 3rem))"></span></li>\n'
    )


def pass_by(self: SphinxTranslator, node: nodes.Node) -> None:
    """Other writers show the words."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives and their nodes."""
    app.add_directive("stack-map", StackMap, override=True)
    app.add_directive("stack-layer", StackLayer, override=True)
    app.add_directive("reading-time", ReadingTime, override=True)
    others = dict.fromkeys(("latex", "text", "man", "texinfo"), (pass_by, pass_by))
    app.add_node(stack_map, override=True, html=(open_map, close_map), **others)
    app.add_node(stack_layer, override=True, html=(open_layer, close_layer), **others)
    return {"version": "1", "parallel_read_safe": True}
