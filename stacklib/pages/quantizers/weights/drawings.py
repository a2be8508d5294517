"""Drawings of section 7.4: an error passed on, and the formats of a layer."""

from __future__ import annotations

from stacklib.pages.quantizers import weights as page
from stacklib.plots.drawing import (
    Box,
    Cells,
    Drawing,
    Node,
    Shown,
    Words,
    below,
    draw,
    flow,
    line,
)
from stacklib.quantity import chosen
from stacklib.quantizers import SCHEMES

__all__ = ["error_to_the_right", "formats_of_a_layer"]
ROWS, COLUMNS, AT = 6, 16, 5


def error_to_the_right() -> Drawing:
    """Columns rounded, the column in turn, and those that make up for it."""
    told = {
        "rounded, and left alone": (range(AT), "layer-4"),
        "rounded now": ([AT], "layer-6"),
        "moved, in fp32": (range(AT + 1, COLUMNS), "layer-3"),
    }
    parts = [_columns(name, len(list(at)), role) for name, (at, role) in told.items()]
    factor = Box(
        "inverse Hessian",
        [
            line("a row of the inverse Hessian", bold=True),
            "says how far each of the others moves",
        ],
        Cells(
            "row of the inverse",
            COLUMNS,
            COLUMNS,
            side=(14.0, 10.0),
            lit=frozenset({AT}),
        ),
        role="layer-2",
    )
    whole = page.weights_off("gptq"), page.off("gptq")
    plain = page.weights_off("round"), page.off("round")
    scene = below(
        flow(*parts, gap=10, even=True),
        factor,
        Words([("weights off by ", Shown(plain[0], "%", 3), " rounded, ")]),
        Words([(Shown(whole[0], "%", 3), " by GPTQ; the product by ")]),
        Words([(Shown(plain[1], "%", 3), " and ", Shown(whole[1], "%", 3))]),
        gap=6,
    )
    title = "What one column loses, the columns to its right make up for."
    return draw(scene, name="q-passed-on", title=title)


def _columns(name: str, count: int, role: str) -> Node:
    cells = Cells(
        f"columns {name}", ROWS * count, count, side=(10.0, 9.0), role=role, words=name
    )
    return Box(name, line(name, bold=True), cells, role=role)


def formats_of_a_layer() -> Drawing:
    """A layer that serves with weights in four bits: who has which format."""
    bits = chosen(SCHEMES[page.SCHEME].code_bits, "bit", label="bits of an INT4 code")
    group = chosen(SCHEMES[page.SCHEME].block, label="weights of a group, drawn")
    weights = Box(
        "weights",
        [line("weights", bold=True), ("codes of ", bits, ", one scale")],
        Words([("in fp16 for ", group)]),
        role="layer-2",
    )
    core = Box(
        "products",
        [line("products", bold=True), "inputs in BF16 or FP8,"],
        Words(["sums in FP32"]),
        role="layer-4",
    )
    norm = Box(
        "norms", [line("norms", bold=True), "in BF16, few bytes"], role="layer-3"
    )
    cache = Box(
        "cache", [line("KV cache", bold=True), "BF16, FP8 or less"], role="layer-6"
    )
    soft = Box("softmax", [line("softmax", bold=True), "in FP32"], role="layer-3")
    head = Box(
        "head",
        [line("embedding and head", bold=True), "often left in BF16"],
        role="muted",
    )
    scene = below(
        flow(norm, weights, core, gap=8), flow(soft, cache, head, gap=8), gap=8
    )
    title = "Only the matrices go to four bits; sums and norms stay wide."
    return draw(scene, name="q-layer-formats", title=title)
