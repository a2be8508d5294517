"""Stacks of memory, live: height, layers that survive, dies that work, tested or not.

Each line is a way of stacking: whatever comes, only good dies, or good dies with a test
after every bond. Prices are the middle of what is published.
"""

from __future__ import annotations

from typing import Any

from stacklib.cost.memory import sold
from stacklib.cost.stacks import FLOWS, hbm_costs, stack_cost, stack_yield
from stacklib.plots.live import choices
from stacklib.plots.live.parts import chosen, here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout

HEIGHTS = tuple(range(1, 17))
LAYERS = (900, 920, 940, 950, 960, 970, 975, 980, 985, 990, 995, 999)
DIES = (50, 60, 70, 75, 80, 85, 90, 95, 99)
EACH = sold(24)  # Gbit of a die
NAMES = {
    "blind": "stacked blind",
    "known good dies": "good dies only",
    "tested bonds": "every bond tested",
}


def controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``explore``."""
    ways = {flow: NAMES[flow] for flow in FLOWS}
    return [
        choices.select("flow", "Stacked", ways, FLOWS[1]),
        choices.slider("height", "Dies in the stack", HEIGHTS, 12),
        choices.slider("layer", "Of 1,000 layers, survive", LAYERS, 980),
        choices.slider("good", "Of 100 dies, work", DIES, 85),
    ]


def explore(*, flow: str, height: int, layer: int, good: int) -> Spec:
    """Dollars a gigabyte against height, for three ways of stacking.

    Of a thousand layers ``layer`` survive, of a hundred dies ``good`` work.
    """
    traced, plain = hbm_costs(), hbm_costs(plain=True)

    def gigabyte(dies: int, way: str) -> float:
        whole = stack_cost(dies, plain, die=good / 100, bond=layer / 1000, flow=way)
        return whole / (dies * EACH.value)

    die = chosen(good / 100, "", "dies that work")
    bond = chosen(layer / 1000, "", "layers that survive")
    works = stack_yield(height, die=die, bond=bond, flow=flow)
    stack = stack_cost(height, traced, die=die, bond=bond, flow=flow)
    each, whole = gigabyte(height, flow), (EACH * height).named("sold as")
    lines = []
    for i, way in enumerate(FLOWS):
        y = [gigabyte(n, way) for n in HEIGHTS]
        lines.append(line(HEIGHTS, y, NAMES[way], "predicted", series=i))
    point = here(height, each)
    how = f"{NAMES[flow].capitalize()}, {height} high"
    unit = "USD/GB"
    return chart(
        f"{how}: {works:.3 %} of stacks work, {each:.3g} USD a GB.",
        x=axis("Dies in the stack", limits=[1, 16]),
        y=axis("Dollars a gigabyte", log=True, unit=unit, limits=[2, 500]),
        marks=[*lines, point],
        readouts=[
            readout("works", "Stacks that work", works, "share", unit="%"),
            readout("stack", "A good stack", stack, unit="USD"),
            readout("gigabyte", "A gigabyte", stack / whole, unit=unit),
        ],
    )
