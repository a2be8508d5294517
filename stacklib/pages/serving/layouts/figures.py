"""The front of layouts: what one user sees against what all chips make."""

from __future__ import annotations

from stacklib.pages.serving import layouts as page
from stacklib.plots.marks import Spec, axis, band, chart, dots, line

FAST = 100.0  # tokens a second of a user, to where the figure goes
LOOSE = 0.1  # s a token, to where layouts are shown that are refused


def front_spec(*, title: str) -> Spec:
    """Every layout that was timed, those over the limit where it is hatched."""
    front = page.found().pareto
    slowest = 1 / page.LIMITS["tpot"]
    marks = [
        band("too slow", "impossible", x=[0.0, slowest], at="key"),
        line(
            [row.tokens_per_user for row in front],
            [row.tokens_per_gpu for row in front],
            "the front",
            "predicted",
            at="key",
            series=2,
        ),
    ]
    refused = [r for r in page.found(LOOSE).kept if r.tpot > page.LIMITS["tpot"]]
    groups = [
        (page.POOLS[kind], [r for r in page.found().kept if r.kind == kind], series)
        for series, kind in enumerate((page.ONE, page.TWO))
    ]
    for words, listed, series in [*groups, ("refused", refused, 4)]:
        x = [row.tokens_per_user for row in listed]
        y = [row.tokens_per_gpu for row in listed]
        marks.append(dots(x, y, words, "predicted", at="key", series=series))
    return chart(
        title,
        x=axis("Tokens a second that one user sees", limits=[0, FAST]),
        y=axis("Tokens a second a GPU", limits=[0, 330]),
        marks=marks,
    )
