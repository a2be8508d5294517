"""Tiers of memory and the joules of a step, as specs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stacklib.memory import StepEnergy, Tier

KINDS = {  # kind of part to what a bar is called
    "memory": "HBM", "wire": "wires", "array": "SRAM", "control": "control",
    "arithmetic": "arithmetic", "constant": "always on",
}  # fmt: skip


def tiers_spec(
    tiers: Sequence[Tier],
    *,
    title: str,
    claimed: Sequence[tuple[float, float]] = (),
) -> dict[str, Any]:
    """Price against latency, log-log, a ring for each tier.

    Parameters
    ----------
    tiers : sequence of Tier
        Those with a price are drawn.
    title : str
        What is seen.
    claimed : sequence of pair
        Seconds and USD a byte as somebody claims them, in order.
    """
    rings = [
        {"kind": "dots", "evidence": "predicted", "name": t.name, "series": 0,
         "x": [t.latency.to("ns").value], "y": [t.price.to("USD/GB").value]}
        for t in tiers if t.price is not None
    ]  # fmt: skip
    marks: list[dict[str, Any]] = rings
    if claimed:
        said = {"kind": "dots", "evidence": "claimed", "name": "as claimed",
                "series": 2, "x": [s * 1e9 for s, _ in claimed],
                "y": [p * 1e9 for _, p in claimed]}  # fmt: skip
        marks = [*rings, said]
    return {
        "title": title,
        "x": {"label": "Latency (ns)", "scale": "log", "unit": "ns",
              "limits": [1, 3e6]},
        "y": {"label": "Price (USD/GB)", "scale": "log", "limits": [0.002, 2e4]},
        "marks": marks,
    }  # fmt: skip


def energy_spec(steps: Mapping[str, StepEnergy], *, title: str) -> dict[str, Any]:
    """Joules of a decode step by kind of part, a row for each kind and account.

    Parameters
    ----------
    steps : mapping of str to StepEnergy
        Name of the account to its step.
    title : str
        What is seen.
    """
    rows = []
    for number, (account, step) in enumerate(steps.items()):
        for kind, words in KINDS.items():
            mine = [q.si for n, q in step.parts.items() if step.kinds[n] == kind]
            if mine:
                rows.append((f"{words}, {account}", number, sum(mine)))
    marks = [
        {"kind": "line", "evidence": "predicted", "name": name, "series": series,
         "thick": True, "x": [0.0, joules], "y": [len(rows) - 1 - row] * 2}
        for row, (name, series, joules) in enumerate(rows)
    ]  # fmt: skip
    most = max(joules for *_, joules in rows)
    return {
        "title": title,
        "x": {"label": "Joules of one step", "unit": "J", "limits": [0.0, most * 1.5]},
        "y": {"label": "Rows below", "limits": [-0.6, len(rows) - 0.4]},
        "marks": marks,
    }
