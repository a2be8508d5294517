"""Bandwidth by working set as a spec: predicted lines, measured dots, cache sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stacklib.hardware import THIS_MACHINE
from stacklib.plots.marks import (
    About,
    Mark,
    Spec,
    axis,
    chart,
    dots,
    line,
    rows,
    rule,
    sizes,
)
from stacklib.roofline.host.streams import StreamPoint

from . import machine

RATE = 1e9  # the axis is in GB/s
ABOUT = About(device=THIS_MACHINE, level="as measured", dtype="fp64")


def levels_spec(
    measured: Mapping[str, Sequence[StreamPoint]],
    predicted: Mapping[str, Mapping[int, float]],
    *,
    title: str,
    caches: Mapping[str, float],
) -> Spec:
    """Bandwidth over working set, log-log, each cache's size marked.

    Points of a sweep and predicted B/s by working set go by the name of their series,
    which is written at the end of its predicted line; ``caches`` are reported bytes.
    """
    series = {name: i for i, name in enumerate(measured)}
    # Medians decide the frame: one disturbed sample would flatten every step.
    shown = [p.rate for points in measured.values() for p in points]
    shown += [rate for rates in predicted.values() for rate in rates.values()]
    at = [float(p.size) for points in measured.values() for p in points]
    frame = [min(shown) / RATE / 1.5, max(shown) / RATE * 1.5]
    return chart(
        title,
        x=sizes("Working set", min(at), max(at)),
        y=axis("Bandwidth (GB/s)", log=True, unit="GB/s", limits=frame),
        marks=[
            *(_line(n, rates, series[n]) for n, rates in predicted.items()),
            *(_dots(n, points, series[n]) for n, points in measured.items()),
            *(_rule(n, size) for n, size in caches.items()),
        ],
    )


def _rule(name: str, size: float) -> Mark:
    return rule(name, "predicted", x=float(size), series=5, **ABOUT)


def _line(name: str, rates: Mapping[int, float], series: int) -> Mark:
    at = sorted(rates)
    y = [rates[x] / RATE for x in at]
    return line(map(float, at), y, name, "predicted", series=series, **ABOUT)


def _dots(name: str, points: Sequence[StreamPoint], series: int) -> Mark:
    ends = [rows(machine.spread(p), "GB/s") for p in points]
    x, y = [float(p.size) for p in points], rows(map(machine.rate, points), "GB/s")
    words = f"{name}, measured"
    return dots(x, y, words, "measured", spread=ends, at="none", series=series, **ABOUT)
