"""Drawings of section 7.4: an error passed on, and the formats of a layer."""

from stacklib.pages.quantizers import weights as page
from stacklib.plots import drawing as d
from stacklib.quantizers.scheme import fact

__all__ = ["error_to_the_right", "formats_of_a_layer"]
ROWS, COLUMNS, AT = 6, 16, 5
# Columns of the matrix in turn: how many, and their colour.
DONE = {
    "rounded, left alone": (AT, "layer-4"),
    "rounded now": (1, "layer-6"),
    "moved, in FP32": (COLUMNS - AT - 1, "layer-3"),
}


def error_to_the_right() -> d.Drawing:
    """Columns rounded, the column in turn, and those that make up for it."""
    key = [
        d.Box(words, role=role, lit=words == "rounded now")
        for words, (_, role) in DONE.items()
    ]
    told = [
        d.line("a row of the inverse Hessian", bold=True),
        "how far each column to the right moves",
    ]
    matrix = d.Box(
        "matrix",
        d.line("the weights, column by column", bold=True),
        d.Either(_matrix(30.0, 12.0), _matrix(16.0, 10.0)),
        role="muted",
    )
    row = d.Box(
        "inverse Hessian", told, d.Either(_row(30.0), _row(16.0)), role="layer-2"
    )
    scene = d.below(
        d.flow(*key, gap=6, even=True),
        matrix,
        row,
        d.flow(_off("round", "rounded"), _off("gptq", "GPTQ"), gap=8, even=True),
        gap=6,
    )
    title = "What one column loses, the columns to its right make up for."
    return d.draw(scene, name="q-passed-on", title=title)


def _matrix(wide: float, high: float) -> d.Node:
    parts = [
        d.Cells(
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
    return d.right_of(*parts, gap=2, grow=0)


def _row(wide: float) -> d.Node:
    """Under the matrix, column under column."""
    return d.Cells(
        "row of the inverse",
        COLUMNS,
        side=(wide, 10.0),
        role="layer-2",
        lit=frozenset({AT}),
        dark=frozenset(range(AT)),
    )


def _off(method: str, words: str) -> d.Box:
    told = [
        d.line(words, bold=True),
        ("weights off by ", d.Shown(page.weights_off(method), "%", 3)),
        ("product off by ", d.Shown(page.off(method), "%", 3)),
    ]
    return d.Box(f"result, {words}", told, role="muted")


def formats_of_a_layer() -> d.Drawing:
    """A layer that serves with weights in four bits, in the order that data flow."""
    cache = d.Box("KV cache", ["KV cache", "FP8 or BF16"], role="layer-2")
    attention = d.Box(
        "attention",
        [d.line("attention", bold=True), "softmax FP32"],
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
    bits = fact(page.SCHEME, "code_bits", "bit", label="bits of an INT4 code")
    group = fact(page.SCHEME, "block", label="weights of a group, drawn")
    told = [
        ("lit: weights, codes of ", bits, ", a scale in FP16 for ", group),
        "inputs of products: BF16 or FP8; their sums: FP32",
        "embedding and head often stay in BF16",
    ]
    scene = d.below(d.chain(first, second, down=(True, True)), d.Words(told), gap=6)
    title = "Only the matrices go to four bits; sums and norms stay wide."
    return d.draw(scene, name="q-layer-formats", title=title)


def _half(name: str, *parts: d.Box) -> d.Box:
    return d.Box(name, d.line(name, bold=True), d.chain(*parts), role="muted")


def _wide(name: str, form: str, words: str = "") -> d.Box:
    return d.Box(name, [d.line(words or name, bold=True), form], role="layer-3")


def _product(name: str) -> d.Box:
    weights = d.Box(f"weights, {name}", "weights: INT4", role="layer-2", lit=True)
    told = d.line(f"{name} product", bold=True)
    return d.Box(f"product, {name}", told, weights, role="layer-4")
