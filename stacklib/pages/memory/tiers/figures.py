"""Tiers of memory and the joules of a step, as specs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stacklib.memory import Tier
from stacklib.memory.ladder.energy import StepEnergy
from stacklib.plots.marks import Spec, across, axis, bar, chart, dots

KINDS = {  # kind of part to what a bar is called
    "memory": "HBM",
    "wire": "wires",
    "array": "SRAM",
    "control": "control",
    "arithmetic": "arithmetic",
    "constant": "always on",
}


def tiers_spec(tiers: Sequence[Tier], *, title: str) -> Spec:
    """Price against latency, log-log, a stroke for each tier that has a price."""
    marks = []
    for t in tiers:
        if t.price is not None:
            place = t.latency.to("ns").value, t.price.to("USD/GB").value
            marks.append(dots(*place, t.name, "predicted", series=0))
    return chart(
        title,
        x=axis("Latency (ns)", log=True, unit="ns", limits=[1, 3e6]),
        y=axis("Price (USD/GB)", log=True, limits=[0.002, 2e4]),
        marks=marks,
    )


def energy_spec(steps: Mapping[str, StepEnergy], *, title: str) -> Spec:
    """Joules of a decode step by kind of part, a row for each kind and account."""
    rows = [
        (f"{words}, {account}", joules, i)
        for i, (account, step) in enumerate(steps.items())
        for kind, words in KINDS.items()
        if (joules := _of_kind(step, kind)) is not None
    ]
    top, most = len(rows) - 1, max(joules for _, joules, _ in rows)
    return chart(
        title,
        x=axis("Joules of one step", unit="J", limits=[0.0, most * 1.5]),
        y=axis("Part, and who counts it", ticks=(), limits=across(len(rows))),
        marks=[
            bar(0.0, joules, top - row, name, "predicted", series=i)
            for row, (name, joules, i) in enumerate(rows)
        ],
    )


def _of_kind(step: StepEnergy, kind: str) -> float | None:
    """Joules of all parts of a kind; None where there is none."""
    mine = [q.si for name, q in step.parts.items() if step.kinds[name] == kind]
    return sum(mine) if mine else None
