"""The atlas of scale rules as figures: who wins where, and what the standard costs."""

from __future__ import annotations

from stacklib.pages.quantizers import scale_rules as page
from stacklib.plots.marks import Mark, Spec, axis, cells, chart, line
from stacklib.plots.spec import SERIES

NAMES = {
    "normal": "normal",
    "laplace": "Laplace",
    "student_3": "t",
    "model": "own model",
}


def winners(source: str) -> dict[str, list[tuple[int, int]]]:
    """Fields by the rules that win them: column of the block, row of the element."""
    found: dict[str, list[tuple[int, int]]] = {}
    for row, element in enumerate(page.ELEMENTS):
        for column, block in enumerate(page.BLOCKS):
            name = ", ".join(page.best(element, block, source))
            found.setdefault(name, []).append((column, row))
    return found


def map_spec(source: str, *, title: str) -> Spec:
    """Elements down, blocks across; a colour, or a tint, for each set of winners."""
    fields = winners(source)
    kind = "simulated" if source == "model" else "predicted"
    order = sorted(fields, key=lambda name: (name.count(","), name))
    marks: list[Mark] = [
        cells(fields[name], name, kind, series=at, shade=0.4 if at >= SERIES else 1.0)
        for at, name in enumerate(order)
    ]
    return chart(
        title,
        x=axis(
            "Numbers of a block",
            limits=[-0.5, len(page.BLOCKS) - 0.5],
            ticks=range(len(page.BLOCKS)),
            names=list(map(str, page.BLOCKS)),
        ),
        y=axis(
            "Element",
            limits=[len(page.ELEMENTS) - 0.5, -0.5],
            ticks=range(len(page.ELEMENTS)),
            names=page.ELEMENTS,
        ),
        marks=marks,
    )


def cost_spec(element: str, *, title: str) -> Spec:
    """Error by the standard's rule over the best one, against the block."""
    marks = [
        line(
            page.BLOCKS,
            [page.worse(element, block, source).si for block in page.BLOCKS],
            NAMES[source],
            "simulated" if source == "model" else "predicted",
            at="key",
            series=at,
        )
        for at, source in enumerate(page.SOURCES)
    ]
    return chart(
        title,
        x=axis("Numbers of a block", log=True),
        y=axis("Error by floor over the best rule's"),
        marks=marks,
    )
