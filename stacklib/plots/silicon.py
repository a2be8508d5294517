"""Silicon drawn: Moore's clock, designs in pieces, packages by the reticle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stacklib import cost
from stacklib.cost import moore
from stacklib.cost.chiplets import Pieces
from stacklib.cost.moore import Chip
from stacklib.quantity import Quantity


def clock_spec(title: str, last: int = 2026) -> dict[str, Any]:
    """Transistors an area against the year: chips, the line and its band.

    Parameters
    ----------
    title : str
        A sentence saying what is seen.
    last : int
        Year the line is drawn to.
    """
    chips: Sequence[Chip] = moore.chips()
    fit = cost.clock()
    years = list(range(chips[0].year, last + 1))
    ends = [fit.at(year) for year in years]
    marks: list[dict[str, Any]] = [
        {"kind": "line", "evidence": "predicted", "name": "fit", "x": years,
         "y": [middle / 1e6 for _, middle, _ in ends], "series": 0},
        *({"kind": "line", "evidence": "predicted", "name": name, "label_at": "none",
           "x": years, "y": [end[i] / 1e6 for end in ends], "series": 2}
          for name, i in (("low end", 0), ("high end", 2))),
        {"kind": "line", "evidence": "predicted", "name": "twice in 2 years",
         "x": years, "series": 3,
         "y": [ends[0][1] / 1e6 * 2 ** ((year - years[0]) / 2) for year in years]},
    ]  # fmt: skip
    for chip in chips:
        short = chip.name.removeprefix("NVIDIA ").removeprefix("Tesla ").split()[0]
        marks.append({
            "kind": "dots", "evidence": "claimed", "name": short, "series": 1,
            "x": [chip.year], "y": [chip.density.to("1/mm2").value / 1e6],
        })  # fmt: skip
    return {
        "title": title,
        "x": {"label": "First sold", "limits": (years[0] - 1, last),
              "ticks": years[::2], "names": [str(year) for year in years[::2]]},
        "y": {"label": "Million transistors a mm2", "scale": "log",
              "limits": (10, 1200)},
        "marks": marks,
    }  # fmt: skip


def pieces_spec(title: str, cuts: dict[str, list[Pieces]]) -> dict[str, Any]:
    """Cost of a good square millimetre against the number of pieces.

    Parameters
    ----------
    title : str
        A sentence saying what is seen.
    cuts : dict
        Name of a line to its designs.
    """
    marks = [
        {"kind": kind, "evidence": "predicted", "name": name, "series": i,
         "label_at": "end" if kind == "line" else "none",
         "x": [found.count for found in row],
         "y": [found.cost.to("USD/mm2").value for found in row]}
        for i, (name, row) in enumerate(cuts.items())
        for kind in ("line", "dots")
    ]  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Dies the design is cut into", "scale": "log",
              "limits": (0.9, 16), "ticks": [1, 2, 4, 8, 16]},
        "y": {"label": "Dollars a good mm2 of logic", "unit": "USD/mm2",
              "limits": (0.2, 0.8)},
        "marks": marks,
    }  # fmt: skip


def reticle_spec(title: str, packages: dict[str, Quantity]) -> dict[str, Any]:
    """Silicon of packages in reticles, and what interposers carry.

    Parameters
    ----------
    title : str
        A sentence saying what is seen.
    packages : dict
        Name to the area of its dies and stacks, from the smallest.
    """
    marks: list[dict[str, Any]] = []
    for row, (name, area) in enumerate(packages.items()):
        marks.append({
            "kind": "line", "evidence": "predicted", "name": name, "thick": True,
            "series": 0, "x": [0, (area / cost.reticle()).si], "y": [row, row],
        })  # fmt: skip
    one = {"kind": "vline", "evidence": "claimed", "name": "one exposure", "x": [1.0]}
    limits = {"CoWoS-S, CoWoS-L 2024": 3.3, "CoWoS-L 2026": 5.5}
    known = {q.value.si for q in cost.fact("carries", "cowos_l").quotes}
    marks += [one | {"series": 4}] + [
        {"kind": "vline", "evidence": "claimed", "name": name, "x": [x], "series": 4}
        for name, x in limits.items() if x in known
    ]  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Area of dies and stacks, in reticles", "limits": (0, 6.5)},
        "y": {"label": "Package", "limits": (-0.7, len(packages) - 0.3),
              "ticks": []},
        "marks": marks,
    }  # fmt: skip
