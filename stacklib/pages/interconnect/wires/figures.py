"""Chart and tables of section 6.5: what was predicted of sockets, and what came."""

from __future__ import annotations

from statistics import median
from typing import Any

from stacklib.pages.interconnect import wires as page
from stacklib.plots.marks import About, Mark, Spec, axis, chart, dots, line, rows

ABOUT = About(device="this_machine")
ENDS = (0.3, 200.0)  # ms
SIZES = {"16 KiB": 1 << 14, "1 MiB": 1 << 20, "16 MiB": 1 << 24}


def all_spec() -> Spec:
    """Every case of four processes: measured against predicted."""
    marks: list[Mark] = [
        line(ENDS, ENDS, "as predicted", "predicted", at="key"),
    ]
    for series, (name, size) in enumerate(SIZES.items()):
        mine = [
            case
            for case in page.cases().values()
            if case["world"] == page.WORLD
            and case["algorithm"] != "library"
            and abs(case["bytes"] - size) < size / 16
        ]
        mine.sort(key=lambda case: (case["predicted_s"], median(case["times_s"])))
        x = [1e3 * case["predicted_s"] for case in mine]
        y = rows([page.median_of(case["id"]) for case in mine], "ms")
        marks.append(dots(x, y, name, "measured", at="key", series=series, **ABOUT))
    return chart(
        "Two numbers predict every schedule over sockets, roughly.",
        x=axis("Predicted (ms)", log=True, limits=ENDS),
        y=axis("Measured (ms)", log=True, limits=ENDS),
        marks=marks,
    )


def algorithms() -> list[dict[str, Any]]:
    """All-reduce among four processes, by algorithm."""
    rows: list[dict[str, Any]] = []
    for name, algorithm in page.NAMES.items():
        row: dict[str, Any] = {"algorithm": name}
        for words, size in (("16 KiB", page.VECTOR), ("16 MiB", page.LARGE)):
            row[f"{words}, predicted"] = page.foretold(algorithm, size)
            row[f"{words}, measured"] = page.timed(algorithm, size)
        rows.append(row)
    return rows


def links() -> list[dict[str, Any]]:
    """Links between namespaces: what was set and what was found."""
    return [
        {
            "set": name,
            "made by": page.made_by(name),
            "alpha, predicted": page.link_told(name, "alpha"),
            "alpha, found": page.link_alpha(name),
            "rate, predicted": page.link_told(name, "rate"),
            "rate, found": page.link_rate(name),
        }
        for name in page.SHAPES
    ]
