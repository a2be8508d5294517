"""The drawing of section 10.5: from wafers to meters, as wide as what gets through."""

from __future__ import annotations

from stacklib.cost.spans import Span
from stacklib.pages.frontier import supply as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.words import Label
from stacklib.quantity import chosen, quoted

__all__ = ["wafer_to_meter"]
SILICON, MEMORY, POWER = "layer-4", "layer-2", "layer-6"


def wafer_to_meter() -> d.Drawing:
    """Two kinds of wafers meet in packages; servers of eight wait for meters."""
    made = page.made()
    assert made.stacks is not None
    full = made.stacks.middle

    def box(name: str, role: str, *told: Label, lit: bool = False) -> d.Box:
        return d.Box(name, [d.line(name, bold=True), *told], role=role, lit=lit)

    def edge(start: str, end: str, gpus: Span, role: str) -> d.Edge:
        return d.Edge(
            start,
            end,
            label=[_ends(_millions(gpus)), "million GPUs"],
            rate=gpus.middle,
            full=full,
            arrow="end",
            role=role,
        )

    hbm = d.Shown(quoted(page.PLANNED))
    begin = [
        box("HBM wafers", MEMORY, (hbm, " a month"), "as planned"),
        box("CoWoS wafers", SILICON, _ends(made.wafers), "a month"),
    ]
    server = d.Shown(quoted("campus_power.b200"), "kW")
    end = [
        box("packages", SILICON, "one GPU, eight stacks", lit=True),
        box("servers of eight", SILICON, (server, " at the most")),
        box(
            "meters",
            POWER,
            ("a year's GPUs ask for ", *_ends(page.needed(), "GW")),
            (d.Shown(quoted("campus_count.2026")), " new campuses of a gigawatt"),
        ),
    ]
    edges = [
        edge("HBM wafers", "packages", made.stacks, MEMORY),
        edge("CoWoS wafers", "packages", made.packages, SILICON),
        edge("packages", "servers of eight", made.gpus, SILICON),
        edge("servers of eight", "meters", page.housed(), POWER),
    ]
    middle, *rest = end
    wide = d.below(d.flow(begin[0], middle, begin[1], gap=104), *rest, gap=50)
    tall = d.below(d.right_of(*begin, gap=12), middle, *rest, gap=50)
    title = "Packaging passes fewest GPUs, and the largest campuses take fewer still."
    return d.draw(
        d.joined(d.Either(wide, tall), *edges), name="wafer-to-meter", title=title
    )


def _millions(gpus: Span) -> Span:
    return (gpus / chosen(1e6, label="a million")).named("millions of GPUs")


def _ends(found: Span, unit: str | None = None) -> tuple[d.Shown | str, ...]:
    low, high = (d.Shown(end, unit, 2) for end in (found.low, found.high))
    return low, " to ", high
