"""Two weights and their ellipse, live: rounding's point and GPTQ's."""

from __future__ import annotations

import math
from typing import Any

from stacklib.pages.quantizers.weights import two_columns
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Mark, Spec, axis, chart, line, places
from stacklib.plots.spec import readout

PLACES = range(1, 7)  # of each weight, a step apart
ENDS = (0.5, 6.5)
FIRST, SECOND, TOGETHER = 3.4, 3.45, 0.8
TURN = 48  # points of the ellipse


def controls() -> list[dict[str, Any]]:
    """Both weights in steps, and how far their inputs go together."""
    parts = [round(3 + k / 20, 2) for k in range(21)]
    return [
        choices.slider("first", "First weight, in steps", parts, FIRST),
        choices.slider("second", "Second weight", parts, SECOND),
        choices.slider(
            "together",
            "Correlation of their inputs",
            [round(k / 10, 1) for k in range(10)],
            TOGETHER,
        ),
    ]


def ellipse(w: tuple[float, float], c: float, cost: float) -> list[tuple[float, float]]:
    """Points at which the layer's error is ``cost``."""
    found = []
    for k in range(TURN + 1):
        turn = 2 * math.pi * k / TURN
        along = math.sqrt(cost / (1 + c) / 2) * math.cos(turn)
        across = math.sqrt(cost / (1 - c) / 2) * math.sin(turn)
        found.append((w[0] + along + across, w[1] + along - across))
    return found


def lattice() -> Mark:
    """The codes that both weights can have."""
    grid = [(x, y) for x in PLACES for y in PLACES]
    x, y = zip(*grid, strict=True)
    return places(x, y, "codes", at="key", series=0)


def contour(w: tuple[float, float], together: float, cost: float) -> Mark:
    """The line on which the layer's error is that of rounding."""
    x, y = zip(*ellipse(w, together, max(cost, 1e-6)), strict=True)
    return line(x, y, "error of rounding", "predicted", at="key", series=1)


def explore(*, first: float, second: float, together: float) -> Spec:
    """The lattice of both weights, and the ellipse through rounding's point."""
    w = (first, second)
    both = two_columns(w, together, 1.0)
    near, passed = both["round"], both["gptq"]
    rounding, repaired = both["cost"]
    gain = rounding - repaired
    verdict = "gains" if gain > 1e-9 else "gains nothing" if gain > -1e-9 else "loses"
    return chart(
        f"Passing the error on {verdict}: {rounding:.3f} by rounding, "
        f"{repaired:.3f} by GPTQ.",
        x=axis("First weight, in steps", limits=ENDS, ticks=PLACES),
        y=axis("Second weight, in steps", limits=ENDS, ticks=PLACES),
        marks=[
            lattice(),
            contour(w, together, rounding),
            # The first is rounded; then the second moves to where it now belongs.
            line(
                [first, near[0]],
                [second, both["moved"]],
                "error passed on",
                "predicted",
                at="key",
                series=3,
            ),
            places(near[0], near[1], "rounded", lit=True, series=2),
            places(passed[0], passed[1], "GPTQ", lit=True, series=3),
            here(first, second, "the weights"),
        ],
        readouts=[
            readout("rounding", "Error by rounding", counted(rounding, "rounding")),
            readout("gptq", "Error by GPTQ", counted(repaired, "GPTQ")),
            readout("aim", "Second weight's new aim", counted(both["moved"], "aim")),
        ],
        square=True,
    )
