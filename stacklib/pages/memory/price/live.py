"""Stacks of memory, live: height, layers that survive, dies that work, tested or not.

Each line is a way of stacking: whatever comes, only good dies, or good dies with a test
after every bond. Prices are the middle of what is published.
"""

from __future__ import annotations

from typing import Any

from stacklib import cost
from stacklib.cost import stack_cost, stack_yield
from stacklib.cost.stacks import FLOWS
from stacklib.plots.live import choices
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity

HEIGHTS = tuple(range(1, 17))
LAYERS = (900, 920, 940, 950, 960, 970, 975, 980, 985, 990, 995, 999)
DIES = (50, 60, 70, 75, 80, 85, 90, 95, 99)
EACH = 3.0  # GB a die of 24 Gb is sold as
NAMES = {"blind": "stacked blind", "known good dies": "good dies only",
         "tested bonds": "every bond tested"}  # fmt: skip


def controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``explore``."""
    return [
        choices.select("flow", "Stacked", [[f, NAMES[f]] for f in FLOWS], FLOWS[1]),
        choices.slider("height", "Dies in the stack", HEIGHTS, 12),
        choices.slider("layer", "Of 1,000 layers, survive", LAYERS, 980),
        choices.slider("good", "Of 100 dies, work", DIES, 85),
    ]


def explore(*, flow: str, height: int, layer: int, good: int) -> dict[str, Any]:
    """Spec of dollars a gigabyte against height, for three ways of stacking.

    Parameters
    ----------
    flow : str
        A way of stacking, of ``stacks.FLOWS``.
    height : int
        Dies of the stack.
    layer : int
        Layers that survive, of a thousand.
    good : int
        Dies that work, of a hundred.

    Returns
    -------
    dict
        A figure spec.
    """
    traced, plain = cost.hbm_costs(), cost.hbm_costs(plain=True)
    shares = {"die": good / 100, "bond": layer / 1000}
    marks: list[dict[str, Any]] = [
        {"kind": "line", "evidence": "predicted", "name": NAMES[way], "series": i,
         "x": list(HEIGHTS),
         "y": [stack_cost(n, plain, **shares, flow=way) / (n * EACH) for n in HEIGHTS]}
        for i, way in enumerate(FLOWS)
    ]  # fmt: skip
    each = stack_cost(height, plain, **shares, flow=flow) / (height * EACH)
    marks.append({"kind": "dots", "evidence": "predicted", "name": "chosen",
                  "series": FLOWS.index(flow), "label_at": "none",
                  "x": [height], "y": [each]})  # fmt: skip
    said = {"die": _assumed(good / 100, "dies that work"),
            "bond": _assumed(layer / 1000, "layers that survive")}  # fmt: skip
    works = stack_yield(height, **said, flow=flow)
    stack = stack_cost(height, traced, **said, flow=flow)
    gigabytes = Quantity(EACH * height, "GB", label="sold as")
    return {
        "title": f"{NAMES[flow].capitalize()}, {height} high: {works:.3 %} of stacks "
        f"work, {each:.3g} USD a GB.",
        "x": {"label": "Dies in the stack", "limits": [1, 16]},
        "y": {"label": "Dollars a gigabyte", "scale": "log", "unit": "USD/GB",
              "limits": [2, 500]},
        "marks": marks,
        "readouts": [
            readout("works", "Stacks that work", works, "share", unit="%"),
            readout("stack", "A good stack", stack, unit="USD"),
            readout("gigabyte", "A gigabyte", stack / gigabytes, unit="USD/GB"),
        ],
        "message": None,
    }  # fmt: skip


def _assumed(value: float, label: str) -> Quantity:
    return Quantity(value, label=label, kind="assumption")
