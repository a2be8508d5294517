"""What folds over cells say, and where the cells that say a page's numbers stand.

A notebook says each number where it computes it. On the page the number opens itself,
and a fold after every few paragraphs would only stand in the reader's way.
"""

from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

SHOW, HIDE = "Show the cells that compute the numbers of this page", "Hide the cells"


# What a cell shows, by what its HTML holds; the first that it holds names its fold.
SHOWS = {"st-live": "figure", "st-figure": "figure", "<table": "table"}


class FoldedCode(SphinxPostTransform):
    """One quiet line over what a cell shows: *code of this figure*."""

    default_priority = 198
    formats = ("html",)

    def run(self, **options: Any) -> None:
        """Name the folds of each cell tagged ``hide-input`` by what it shows."""
        for node in self.document.findall(nodes.container):
            mode = node.get("hide_mode")
            if mode in ("input", "input+output"):
                text = "".join(raw.astext() for raw in node.findall(nodes.raw))
                shown = next((SHOWS[mark] for mark in SHOWS if mark in text), "cell")
                what = "code" if mode == "input" else "{type}"  # source, output
                words = f"{what} of this {shown}"
                node["prompt_show"], node["prompt_hide"] = words, f"hide the {words}"


class SaidCells(SphinxPostTransform):
    """Gathers the cells tagged ``hide-cell`` before each is folded by itself."""

    default_priority = 198  # MyST-NB folds at 199
    formats = ("html",)

    def run(self, **options: Any) -> None:
        """Move the cells, in their order, into a fold after the page's last section."""
        folded = [
            node
            for node in self.document.findall(nodes.container)
            if node.get("hide_mode") == "all"
        ]
        if not folded:
            return
        fold = HideCodeCellNode(prompt_show=SHOW, prompt_hide=HIDE)
        fold["classes"] += ["above-input", "st-said"]
        for node in folded:
            node.parent.remove(node)
            del node["hide_mode"]
            fold += node
        classes = ["cell", "tag_hide-cell", "container"]
        cell = nodes.container(classes=classes, is_div=True)
        cell += fold
        page = self.document.next_node(nodes.section) or self.document
        page += cell


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform."""
    app.add_post_transform(SaidCells)
    app.add_post_transform(FoldedCode)
    return {"version": "1", "parallel_read_safe": True}
