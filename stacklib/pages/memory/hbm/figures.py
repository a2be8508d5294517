"""HBM as specs: what each pin runs at against its ceiling, and stacks cut open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stacklib.hardware import stack_generation, stack_generations
from stacklib.memory.stack.builds import PackageBuild
from stacklib.memory.stack.height import Layer, Section
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, line

FIRST = 2016  # the year of the first device in the database with HBM
SPAN = 10  # years on the axis
GAP = 4.0  # millimetres between two sections, for the eye
SERIES = {"die": 0, "base": 1, "mould": 5}

Builds = list[tuple[int, PackageBuild]]


def rates_spec(
    builds: Mapping[str, tuple[int, PackageBuild]], *, title: str, named: Iterable[str]
) -> Spec:
    """The rate of a pin over the year, by generation, with each one's ceiling.

    ``builds`` are year and build by the name of a device; some are named in the figure.
    """
    keys = list(stack_generations())
    marks: list[Mark] = []
    for series, key in enumerate(keys):
        mine = [(y, b) for y, b in builds.values() if b.generation.key == key]
        if mine:
            marks += [_ceiling(key, mine, series), _points("", mine, series)]
    words = set(named)
    for name, (year, build) in builds.items():
        if name in words:
            series = keys.index(build.generation.key)
            marks.append(_points(name, [(year, build)], series))
    return chart(
        title,
        x=axis(f"Year of the device, after {FIRST}", limits=[0, SPAN]),
        y=axis("Rate of a pin (Gbit/s)", log=True, limits=[1, 16]),
        marks=marks,
    )


def _ceiling(key: str, mine: Builds, series: int) -> Mark:
    """What the document of a generation allows, over the years of its devices."""
    made = stack_generation(key)
    top = made.memory.pin_rate.to("Gbit/s").value
    span = [y - FIRST for y, _ in mine]
    years = [max(min(span) - 0.4, 0), min(max(span) + 0.4, SPAN)]
    return line(years, [top, top], made.name, "claimed", series=series)


def _points(name: str, mine: Builds, series: int) -> Mark:
    at = sorted({(y - FIRST, round(b.pin_rate.to("Gbit/s").value, 4)) for y, b in mine})
    x, y = zip(*at, strict=True)
    label = "end" if name else "none"
    return dots(x, y, name, "predicted", at=label, series=series)


def section_spec(sections: Mapping[str, Section], *, title: str, width: float) -> Spec:
    """Stacks of ``width`` mm side by side, cut open, by the words on top of each."""
    marks = [
        _box(words, number * (width + GAP), width, layer)
        for number, (words, section) in enumerate(sections.items())
        for layer in section.layers()
        if layer.name != "gap"
    ]
    right = len(sections) * (width + GAP) - GAP
    top = max(section.height for section in sections.values())
    return chart(
        title,
        x=axis("Across (mm)", limits=[-0.5, right + 0.5]),
        y=axis("Height (µm), stretched", limits=[0, 1.02 * top]),
        marks=marks,
    )


def _box(words: str, left: float, width: float, layer: Layer) -> Mark:
    """The outline of a layer; it ends in the middle of its left, where a name goes."""
    kind = "die" if layer.name.startswith("die") else layer.name.split()[0]
    right, low, top = left + width, layer.bottom, layer.top
    middle = (low + top) / 2
    x, y = [left, left, right, right, left, left], [middle, low, low, top, top, middle]
    name = words if kind == "mould" else ""
    return line(x, y, name, "predicted", series=SERIES[kind])
