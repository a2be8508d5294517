"""Specs that take the roofline apart: its two lines, its levels, every ridge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stacklib import hardware, roofline
from stacklib.plots.marks import (
    About,
    Mark,
    Spec,
    axis,
    band,
    chart,
    dots,
    line,
    rows,
    rule,
    years,
)
from stacklib.plots.rooflines import SPAN, roofline_spec
from stacklib.quantity import Quantity
from stacklib.roofline.bound.cache_aware import Slope

FIRST, LAST = 2014, 2027  # years drawn
REACH = 3000.0  # FLOP/B, right of every ridge of every level


def two_lines_spec(device: str, dtype: str, *, title: str) -> Spec:
    """The two limits of a device, each as a line of its own, before the lower counts.

    Left of where they cross its memory is the limit, right of it its arithmetic.
    UnknownSpec where the device has no rate for ``dtype``.
    """
    chip = hardware.get(device)
    peak, bandwidth = chip.peak(dtype).si, chip.memory_bandwidth.si
    slope = [x * bandwidth / 1e12 for x in SPAN]
    flat = [peak / 1e12] * 2
    ridge = roofline.ridge(chip, dtype)
    marks = [
        band("memory limits", "predicted", x=[SPAN[0], ridge.si], series=0),
        band("units limit", "predicted", x=[ridge.si, SPAN[1]], series=1),
        rule(f"ridge {ridge.text().split()[0]}", "predicted", x=ridge.si, series=5),
        line(SPAN, slope, "what the wires feed", "predicted", series=0),
        line(SPAN, flat, "what the units do", "predicted", series=1),
    ]
    made = roofline_spec([], title=title)
    # Above the lines there is room for the names of the regions.
    high = {**made["y"], "limits": [min(slope), 5 * max(slope)]}
    return {**made, "y": high, "marks": marks}


def levels_spec(
    levels: Sequence[Slope], peak: Quantity, *, device: str, dtype: str, title: str
) -> Spec:
    """A cache-aware roofline: a slope for each level, nearest first, under one roof."""
    own = device == hardware.THIS_MACHINE
    about = About(device=device, dtype=dtype, this_machine=own)
    marks = [m for i, level in enumerate(levels) for m in _level(level, peak, i, about)]
    return {**roofline_spec([], title=title), "marks": marks}


def _level(level: Slope, peak: Quantity, series: int, about: About) -> list[Mark]:
    """Slope and roof of one level, and its ridge."""
    ridge = level.ridge(peak)
    xs = [SPAN[0], *([ridge.si] if SPAN[0] < ridge.si < REACH else []), REACH]
    rates = [roofline.attainable(x, peak.si, level.bandwidth.si) / 1e12 for x in xs]
    told: About = {**about, "level": level.name}
    name, foot = f"{level.name} {ridge.text().split()[0]}", peak.si / 1e12
    return [
        line(xs, rates, level.name, "predicted", series=series, **told),
        rule(name, "predicted", x=ridge.si, to=foot, series=series),
    ]


def ridges_spec(
    formats: Iterable[tuple[str, Sequence[tuple[hardware.Accelerator, Quantity]]]],
    *,
    claimed: Iterable[Quantity],
    title: str,
) -> Spec:
    """Ridges of many devices by year, a row of dots a format, and a claimed range."""
    said, points = rows(claimed, evidence="claimed"), []
    for i, (dtype, found) in enumerate(formats):
        x, y = [d.year for d, _ in found], [q.si for _, q in found]
        points.append(dots(x, y, dtype, "data sheet", at="key", series=i))
    return chart(
        title,
        x=years("Year of the device", FIRST, LAST, 4),
        y=axis("Dense ridge (FLOP/B)", log=True, unit="FLOP/B"),
        marks=[band("claimed", "claimed", y=said, series=5), *points],
    )
