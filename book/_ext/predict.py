"""``{predict}``: a question the reader answers before the page does.

    :::{predict} token-time
    :unit: ms
    :answer: decode.t_mem
    How long does the word take?
    :::

The answer is a said number. ``:also:`` names what else would tell it, ``; `` between:
numbers, words of outputs and drawings (``~ dies``: the answer, then "dies"), charts
(``fig-NAME``, ``live-NAME``), tables that have it in a cell (``tab-NAME``). Without
JavaScript it is folded below the question; with it, the fold opens once a prediction is
committed. The prediction stays in the reader's browser.
"""

from typing import Any, ClassVar

from boxes import box
from computed_links import nearest, numbers_of
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxTranslator

from stacklib.quantity.units import plural


class prediction(nodes.General, nodes.Element):
    """Form and folded answer; attribute ``shows`` is the name of its number."""


class Predict(SphinxDirective):
    """One prediction; its argument names it in the reader's browser."""

    has_content = True
    required_arguments = 1
    option_spec: ClassVar = {
        "unit": directives.unchanged_required,
        "answer": directives.unchanged_required,
        "also": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        number = self.answer()
        name = nodes.make_id(self.arguments[0])
        node = box("predict", "Predict", f"predict-{name}")
        node += self.parse_content_to_nodes()
        node += self.form(name, number)
        return [node]

    def answer(self) -> Any:
        """The said number named by ``:answer:``."""
        if "answer" not in self.options:
            raise self.error("{predict} needs `:answer: NAME`, a computed number")
        name = self.options["answer"]
        known = numbers_of(self.env.app)
        if name not in known:
            raise self.error(f"no computed number {name!r}{nearest(name, known)}")
        return known[name]

    def form(self, name: str, number: Any) -> prediction:
        """The node of the form, with the answer's value in the asked unit."""
        unit = self.options.get("unit", "")
        quantity = number.quantity.to(unit) if unit else number.quantity
        # The answer stands in attributes: a search does not find what is not text.
        return prediction(
            name=name,
            unit=plural(unit),
            also=self.options.get("also", ""),
            value=float(quantity.value),
            shows=number.name,
            text=number.text,
            what=f"{number.what.rstrip('.')}.",
        )


def open_prediction(self: SphinxTranslator, node: prediction) -> None:
    name, unit, value = (
        self.attval(str(node[key])) for key in ("name", "unit", "value")
    )
    also = f' data-also="{self.attval(node["also"])}"' if node["also"] else ""
    field = f"predict-{name}-value"
    self.body.append(
        f'<div class="st-prediction" data-predict="{name}" data-unit="{unit}" '
        f'data-value="{value}"{also}>\n'
        '<form class="st-predict-form" hidden>'
        f'<label for="{field}">Your prediction</label>'
        f'<span class="st-field"><input id="{field}" type="text" inputmode="decimal" '
        f'autocomplete="off" required><span class="st-unit">{unit}</span></span>'
        '<button type="submit">Commit</button></form>\n'
        '<p class="st-predict-note" role="status" hidden></p>\n'
        '<details class="st-answer"><summary>Answer</summary>\n'
        f'<p><span class="st-q" data-q="{self.attval(node["shows"])}">'
        f"{self.encode(node['text'])}</span>. {self.encode(node['what'])}</p>\n"
    )


def close_prediction(self: SphinxTranslator, node: prediction) -> None:
    self.body.append("</details></div>\n")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive and its node."""
    app.add_directive("predict", Predict, override=True)
    app.add_node(prediction, override=True, html=(open_prediction, close_prediction))
    return {"version": "1", "parallel_read_safe": True}
