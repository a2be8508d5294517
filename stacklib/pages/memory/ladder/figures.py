"""Latency by working set as a spec: the predicted line, dots, and the caches' sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def chase_spec(
    series: Sequence[Mapping[str, Any]],
    *,
    title: str,
    unit: str,
    rules: Mapping[str, float],
    device: str,
) -> dict[str, Any]:
    """Spec of latency over working set, log-log, with a rule at each cache's size.

    Parameters
    ----------
    series : sequence of dict
        ``name``, ``evidence`` (*predicted* and *simulated* are lines, others dots),
        ``sizes`` in bytes, ``latencies`` in ``unit``; optional ``spread`` pairs.
    title : str
        What the figure shows.
    unit : str
        ``cycle`` or ``ns``.
    rules : dict
        Bytes by the name of a level.
    device : str
        Key of the device all of it is about.
    """
    common = {"device": device, "level": "by working set", "label_at": "none"}
    marks = []
    for i, one in enumerate(series):
        line = one["evidence"] in ("predicted", "simulated")
        mark = {
            "kind": "line" if line else "dots",
            "evidence": one["evidence"],
            "name": one["name"],
            "x": [float(x) for x in one["sizes"]],
            "y": [float(y) for y in one["latencies"]],
            "series": i,
            **common,
        }
        if "spread" in one:
            mark["spread"] = [list(pair) for pair in one["spread"]]
        marks.append(mark)
    marks += [
        {
            "kind": "vline",
            "evidence": "predicted",
            "name": name,
            "x": [float(size)],
            "series": 5,
            "device": device,
        }
        for name, size in rules.items()
    ]
    shown = [y for one in series for y in one["latencies"]]
    words = {"cycle": "cycles", "ns": "ns"}[unit]
    return {
        "title": title,
        "x": {"label": "Working set (B)", "scale": "log", "unit": "B"},
        "y": {
            "label": f"Latency of a load ({words})",
            "scale": "log",
            "unit": unit,
            "limits": [min(shown) / 1.5, max(shown) * 1.8],
        },
        "marks": marks,
    }
