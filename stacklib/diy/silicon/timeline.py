"""The path in weeks, phase by phase, and the wait that runs beside it.

Each phase begins when the one before it ends, so both ends add up. A tile is handed in
at the end of its phase; the chip comes when the shuttle has been made, whatever one
does meanwhile.
"""

from __future__ import annotations

from typing import NamedTuple

from stacklib.cost.data import wafer_price
from stacklib.cost.making import fact
from stacklib.cost.spans import Span, span
from stacklib.quantity import one_of, quoted
from stacklib.quantity.bounds import whole

from .devices import table
from .realism import quoted_span

WEEKS_A_MONTH = (one_of("year") / (84 * one_of("day"))).to("").named("weeks of a month")


class Phase(NamedTuple):
    """One phase: its own weeks, and the week in which it ends, least and most."""

    name: str
    weeks: Span
    ends: Span


class Timeline(NamedTuple):
    """All phases one after another, and the chip."""

    phases: tuple[Phase, ...]
    weeks: Span  # of all, as the guide has them: what its phases add up to
    months: Span
    chip: Span  # weeks until it is there: the path, and what its making takes


def timeline() -> Timeline:
    """The path through this book's machines in weeks.

    Returns
    -------
    Timeline
        Phases in their order; ``weeks`` and ``months`` of all, ``chip`` until a tile
        that was handed in at the end comes back.

    Examples
    --------
    >>> path = timeline()
    >>> path.weeks.low.si, path.weeks.high.si
    (12.0, 23.0)
    """
    made: list[Phase] = []
    for key, row in table("phases").items():
        weeks = quoted_span(f"timeline_{key}.weeks")
        end = made[-1].ends + weeks if made else weeks
        made.append(Phase(row["name"], weeks, end.named(f"end of {key}")))
    weeks = span(quoted("timeline_guide.low"), quoted("timeline_guide.high"))
    chip = weeks + quoted_span("tinytapeout.wait") * WEEKS_A_MONTH
    chip = chip.named("weeks until the chip is there")
    return Timeline(tuple(made), weeks, weeks / WEEKS_A_MONTH, chip)


def own_chip(node: str = "n3", lot: int = 25) -> dict[str, Span]:
    """What a leading chip of one's own costs before the first one is sold.

    - ``node``: a key of wafer prices; ``lot``: wafers of a first lot.
    """
    whole(lot=lot)
    wafer = span(wafer_price(node))
    parts = {
        "design": quoted_span("own_chip.design"),
        "masks": span(fact("masks", "leading")),
        "wafers": (wafer * lot).named(f"{lot} wafers"),
        "wafer": wafer,
    }
    total = parts["design"] + parts["masks"] + parts["wafers"]
    return {**parts, "total": total.named("before the first is sold")}
