"""Drawings of section 2.7: edges with memory at them, dies tested or not, a section."""

from stacklib import cost
from stacklib.pages.gpu import package as page
from stacklib.pages.gpu import silicon as printed
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts.gpu import CHIP, STORE
from stacklib.plots.drawing.parts.package import Piece, Plan
from stacklib.plots.drawing.scenes import package_section

__all__ = ["edges_and_stacks", "package_cut", "tested_or_not"]
LINK = 1.6  # mm of the band that stands for the link, drawn


def edges_and_stacks() -> d.Drawing:
    """One die and two, joined at either edge, with the stacks that fit."""
    steps = [(layout, _layout(layout)) for layout in page.LAYOUTS]
    title = (
        "Stacks stand at an edge of the die, and the edge that joins two dies has no "
        "room for memory."
    )
    return d.draw(steps, name="edges-and-stacks", title=title)  # of no device: plans


def _layout(layout: str) -> d.Node:
    dies, side = page.LAYOUTS[layout]
    other = {"height": "width", "width": "height"}[side]
    wide, high = (cost.fact("field", s).low.to("mm").value for s in (side, other))
    width, depth = (q.to("mm").value for q in (page.stack_width(), page.stack_depth()))
    pieces = []
    for i in range(dies):
        begin = i * wide + (LINK / 2 if i else 0)
        end = (i + 1) * wide - (LINK / 2 if i + 1 < dies else 0)
        pieces.append(
            Piece(f"die {'AB'[i]}", begin, 0, end - begin, high, CHIP, ["die"])
        )
    if dies > 1:
        pieces.append(
            Piece("link", wide - LINK / 2, 0, LINK, high, "layer-5", lit=True)
        )
    each = round(page.sites(layout).si) // 2
    first = (dies * wide - each * width) / 2
    for top, row in ((-depth - 1, "above"), (high + 1, "below")):
        for i in range(each):
            spot = first + i * width
            name = f"stack {'ABCDEF'[i]} {row}"
            pieces.append(
                Piece(name, spot + 0.2, top, width - 0.4, depth, STORE, ["HBM"])
            )
    plan = Plan("from above", tuple(pieces), (5.0, 4.4))
    told = [
        (d.Shown(page.edge(layout), "mm"), " of edge on each side with memory"),
        (
            page.sites(layout),
            " stacks, ",
            d.Shown(page.drawn(layout), "TB/s", level=layout),
        ),
    ]
    return d.Measured(plan, told)


def tested_or_not() -> d.Drawing:
    """The same dirt on large dies, and on small ones that are tested and paired."""
    title = (
        "A hit takes a large die with it; cut in two, tested and paired, the good "
        "halves are kept."
    )
    steps = [
        ("printed as one", _pairs(False)),
        ("cut, tested, paired", _pairs(True)),
    ]
    return d.draw(steps, name="tested-or-not", title=title, devices=[page.B200])


def _pairs(tested: bool) -> d.Node:
    good = [state == 0 for state in printed.states(0)]
    half = len(good) // 2
    keep = frozenset(
        i
        for i, fine in enumerate(good)
        if fine and (tested or good[(i + half) % len(good)])
    )
    cells = d.Cells(
        "dies",
        len(good),
        half,
        side=(6.6, 18.0),
        gap=1.6,
        role=CHIP,
        lit=keep,
        dark=frozenset(range(len(good))) - keep,
        words="two rows of dies; a column is one large die",
    )
    each = "each cell is a die of its own" if tested else "each column is one large die"
    shown = d.Box("wafer", [d.line("dies of one wafer", bold=True), each], cells)
    made = d.Box(
        "packages",
        [d.line(page.good_pairs(tested), " packages", bold=True), "from this wafer"],
        role="layer-4",
        grow=0.3,
    )
    lost = d.Box(
        "lost",
        [
            d.line(d.Shown(page.small_yield(), "%", 2), " of small dies good"),
            (d.Shown(page.large_yield(), "%", 2), " of large ones, on average"),
        ],
        role="muted",
        grow=0.3,
    )
    return d.below(shown, d.flow(made, lost))


def package_cut() -> d.Drawing:
    """The package of an H100, cut across."""
    return package_section("h100-sxm", name="package-cut")
