"""The drawings of section 10.3: thirty as a tree, and what each decision shortens."""

from __future__ import annotations

from stacklib.cost.spans import Span
from stacklib.frontier.factor_tree import factors, thirty
from stacklib.pages.frontier import multiply as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.words import Label

__all__ = ["what_each_shortens", "where_thirty_comes_from"]
CHIP, LINK, FORMAT, WHOLE = "layer-3", "layer-5", "layer-2", "layer-6"
CASES: dict[str, dict[str, object]] = {
    "as it stands": {},
    "FP4": {"format": "fp4"},
    "four experts": {"experts": 4},
    "switch": {"network": "switch"},
    "all three": {"format": "fp4", "experts": 4, "network": "switch"},
}


def where_thirty_comes_from() -> d.Drawing:
    """Factors with their ends; the one that is in two places is lit."""

    def box(name: str, role: str, *words: Label, lit: bool = False) -> d.Box:
        return d.Box(name, [d.line(name, bold=True), *words], role=role, lit=lit)

    def ends(name: str, span: Span, words: str = "") -> Label:
        low, high = span.named(name).low, span.named(name).high
        return (words, d.Shown(low, digits=2), " to ", d.Shown(high, digits=2))

    each = {name: ends(name, factors(factor)) for name, factor in thirty().items()}
    chip = d.Box(
        "chip",
        [d.line("chip", bold=True), each["chip"]],
        d.below(
            box("silicon", CHIP, (d.Shown(page.silicon()),)),
            box("its FP4", FORMAT, "in it already", lit=True),
            gap=6,
        ),
        role=CHIP,
    )
    root = box(
        "a generation",
        WHOLE,
        ends("told", page.told(), "told: "),
        ends("FP4 once", page.told(True), "FP4 once: "),
    )
    scene = d.tree(
        root,
        chip,
        box("NVLink", LINK, each["NVLink"]),
        box("FP4", FORMAT, each["FP4"], lit=True),
        gap=34,
    )
    title = "Three factors make thirty, and FP4 is in two of them."
    return d.draw(scene, name="where-thirty-comes-from", title=title)


def what_each_shortens() -> d.Drawing:
    """A layer of experts: products and exchange, each decision alone, and all three."""
    times = {
        name: [page.spent(what, point) for what in ("products", "exchange")]
        for name, point in CASES.items()
    }
    whole = max((a + b for a, b in times.values()), key=lambda time: time.si)
    bars = []
    for name, (made, sent) in times.items():
        total = (made + sent).named(f"{name}: both")
        words = d.line(
            *(f"{name}: ", d.Shown(total), ", products ", d.Shown(made)),
            *(", exchange ", d.Shown(sent)),
        )
        parts = (("products", made, "layer-4", False), ("exchange", sent, LINK, True))
        bars.append(d.Bar(name, parts, whole.named("scale"), [words], 12.0))
    title = "Four experts shorten the products and lengthen the exchange."
    scene = d.below(*bars, gap=8)
    name = "what-each-shortens"
    return d.draw(scene, name=name, title=title, devices=[page.OTHER])
