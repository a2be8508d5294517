"""A search, live: method, seed and budget, on the stored timings of every tile."""

from __future__ import annotations

from typing import Any

from stacklib.kernels.plan.search import METHODS, expected_best
from stacklib.pages.kernels import search as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, axis, chart, dots, line, rows
from stacklib.plots.spec import readout

BUDGETS = (4, 8, 16, 32, 64, 128)
TOP = 100.0  # per cent above the fastest, where the figure ends


def controls() -> list[dict[str, Any]]:
    """Method, seed and budget of ``explore``."""
    return [
        choices.select("method", "Method", [[m, m] for m in METHODS], "hill-climb"),
        choices.slider("seed", "Seed", range(page.SEEDS), 3),
        choices.slider("budget", "Trials", BUDGETS, 32),
    ]


def explore(*, method: str, seed: int, budget: int) -> Spec:
    """Every trial and the best so far, beside what chance has by then in the mean."""
    found, fastest = page.run(method, seed, budget), page.least()

    def above(seconds: float) -> float:
        return 100 * (seconds / fastest - 1)

    tried = list(range(1, budget + 1))
    every = list(page.times().values())
    chance = [above(expected_best(every, n)) for n in tried]
    over = [page.over(page.named(t.point)) - 1 for t in found.trials]
    shown = [(n, y) for n, y in enumerate(over, 1) if y.si <= TOP / 100]
    best = above(found.best.seconds)
    marks = [
        line(
            tried,
            [min(TOP, y) for y in chance],
            "random, expected",
            "predicted",
            at="key",
        ),
        line(
            tried,
            [min(TOP, above(s)) for s in found.curve],
            "best so far",
            "simulated",
            at="key",
            series=1,
        ),
    ]
    if shown:
        x, y = zip(*shown, strict=True)
        y_ = rows(y, "%")
        marks.append(dots(x, y_, "tiles tried", "measured", at="key", series=2))
    return chart(
        f"{method}: after {budget} trials {best:.1f} % above the fastest tile.",
        x=axis("Trials", limits=[0, budget + 1]),
        y=axis("Above the fastest tile (%)", limits=[0, TOP], unit="%"),
        marks=marks,
        readouts=[
            readout(
                "best",
                "Best found",
                counted(found.best.seconds, "best", "s"),
                unit="ms",
            ),
            readout(
                "above", "Above the fastest", counted(best / 100, "above"), unit="%"
            ),
            readout(
                "chance",
                "Random, expected",
                counted(chance[-1] / 100, "chance"),
                unit="%",
            ),
            readout(
                "far",
                "Tried, slower than the figure shows",
                counted(len(over) - len(shown), "slower"),
            ),
        ],
    )
