"""What is kept of a draft, place by place, against what the formula takes."""

from __future__ import annotations

from stacklib.pages.serving import speculation as page
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, line, rows

DRAWN = ("draft", "grams")


def places_spec(*, title: str) -> Spec:
    """Share kept of the first to fourth drafted token, where those before it were."""
    places = [*range(1, page.DRAFTED + 1)]
    marks: list[Mark] = []
    for series, name in enumerate(DRAWN):
        level = 100 * page.ran(name, "overlap").si
        kept = (page.ran(name, f"by_position/{place - 1}") for place in places)
        words = page.SHOWN[name]
        marks += [
            dots(places, rows(kept, "%"), words, "measured", series=series),
            line(
                places,
                [level] * len(places),
                f"{words}: one acceptance",
                "predicted",
                series=series,
            ),
        ]
    return chart(
        title,
        x=axis("Place in the draft", limits=[0.5, page.DRAFTED + 0.5]),
        y=axis("Kept, if all before it were (%)", limits=[40, 75]),
        marks=marks,
    )
