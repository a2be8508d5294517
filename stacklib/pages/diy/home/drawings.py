"""The drawing of section 9.8: what an hour of the machine costs, owned and rented."""

from __future__ import annotations

from typing import Any

from stacklib.pages.diy import home as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity

__all__ = ["an_hour_at_home"]
USE = 4  # hours a day of the drawing


def an_hour_at_home() -> d.Drawing:
    """An hour of work: the machine's share and its power, beside the rent of one."""
    longest = page.rent().high
    capital = (page.hour("capital") * (page.DAY / USE)).named("the machine's share")
    rows = [
        _row("owned, all day", page.hour("capital"), page.hour("power"), longest),
        _row(f"owned, {USE} hours a day", capital, page.hour("power"), longest),
        _row("rented, at most", page.rent().high, None, longest),
        _row("rented, at least", page.rent().low, None, longest),
    ]
    title = (
        "An hour of work: a machine that rests is paid for by the hours that it works."
    )
    return d.draw(
        d.below(*rows, gap=6),
        name="an-hour-at-home",
        title=title,
        devices=[page.machine().gpus[0].device],
    )


def _row(
    name: str, paid: Quantity, power: Quantity | None, longest: Quantity
) -> d.Node:
    parts = [("bought or rented", paid, "layer-2", True)]
    words: list[Any] = [d.Name(f"{name}: "), d.Shown(paid, "USD/h", 2)]
    if power is not None:
        parts.append(("power", power, "layer-5", False))
        words += [" and ", d.Shown(power, "USD/h", 2), " of power"]
    return d.Bar(name, tuple(parts), longest, [tuple(words)], 9.0)
