"""What the menus of the live figures offer, read from the spec database.

Menus are made when a page is: in the reader's browser only the devices chosen are
read, never all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stacklib import hardware
from stacklib.quantity import DTYPES


def _published() -> list[hardware.Accelerator]:
    """Devices a roofline can be drawn of, by vendor, newest first."""
    keys = [key for key in hardware.names() if key != hardware.THIS_MACHINE]
    found = [hardware.get(key) for key in keys]
    usable = [
        d for d in found
        if d.fields["memory_bandwidth"] is not None
        and d.fields["memory_capacity"] is not None
        and d.formats
    ]  # fmt: skip
    return sorted(usable, key=lambda d: (d.vendor.lower(), -d.year, d.short))


def devices() -> list[list[str]]:
    """Devices of known memory and rates as ``[key, name]``, by vendor.

    This machine has its own pages. Where two devices share their short name, the
    menu says the long one.
    """
    found = _published()
    short = [device.short for device in found]
    return [[d.key, d.name if short.count(d.short) > 1 else d.short] for d in found]


def vendors() -> list[str]:
    """The vendor of each of ``devices()``: the menu's groups."""
    return [device.vendor for device in _published()]


def formats(operations: Sequence[str] = ("FLOP",)) -> list[list[str]]:
    """Sixteen bits and fewer for which some device publishes a rate, widest first.

    The menu does not follow the device: a format the chosen device lacks gets a
    message instead of a figure.

    Parameters
    ----------
    operations : sequence of str
        ``"FLOP"``, ``"OP"`` or both.
    """
    known = {name for device in _published() for name in device.formats}
    narrow = [d for d in DTYPES.values() if d.name in known and d.bits <= 16]
    found = [d for d in narrow if d.operation in operations]
    return [[d.name, d.name] for d in sorted(found, key=lambda d: -d.bits)]


def device(name: str, label: str, value: str) -> dict[str, Any]:
    """A menu of devices, grouped by vendor.

    Parameters
    ----------
    name, label : str
        Argument of the function; words for the reader.
    value : str
        Key of the device it starts with.
    """
    return {**select(name, label, devices(), value), "groups": vendors()}


def select(name: str, label: str, options: Sequence[Any], value: str) -> dict[str, Any]:
    """A menu.

    Parameters
    ----------
    name, label : str
        Argument of the function; words for the reader.
    options : sequence of pair
        Value and words of each choice.
    value : str
        The choice it starts with.
    """
    return {"name": name, "label": label, "type": "select",
            "options": [list(o) for o in options], "value": value}  # fmt: skip


def slider(name: str, label: str, values: Sequence[int], value: int) -> dict[str, Any]:
    """A slider that steps through ``values``.

    Parameters
    ----------
    name, label : str
        Argument of the function; words for the reader.
    values : sequence of int
        Its steps.
    value : int
        The step it starts at.
    """
    return {"name": name, "label": label, "type": "range",
            "values": list(values), "value": value}  # fmt: skip
