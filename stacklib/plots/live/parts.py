"""What live figures share: numbers chosen or counted, and the point that is chosen."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any, Unpack

from stacklib.quantity import Quantity, chosen
from stacklib.quantity.constants import keyed
from stacklib.quantity.core import _make
from stacklib.quantity.units import UnitError, parse

from ..marks import About, Mark, Numbers, dots

__all__ = ["chosen", "counted", "here", "stand", "stands"]

CHOSEN = 4  # series of the point chosen
STAND = "live/"  # how the key of such a number begins


def control_of(page: str, control: str) -> dict[str, Any]:
    """A control of a page's live figure, by the page's module.

    Raises LookupError for one that the page does not have.
    """
    for made in import_module(f"stacklib.pages.{page}.live").controls():
        if made["name"] == control:
            return dict(made)
    raise LookupError(f"{page} has no control {control!r}")


def stands(page: str, control: str) -> list[Any]:
    """What it can stand at."""
    made = control_of(page, control)
    return made.get("values") or [value for value, _ in made["options"]]


def counts_in(page: str, control: str) -> str:
    """The unit in which it counts, as its label ends: ``Limit of a token (ms)``."""
    unit: str = control_of(page, control)["label"].partition(" (")[2].rstrip(")")
    try:
        return unit if parse(unit) else ""
    except UnitError:
        return ""


def stand(
    page: ModuleType | str, control: str, value: float, unit: str = ""
) -> Quantity:
    """A number of a page at which a control of its live figure can stand: chosen.

    It is called as the control is, and names it, with the unit of what it stands at.
    Raises ValueError where the control cannot stand there, or counts in another unit.
    """
    name = getattr(page, "__name__", str(page)).removeprefix("stacklib.pages.")
    made = control_of(name, control)
    if value not in (known := stands(name, control)):
        raise ValueError(f"{name}: {control} stands at none of {value}: {known}")
    if (counted := counts_in(name, control)) and counted != unit:
        raise ValueError(f"{name}: {control} counts in {counted}, not in {unit!r}")
    words = made["label"].partition(" (")[0]
    key = f"{STAND}{name}/{control}"
    if parse(unit or "1").factor != 1:
        key += f"/{unit}"
    return chosen(keyed(value, key), unit, words)


def counted(value: float, label: str, unit: str = "") -> Quantity:
    """A number that a run of the figure counted."""
    made = Quantity(float(value), unit, label=label)
    return _make(
        made, kind="counted", note="counted by this figure, run with these controls"
    )


def here(
    x: float | Numbers,
    y: float | Numbers,
    name: str = "chosen",
    **about: Unpack[About],
) -> Mark:
    """Where the controls stand: the reader's ring, without a name beside."""
    return dots(x, y, name, "yours", at="none", series=CHOSEN, **about)
