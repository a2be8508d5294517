"""Latency by working set as a spec: the predicted line, dots, and the caches' sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stacklib.plots.marks import About, Mark, Spec, axis, chart, dots, line, rule, sizes

LINES = ("predicted", "simulated")
UNITS = {"cycle": "cycles", "ns": "ns"}


def chase_spec(
    series: Sequence[Mapping[str, Any]],
    *,
    title: str,
    unit: str,
    rules: Mapping[str, float],
    device: str,
) -> Spec:
    """Latency over working set, log-log, with a rule at each cache's size.

    Each series has ``name``, ``evidence`` (*predicted* and *simulated* are lines),
    ``sizes`` in bytes, ``latencies`` in ``unit`` (cycle or ns) and may have ``spread``.
    """
    shown = [y for one in series for y in one["latencies"]]
    held = [float(x) for one in series for x in one["sizes"]]
    limits = [min(shown) / 1.5, max(shown) * 1.8]
    latency = f"Latency of a load ({UNITS[unit]})"
    caches = [
        rule(name, "predicted", x=float(size), series=5, device=device)
        for name, size in rules.items()
    ]
    return chart(
        title,
        x=sizes("Working set", min(held), max(held)),
        y=axis(latency, log=True, unit=unit, limits=limits),
        marks=[*(_mark(one, i, device) for i, one in enumerate(series)), *caches],
    )


def _mark(one: Mapping[str, Any], series: int, device: str) -> Mark:
    about = About(device=device, level="by working set")
    x, y = [float(size) for size in one["sizes"]], one["latencies"]
    name, evidence, ends = one["name"], one["evidence"], one.get("spread")
    if evidence in LINES:
        return line(x, y, name, evidence, at="key", series=series, **about)
    return dots(x, y, name, evidence, spread=ends, at="key", series=series, **about)
