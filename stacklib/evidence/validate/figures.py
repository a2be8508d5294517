"""Predicted over measured, as specs of figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stacklib import hardware

from ..measurements import Refusal
from .report import Validation, device_name
from .score import Outcome

OWN = 5  # devices with a stretch of their own; the rest share one
NAMED = 3  # outliers written into the figure
SHOWN = 95  # per cent of the rows: the last few are in the table of the worst


def _short(key: str) -> str:
    return hardware.get(key).short if key in hardware.names() else "no device"


def _stretches(report: Validation) -> dict[str, list[Outcome]]:
    """Predicted rows by device, the device with most rows first, small to large."""
    groups: dict[str, list[Outcome]] = {}
    for found in report.predicted:
        groups.setdefault(_short(device_name(found.row)), []).append(found)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    own = dict(ordered[:OWN])
    if rest := [o for _, group in ordered[OWN:] for o in group]:
        own["others"] = rest
    return {
        name: sorted(group, key=lambda o: (o.row.unit, o.row.value))
        for name, group in own.items()
    }


def ratio_spec(
    report: Validation, title: str, p90: float | None = None
) -> dict[str, Any]:
    """Predicted over measured, row by row, in one stretch a device.

    Within a stretch the rows go by unit and from small to large. The rows furthest
    off are named by their ids.
    """
    if not report.predicted:
        raise Refusal("no row was predicted, so there is nothing to draw")
    worst = {o.row.id for o in report.worst(NAMED)}
    marks: list[dict[str, Any]] = []
    outliers, start = [], 1
    for series, (name, group) in enumerate(_stretches(report).items()):
        places = range(start, start + len(group))
        marks.append(
            {
                "kind": "vline",
                "evidence": "predicted",
                "name": name,
                "x": [start],
                "series": series,
            }
        )
        marks.append(_dots(name, list(places), group, series) | {"label_at": "none"})
        outliers += [
            _dots(o.row.id, [place], [o], series)
            for place, o in zip(places, group, strict=True)
            if o.row.id in worst
        ]
        start += len(group)
    marks += outliers
    rules = [1.0] if p90 is None else [1.0, 1 + p90, *([1 - p90] if p90 < 1 else [])]
    marks.append(
        {"kind": "hline", "evidence": "predicted", "name": "", "y": rules, "series": 0}
    )
    ratios = [o.ratio for o in report.predicted] + rules
    return {
        "title": title,
        "x": {"label": "Rows, device by device", "ticks": []},
        "y": {
            "label": "Predicted / measured",
            "scale": "log",
            "limits": [min(ratios) / 1.8, max(ratios) * 1.15],
        },
        "marks": marks,
    }


def _dots(
    name: str, places: list[int], rows: Sequence[Outcome], series: int
) -> dict[str, Any]:
    return {
        "kind": "dots",
        "evidence": "measured",
        "name": name,
        "series": series,
        "x": places,
        "y": [o.ratio for o in rows],
    }


def spread_spec(
    curves: Sequence[tuple[str, Sequence[float]]], title: str
) -> dict[str, Any]:
    """The error that a share of the rows stays within, one line a set of rows.

    ``curves``: (name, errors) errors as ``|predicted / measured - 1|``.
    """
    marks = []
    for name, errors in curves:
        ordered = [100 * max(e, 1e-4) for e in sorted(errors)]
        shares = [100 * (i + 1) / len(ordered) for i in range(len(ordered))]
        shown = [(s, e) for s, e in zip(shares, ordered, strict=True) if s <= SHOWN]
        marks.append(
            {
                "kind": "line",
                "evidence": "predicted",
                "name": name,
                "x": [s for s, _ in shown],
                "y": [e for _, e in shown],
            },
        )
    return {
        "title": title,
        "x": {"label": "Rows within it (%)", "limits": [0, SHOWN]},
        "y": {"label": "Error (%)", "scale": "log", "limits": [0.5, 100]},
        "marks": marks,
    }
