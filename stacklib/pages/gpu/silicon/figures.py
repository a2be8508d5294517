"""Silicon drawn: Moore's clock, designs in pieces."""

from __future__ import annotations

from stacklib import cost
from stacklib.cost import moore
from stacklib.cost.chiplets import Pieces
from stacklib.cost.moore import Chip
from stacklib.plots.marks import Mark, Spec, axis, chart, diamonds, line, rows


def clock_spec(title: str, last: int = 2026) -> Spec:
    """Transistors an area against the year: chips, the line and its band."""
    chips = moore.chips()
    fit = cost.clock()
    years = list(range(chips[0].year, last + 1))
    low, middle, high = zip(*(fit.at(year) for year in years), strict=True)
    twice = [middle[0] / 1e6 * 2 ** ((year - years[0]) / 2) for year in years]
    lines = [
        line(years, [end / 1e6 for end in ends], name, "predicted", at=at, series=i)
        for name, ends, at, i in (
            ("fit", middle, "end", 0),
            ("95 %", low, "none", 2),
            ("95 %", high, "end", 2),
        )
    ]
    lines.append(line(years, twice, "twice in 2 years", "predicted", series=3))
    some, span = years[::2], (years[0] - 1, last)
    return chart(
        title,
        x=axis("First sold", limits=span, ticks=some, names=[str(y) for y in some]),
        y=axis("Million transistors per mm²", log=True, limits=(10, 1200)),
        marks=[*lines, *map(_chip, chips)],
    )


def _chip(chip: Chip) -> Mark:
    short = chip.name.removeprefix("NVIDIA ").removeprefix("Tesla ").split()[0]
    return diamonds(
        chip.year, rows([chip.density * 1e-6], "1/mm2", evidence="claimed"), short
    )


def pieces_spec(title: str, cuts: dict[str, list[Pieces]]) -> Spec:
    """Cost of a good square millimetre by the number of pieces, a line a design."""
    marks = []
    for i, (name, row) in enumerate(cuts.items()):
        x = [found.count for found in row]
        y = [found.cost.to("USD/mm2").value for found in row]
        marks.append(line(x, y, name, "predicted", series=i))
    counts = [1, 2, 4, 8, 16]
    words, span = "Dies the design is cut into", (0.9, 16)
    return chart(
        title,
        x=axis(words, log=True, limits=span, ticks=counts),
        y=axis("Dollars a good mm² of logic", unit="USD/mm2", limits=(0.2, 0.8)),
        marks=marks,
    )
