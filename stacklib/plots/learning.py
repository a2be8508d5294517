"""A learning curve as a spec: what training saw, what was held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stacklib.hardware import THIS_MACHINE

NATS = "Surprise a token (nat)"


def learning_spec(
    curves: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    title: str,
    levels: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Spec of loss over tokens read, each curve's held-out loss as dots.

    Parameters
    ----------
    curves : dict
        By the name of a model: its columns ``tokens`` and ``held_out``.
    title : str
        What the figure shows.
    levels : dict, optional
        Losses to draw as lines across, by name.
    """
    series = list(curves)
    shown = [y for columns in curves.values() for y in columns["held_out"]]
    read = max(columns["tokens"][-1] for columns in curves.values())
    room = [0.0, 1.3 * read]  # the names stand right of the last dots
    frame = [0.95 * min(shown), 1.02 * max(shown)]  # no loss is near zero
    return {
        "title": title,
        "x": {
            "label": "Tokens read",
            "scale": "linear",
            "unit": "token",
            "limits": room,
        },
        "y": {"label": NATS, "scale": "linear", "unit": "", "limits": frame},
        "marks": [
            *(_dots(name, curves[name], series.index(name)) for name in series),
            *(
                {**_about(name, 5), "kind": "hline", "y": [loss]}
                for name, loss in (levels or {}).items()
            ),
        ],
    }


def _about(name: str, series: int) -> dict[str, Any]:
    common = {"device": THIS_MACHINE, "level": "as measured", "dtype": "fp32"}
    return {"evidence": "measured", "name": name, "series": series, **common}


def _dots(name: str, columns: Mapping[str, Sequence[float]], at: int) -> dict[str, Any]:
    return {
        **_about(name, at),
        "kind": "dots",
        "x": [float(x) for x in columns["tokens"]],
        "y": [float(y) for y in columns["held_out"]],
    }
