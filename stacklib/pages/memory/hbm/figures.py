"""HBM as specs: what each pin runs at against its ceiling, and stacks cut open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stacklib.hardware import stack_generation, stack_generations
from stacklib.memory.stack.builds import PackageBuild
from stacklib.memory.stack.height import Layer, Section
from stacklib.plots.marks import Mark, Spec, axis, band, chart, dots, rule, years

FIRST = 2016  # the year of the first device in the database with HBM
SPAN = 10  # years on the axis
GAP = 4.0  # millimetres between two sections, for the eye
SERIES = {"die": 0, "base": 1, "mould": 5}
NAMES = {"die": "memory die", "base": "base die", "mould": "mould"}

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
            marks += [_ceiling(key, series), _points("", mine, series)]
    words = set(named)
    for name, (year, build) in builds.items():
        if name in words:
            series = keys.index(build.generation.key)
            marks.append(_points(name, [(year, build)], series))
    return chart(
        title,
        x=years("Year of the device", FIRST, FIRST + SPAN),
        y=axis("Rate of a pin (Gbit/s)", log=True, limits=[1, 16]),
        marks=marks,
    )


def _ceiling(key: str, series: int) -> Mark:
    """What the document of a generation allows."""
    made = stack_generation(key)
    top = made.memory.pin_rate.to("Gbit/s").value
    return rule(made.name, "data sheet", y=top, series=series)


def _points(name: str, mine: Builds, series: int) -> Mark:
    at = sorted({(y, round(b.pin_rate.to("Gbit/s").value, 4)) for y, b in mine})
    x, y = zip(*at, strict=True)
    label = "end" if name else "none"
    return dots(x, y, name, "data sheet", at=label, series=series)


def section_spec(sections: Mapping[str, Section], *, title: str, width: float) -> Spec:
    """Stacks of ``width`` mm side by side, cut open, by the words on top of each."""
    marks = [
        _box(number * (width + GAP), width, layer)
        for number, section in enumerate(sections.values())
        for layer in section.layers()
        if layer.name != "gap"
    ]
    middles = [number * (width + GAP) + width / 2 for number in range(len(sections))]
    right = len(sections) * (width + GAP) - GAP
    top = max(section.height for section in sections.values())
    return chart(
        title,
        x=axis(
            f"Stacks of dies, {width:g} mm wide",
            ticks=middles,
            names=list(sections),
            limits=[-0.5, right + 0.5],
        ),
        y=axis("Height (µm), stretched", limits=[0, 1.02 * top]),
        marks=marks,
    )


def _box(left: float, width: float, layer: Layer) -> Mark:
    """A layer: a band as wide as the stack, a gap's width off its neighbours."""
    kind = "die" if layer.name.startswith("die") else layer.name.split()[0]
    ends, high = [left, left + width], [layer.bottom, layer.top]
    look = NAMES[kind], "predicted"
    return band(*look, x=ends, y=high, at="key", series=SERIES[kind])
