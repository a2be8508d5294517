"""The path in weeks, phase by phase, and the wait that runs beside it.

Each phase begins when the one before it ends, so both ends add up. A tile is handed in
at the end of its phase; the chip comes when the shuttle has been made, whatever one
does meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.cost.spans import Span, span
from stacklib.quantity import Quantity, quoted

from .realism import quoted_span

PHASES = {
    "measure": "read, count, measure the machine at hand",
    "build": "order the parts, build the rig, find its faults",
    "power": "power limits, heat, three hours under load",
    "kernels": "kernels of one's own, against the bound",
    "board": "a small board: a model at eight bits, a network in fixed point",
    "tile": "a tile: gates, its test bench, the checklist, handed in",
}
WEEKS_A_MONTH = 365.25 / 12 / 7


@dataclass(frozen=True)
class Phase:
    """One phase: its own weeks, and the week in which it ends, least and most."""

    key: str
    name: str
    weeks: Span
    ends: Span


@dataclass(frozen=True)
class Timeline:
    """All phases one after another, and the chip."""

    phases: tuple[Phase, ...]

    @property
    def weeks(self) -> Span:
        """Of the whole path."""
        return self.phases[-1].ends

    @property
    def months(self) -> Span:
        """The same in months."""
        return self.weeks / WEEKS_A_MONTH

    @property
    def chip(self) -> Span:
        """Weeks until the chip is there: the path, and what its making takes."""
        wait = quoted_span("tinytapeout.wait") * WEEKS_A_MONTH
        return (self.weeks + wait).named("weeks until the chip is there")


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
    total: Span | None = None
    for key, name in PHASES.items():
        weeks = quoted_span(f"timeline_{key}.weeks")
        total = weeks if total is None else total + weeks
        made.append(Phase(key, name, weeks, total.named(f"end of {key}")))
    return Timeline(tuple(made))


def own_chip(node: str = "n3", lot: int = 25) -> dict[str, Span]:
    """What a leading chip of one's own costs before the first one is sold.

    - ``node``: a key of wafer prices.
    - ``lot``: wafers of a first lot.
    """
    from stacklib.cost.data import wafer_price
    from stacklib.cost.making import fact
    from stacklib.quantity.bounds import whole

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


def nearest(amount: Quantity, parts: dict[str, Span]) -> str:
    """Which of several spans an amount is nearest to, by its factor outside of it."""

    def apart(each: Span) -> float:
        return max(each.low.si / amount.si, amount.si / each.high.si, 1.0)

    return min(parts, key=lambda name: (apart(parts[name]), parts[name].width.si))


def guide_months() -> tuple[Quantity, Span]:
    """What the guide says its path takes, and the sum of its phases, in months."""
    said = quoted("timeline_guide.months")
    weeks = span(quoted("timeline_guide.low"), quoted("timeline_guide.high"))
    return said, weeks / WEEKS_A_MONTH
