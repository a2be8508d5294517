"""HBM as specs: what each pin runs at against its ceiling, and stacks cut open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stacklib.hardware import stack_generation, stack_generations
from stacklib.memory import PackageBuild, Section

FIRST = 2016  # the year of the first device in the database with HBM
SPAN = 10  # years on the axis
GAP = 4.0  # millimetres between two sections, for the eye
SERIES = {"die": 0, "base": 1, "mould": 5}


def rates_spec(
    builds: Mapping[str, tuple[int, PackageBuild]], *, title: str, named: Iterable[str]
) -> dict[str, Any]:
    """Spec of the rate of a pin over the year, by generation, with each one's ceiling.

    Parameters
    ----------
    builds : dict
        Year and build by the name of a device.
    title : str
        What the figure shows.
    named : iterable of str
        Devices whose name is written beside their point.
    """
    marks: list[dict[str, Any]] = []
    for series, key in enumerate(stack_generations()):
        made = stack_generation(key)
        mine = [(y, b) for y, b in builds.values() if b.generation.key == key]
        if not mine:
            continue
        top = made.memory.pin_rate.to("Gbit/s").value
        span = [y - FIRST for y, _ in mine]
        years = [max(min(span) - 0.4, 0), min(max(span) + 0.4, SPAN)]
        marks.append({"kind": "line", "evidence": "claimed", "name": made.name,
                      "x": years, "y": [top, top], "series": series})  # fmt: skip
        marks.append(_points("", mine, series))
    words = set(named)
    for name, (year, build) in builds.items():
        if name in words:
            at = list(stack_generations()).index(build.generation.key)
            marks.append(_points(name, [(year, build)], at))
    return {
        "title": title,
        "x": {"label": f"Year of the device, after {FIRST}", "limits": [0, SPAN]},
        "y": {"label": "Rate of a pin (Gbit/s)", "scale": "log", "limits": [1, 16]},
        "marks": marks,
    }


def _points(
    name: str, mine: Iterable[tuple[int, PackageBuild]], series: int
) -> dict[str, Any]:
    at = sorted({(y - FIRST, round(b.pin_rate.to("Gbit/s").value, 4)) for y, b in mine})
    return {"kind": "dots", "evidence": "predicted", "name": name, "series": series,
            "x": [x for x, _ in at], "y": [y for _, y in at],
            "label_at": "end" if name else "none"}  # fmt: skip


def section_spec(
    sections: Mapping[str, Section], *, title: str, width: float
) -> dict[str, Any]:
    """Spec of stacks side by side, cut open; both axes to their own scale.

    Parameters
    ----------
    sections : dict
        By the words written on top of each.
    title : str
        What the figure shows.
    width : float
        Millimetres of a stack.
    """
    marks: list[dict[str, Any]] = []
    for number, (words, section) in enumerate(sections.items()):
        left = number * (width + GAP)
        for layer in section.layers():
            if layer.name != "gap":
                marks.append(_box(words, layer.name, left, width, layer))
    right = len(sections) * (width + GAP) - GAP
    top = max(section.height for section in sections.values())
    return {
        "title": title,
        "x": {"label": "Across (mm)", "limits": [-0.5, right + 0.5]},
        "y": {"label": "Height (µm), stretched", "limits": [0, 1.02 * top]},
        "marks": marks,
    }


def _box(
    words: str, name: str, left: float, width: float, layer: Any
) -> dict[str, Any]:
    """The outline of a layer; it ends in the middle of its left, where a name goes."""
    kind = "die" if name.startswith("die") else name.split()[0]
    right, low, top = left + width, layer.bottom, layer.top
    middle = (low + top) / 2
    return {"kind": "line", "evidence": "predicted", "series": SERIES[kind],
            "name": words if kind == "mould" else "",
            "x": [left, left, right, right, left, left],
            "y": [middle, low, low, top, top, middle]}  # fmt: skip
