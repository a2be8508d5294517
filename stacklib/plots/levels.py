"""Bandwidth by working set as a spec: predicted lines, measured dots, cache sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stacklib.hardware import THIS_MACHINE
from stacklib.roofline.host.levels import LevelPoint

RATE = 1e9  # the axis is in GB/s


def levels_spec(
    measured: Mapping[str, Sequence[LevelPoint]],
    predicted: Mapping[str, Mapping[int, float]],
    *,
    title: str,
    caches: Mapping[str, float],
) -> dict[str, Any]:
    """Spec of bandwidth over working set, log-log, each cache's size marked.

    Parameters
    ----------
    measured : dict
        Points of the sweep by the name of their series, which is written at the
        end of its predicted line.
    predicted : dict
        For these names, predicted B/s by working set.
    title : str
        What the figure shows.
    caches : dict
        Reported bytes by the name of a level.
    """
    series = {name: i for i, name in enumerate(measured)}
    # Medians decide the frame: one disturbed sample would flatten every step.
    shown = [p.rate for points in measured.values() for p in points]
    shown += [rate for rates in predicted.values() for rate in rates.values()]
    frame = [min(shown) / RATE / 1.5, max(shown) / RATE * 1.5]
    return {
        "title": title,
        "x": {"label": "Working set (B)", "scale": "log", "unit": "B"},
        "y": {
            "label": "Bandwidth (GB/s)",
            "scale": "log",
            "unit": "GB/s",
            "limits": frame,
        },
        "marks": [
            *(_line(n, rates, series[n]) for n, rates in predicted.items()),
            *(_dots(n, points, series[n]) for n, points in measured.items()),
            *(_rule(n, size) for n, size in caches.items()),
        ],
    }


def _about(evidence: str, name: str, series: int) -> dict[str, Any]:
    common = {"device": THIS_MACHINE, "level": "as measured", "dtype": "fp64"}
    return {"evidence": evidence, "name": name, "series": series, **common}


def _line(name: str, rates: Mapping[int, float], series: int) -> dict[str, Any]:
    at = sorted(rates)
    places = {"x": [float(x) for x in at], "y": [rates[x] / RATE for x in at]}
    return {**_about("predicted", name, series), "kind": "line", **places}


def _dots(name: str, points: Sequence[LevelPoint], series: int) -> dict[str, Any]:
    spread = [[low / RATE, high / RATE] for low, high in (p.spread for p in points)]
    about = _about("measured", f"{name}, measured", series)
    return {**about, "kind": "dots", "spread": spread, "label_at": "none",
            "x": [float(p.size) for p in points],
            "y": [p.rate / RATE for p in points]}  # fmt: skip


def _rule(name: str, size: float) -> dict[str, Any]:
    about = _about("predicted", name, 5)
    return {**about, "kind": "vline", "x": [float(size)]}
