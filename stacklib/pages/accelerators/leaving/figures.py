"""A year of a port against what fleets save, for three lives of the port."""

from __future__ import annotations

from stacklib.pages.accelerators import leaving as page
from stacklib.plots.marks import Spec, axis, chart, line, rule

LIVES = (1, 3, 6)  # years


def fleets_spec(*, title: str) -> Spec:
    """Millions of dollars a year: a line through the origin, and flat ones."""
    sizes = [10 ** (2 + k / 4) for k in range(9)]
    hours = 8766 * page.USED
    saved = [n * page.saved().to("USD/h").value * hours / 1e6 for n in sizes]
    marks = [line(sizes, saved, "saved", "predicted", series=0, device="h100_sxm")]
    for index, years in enumerate(LIVES, 1):
        cost = page.port(years).a_year.to("USD/year").value / 1e6
        words = f"effort, used {years} years" if years > 1 else "effort, used a year"
        marks.append(rule(words, "predicted", y=cost, series=index))
    return chart(
        title,
        x=axis("GPUs", log=True, limits=[90, 11_000]),
        y=axis("Millions of USD a year", log=True, limits=[0.1, 60]),
        marks=marks,
    )
