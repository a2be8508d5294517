"""The factor tree, live: move the ends, say what is counted twice."""

from __future__ import annotations

from typing import Any

from stacklib.cost.spans import Span
from stacklib.frontier.factor_tree import Factor, factors, twice
from stacklib.pages.chain.posts import OTHER
from stacklib.plots.live import choices
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, rows, rule
from stacklib.plots.spec import readout
from stacklib.quantity import quoted

ENDS = tuple(x / 4 for x in range(4, 25))
START = {"Chip": (3.0, 5.0), "NVLink": (2.0, 3.0), "FP4": (2.0, 3.0)}
HOLDS = {"yes": "with FP4 in it", "no": "in one format"}
GOAL = quoted("gb200_rack.announced")


def controls() -> list[dict[str, Any]]:
    """Both ends of each factor, and what the chip's holds."""
    sliders = [
        choices.slider(f"{name.lower()}_{key}", f"{name}, {words}", ENDS, ends[at])
        for name, ends in START.items()
        for at, (key, words) in enumerate((("low", "least"), ("high", "most")))
    ]
    return [*sliders, choices.select("holds", "The chip's factor is", HOLDS, "yes")]


def explore(
    *,
    chip_low: float,
    chip_high: float,
    nvlink_low: float,
    nvlink_high: float,
    fp4_low: float,
    fp4_high: float,
    holds: str,
) -> Spec:
    """Factors and their product, each from its least to its most."""
    both = ("silicon", "FP4") if holds == "yes" else ("silicon",)
    tree = {
        "Chip": Factor((chip_low, chip_high), both),
        "NVLink": Factor((nvlink_low, nvlink_high), ("links",)),
        "FP4": Factor((fp4_low, fp4_high), ("FP4",)),
    }
    marks, said, why = list[Mark](), list[dict[str, Any]](), ""
    title = "The ends of a factor run from least to most."
    try:
        spans = {name: factors(part) for name, part in tree.items()}
        spans["product"] = whole = factors(tree)
        shared = twice(tree)
        marks = [_span(at, *each) for at, each in enumerate(spans.items())]
        marks.append(
            rule("told", "claimed", y=rows([GOAL], evidence="claimed"), series=5)
        )
        title = f"{whole.text()} times{', FP4 counted twice' if shared else ''}."
        inside = "yes" if GOAL in whole else "no"
        ends = (("Least", whole.low), ("Middle", whole.middle), ("Most", whole.high))
        said = [readout(n.lower(), n, end.named(n), "ratio") for n, end in ends]
        said.append(readout("told", f"Holds {GOAL}", inside))
        said.append(readout("twice", "Counted twice", ", ".join(shared) or "nothing"))
    except ValueError as wrong:
        why = str(wrong)
    return chart(
        title,
        x=axis("Factor", limits=[-0.5, 3.6], ticks=range(4), names=[*tree, "product"]),
        y=axis("Times", log=True, limits=[0.9, 250]),
        marks=marks,
        readouts=said,
        message=why or None,
        about={"device": OTHER, "feasible": not why},
    )


def _span(at: int, name: str, each: Span) -> Mark:
    """One interval, its middle marked."""
    ends = [(each.low.si, each.high.si)]
    about: dict[str, Any] = {"series": at, "role": "ratio", "at": "none"}
    return dots(at, each.middle.si, name, "predicted", spread=ends, **about)
