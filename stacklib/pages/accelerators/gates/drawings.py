"""Drawings of section 5.3: a place of the array in gates, an array beside its core."""

from math import sqrt

from stacklib.pages.accelerators import gates as page
from stacklib.plots import drawing as d
from stacklib.quantity import chosen

__all__ = ["array_and_core", "place_in_gates"]

ACROSS = 136.0  # points of the array's side
DRAWN = page.SIDES[:4]
BITS, SUM = page.WIDE, 32


def place_in_gates() -> d.Drawing:
    """What one place of the array is made of."""
    operands = [
        d.Box(
            name,
            [d.line(words, bold=True)],
            d.Cells(f"bits of {name}", BITS, BITS, side=7.0, role="layer-5"),
            role="layer-5",
        )
        for name, words in (("a", "from the left"), ("b", "from above"))
    ]
    pairs = (chosen(BITS, label="bits") ** 2).named("pairs of bits")
    ands = d.Box(
        "pairs",
        [d.line("an AND per pair", bold=True), d.line(pairs, " pairs of bits")],
        d.Cells("the pairs", BITS * BITS, BITS, side=7.0, role="layer-4"),
        role="layer-4",
    )
    adders = d.Box(
        "adders",
        [
            d.line("adders", bold=True),
            d.line(page.cells("product-8"), " gates with ANDs"),
        ],
        role="layer-4",
    )
    clears = page.cells("mac") - page.cells("product-8") - page.cells("sum-32")
    total = d.Box(
        "sum",
        [d.line("the wide sum", bold=True), d.line(page.cells("sum-32"), " gates")],
        d.Cells("bits added", SUM, SUM // 2, side=5.0, role="layer-3"),
        role="layer-3",
        lit=True,
    )
    flops = page.kinds("mac")["DFF"]
    held = d.Box(
        "register",
        [
            d.line("registers", bold=True),
            d.line(flops, " flip-flops"),
            d.line(clears.named("gates that clear"), " gates clear"),
        ],
        d.Cells("bits held", int(flops.si), SUM // 2, side=5.0, role="layer-2"),
        role="layer-2",
    )
    sides = d.Either(d.below(*operands, gap=22), d.right_of(*operands, gap=22))
    scene = d.joined(
        d.flow(sides, ands, adders, total, held, gap=20),
        d.Edge("a", "pairs", arrow="end"),
        d.Edge("b", "pairs", arrow="end"),
        d.Edge("pairs", "adders", arrow="end"),
        d.Edge("adders", "sum", arrow="end"),
        d.Edge("sum", "register", arrow="both"),
    )
    title = "A MAC unit multiplies, adds to a wide sum, and holds what it passes on."
    return d.draw(scene, name="gates-place", title=title)


def array_and_core() -> d.Drawing:
    """An array beside the core that feeds it, areas to scale."""
    steps = [(f"{side} x {side} MAC units", _beside(side)) for side in DRAWN]
    title = "The core is bought once, the MAC units by the square of the side."
    return d.draw(steps, name="gates-core", title=title)


def _beside(side: int) -> d.Node:
    gap = 1.0
    many = (chosen(side, label="side") ** 2).named(f"MAC units of {side} x {side}")
    places = d.Cells(
        f"places, {side} a side",
        side * side,
        side,
        side=ACROSS / side - gap,
        gap=gap,
        role="layer-4",
        words="MAC units of the array",
    )
    wide = ACROSS * sqrt(page.core().si / (side**2 * page.area("mac").si))
    core = d.Cells(
        "the core",
        1,
        side=wide,
        role="layer-2",
        lit=frozenset({0}),
        words="the control core, its area to the same scale",
    )
    return d.flow(
        d.Box("array", [d.line(many, " MAC units", bold=True)], places, role="layer-4"),
        d.Box(
            "control",
            [
                d.line("control core", bold=True),
                d.line(d.Shown(page.control(side), "%"), " of both"),
            ],
            core,
            role="layer-2",
            lit=True,
        ),
        gap=24,
    )
