"""Speed under a limit of power: cards that no constant has seen, and their rows."""

from __future__ import annotations

from stacklib.diy.voltage import power, spread
from stacklib.pages.diy import watts as page
from stacklib.plots.marks import Spec, axis, chart, dots, line, rows, rule

SHARES = range(26, 105, 2)  # % of the board's power


def speeds_spec(*, title: str) -> Spec:
    """Share of the speed without a limit: of one answer, and of a prompt."""
    whole = page.board().si
    limits = [whole * share / 100 for share in SHARES]
    ends = zip(*(spread(page.UNSEEN, watts) for watts in limits), strict=True)
    marks = [
        line(SHARES, [100 * x for x in end], name, "predicted", series=3)
        for end, name in zip(ends, ("works most", "waits most"), strict=True)
    ]
    for series, work in enumerate(("decode", "prompt")):
        told = [power(page.UNSEEN, watts, work=work).speed for watts in limits]
        shares = [100 * speed / told[-1] for speed in told]
        marks.append(line(SHARES, shares, work, "predicted", series=series))
    for series, run in enumerate((page.DECODE, page.PROMPT, page.OLDER)):
        sold = page.board(run.split(",")[0]).si
        read = page.published(run)
        watts = [100 * limit / sold for limit, _, _ in read]
        seen = rows([share for _, share, _ in read])
        marks.append(dots(watts, seen, run, "measured", at="key", series=series))
    bends = 100 * page.card("floor").si / whole
    marks.append(rule("voltage begins to rise", "predicted", x=bends, series=4))
    for mark in marks:
        mark |= {"device": page.UNSEEN, "role": "ratio"}
    return chart(
        title,
        x=axis("Limit over the board's power (%)", limits=[25, 105], unit="%"),
        y=axis("Speed left (%)", limits=[0, 110], unit="%"),
        marks=marks,
    )
