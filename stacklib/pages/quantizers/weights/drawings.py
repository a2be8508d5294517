"""Drawings of section 7.4: an error passed on, and the formats of a layer."""

from __future__ import annotations

from stacklib.pages.quantizers import weights as page
from stacklib.plots.drawing import (
    Box,
    Cells,
    Drawing,
    Either,
    Node,
    Shown,
    Words,
    below,
    chain,
    draw,
    flow,
    line,
    right_of,
)
from stacklib.quantity import chosen
from stacklib.quantizers import SCHEMES

__all__ = ["error_to_the_right", "formats_of_a_layer"]
ROWS, COLUMNS, AT = 6, 16, 5
# Columns of the matrix in turn: how many, and their colour.
DONE = {
    "rounded, left alone": (AT, "layer-4"),
    "rounded now": (1, "layer-6"),
    "moved, in FP32": (COLUMNS - AT - 1, "layer-3"),
}


def error_to_the_right() -> Drawing:
    """Columns rounded, the column in turn, and those that make up for it."""
    key = [
        Box(words, role=role, lit=words == "rounded now")
        for words, (_, role) in DONE.items()
    ]
    told = [
        line("a row of the inverse Hessian", bold=True),
        "how far each column to the right moves",
    ]
    matrix = Box(
        "matrix",
        line("the weights, column by column", bold=True),
        Either(_matrix(30.0, 12.0), _matrix(16.0, 10.0)),
        role="muted",
    )
    row = Box("inverse Hessian", told, Either(_row(30.0), _row(16.0)), role="layer-2")
    scene = below(
        flow(*key, gap=6, even=True),
        matrix,
        row,
        flow(_off("round", "rounded"), _off("gptq", "GPTQ"), gap=8, even=True),
        gap=6,
    )
    title = "What one column loses, the columns to its right make up for."
    return draw(scene, name="q-passed-on", title=title)


def _matrix(wide: float, high: float) -> Node:
    parts = [
        Cells(
            f"columns {words}",
            ROWS * count,
            count,
            side=(wide, high),
            role=role,
            lit=frozenset(range(ROWS)) if count == 1 else frozenset(),
            words=words,
        )
        for words, (count, role) in DONE.items()
    ]
    return right_of(*parts, gap=2, grow=0)


def _row(wide: float) -> Node:
    """Under the matrix, column under column."""
    return Cells(
        "row of the inverse",
        COLUMNS,
        side=(wide, 10.0),
        role="layer-2",
        lit=frozenset({AT}),
        dark=frozenset(range(AT)),
    )


def _off(method: str, words: str) -> Box:
    told = [
        line(words, bold=True),
        ("weights off by ", Shown(page.weights_off(method), "%", 3)),
        ("product off by ", Shown(page.off(method), "%", 3)),
    ]
    return Box(f"result, {words}", told, role="muted")


def formats_of_a_layer() -> Drawing:
    """A layer that serves with weights in four bits, in the order that data flow."""
    cache = Box("KV cache", ["KV cache", "FP8 or BF16"], role="layer-2")
    attention = Box(
        "attention",
        [line("attention", bold=True), "softmax FP32"],
        cache,
        role="layer-6",
    )
    first = _half(
        "attention half",
        _wide("input", "BF16"),
        _wide("norm", "BF16"),
        _product("QKV"),
        attention,
        _product("output"),
        _wide("add", "BF16"),
    )
    second = _half(
        "MLP half",
        _wide("norm of the MLP", "BF16", "norm"),
        _product("gate and up"),
        _wide("SiLU", "BF16"),
        _product("down"),
        _wide("add of the MLP", "BF16", "add"),
    )
    bits = chosen(SCHEMES[page.SCHEME].code_bits, "bit", label="bits of an INT4 code")
    group = chosen(SCHEMES[page.SCHEME].block, label="weights of a group, drawn")
    told = [
        ("lit: weights, codes of ", bits, ", a scale in FP16 for ", group),
        "inputs of products: BF16 or FP8; their sums: FP32",
        "embedding and head often stay in BF16",
    ]
    scene = below(chain(first, second, down=(True, True)), Words(told), gap=6)
    title = "Only the matrices go to four bits; sums and norms stay wide."
    return draw(scene, name="q-layer-formats", title=title)


def _half(name: str, *parts: Box) -> Box:
    return Box(name, line(name, bold=True), chain(*parts), role="muted")


def _wide(name: str, form: str, words: str = "") -> Box:
    return Box(name, [line(words or name, bold=True), form], role="layer-3")


def _product(name: str) -> Box:
    weights = Box(f"weights, {name}", "weights: INT4", role="layer-2", lit=True)
    told = line(f"{name} product", bold=True)
    return Box(f"product, {name}", told, weights, role="layer-4")
