"""Whose row it is: the device whose limits bind it, or why there is none.

A row says its device, or the records that its numbers stand on do: one device among
them is the row's. What no record tells stands in ``owners.toml``, by the name of the
table or figure. A row of counts alone has no device; one with a time, a rate, a power
or a price and none of these is a fault.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from stacklib import hardware, models
from stacklib.quantity import Quantity, UnitError
from stacklib.quantity.told import parts

NONE = "none: "
COUNT = f"{NONE}a count"
PHYSICAL = ("s", "J", "USD")
NAMED = 3  # records named in a reason
OURS = "benchmarks/results/"  # how the name of a file that was made here begins
_ROW = re.compile(r"[A-K]-[A-Z]?\d+")  # ids of published measurements
_TOKENS = re.compile(r"\btok(ens)?/")
_TOLD = re.compile(r"\(([^()]+)\)\s*$|(\S+/s)\s*$")


def records(q: Quantity) -> set[str]:
    """The records that a number stands on: ``h100-sxm``, ``scaleup/nvlink4``.

    Parameters
    ----------
    q : Quantity
        The number.
    """
    seen: set[int] = set()
    found: set[str] = set()

    def visit(part: Quantity) -> None:
        if id(part) in seen:
            return
        seen.add(id(part))
        if part.key:
            found.add(part.key.partition(".")[0])
        for below in parts(part):
            visit(below)

    visit(q)
    return found


@cache
def unit_of(column: str, unit: str) -> str:
    """The unit of a column: its own, or what its label has in brackets or is."""
    told = None if unit else _TOLD.search(column)
    try:
        read = told and _TOKENS.sub("token/", told[1] or told[2])
        return Quantity(1, read).unit if read else unit
    except UnitError:
        return unit


@cache
def _devices() -> Mapping[str, str]:
    return {key.replace("_", "-"): key for key in hardware.names()}


@cache
def _systems() -> Mapping[str, str]:
    from .. import measurements

    every = (*measurements.fitted(), *measurements.series())
    return {row.id: row.system for row in every}


def machines(of: Iterable[str]) -> set[str]:
    """The devices that records, as ``records`` finds them, describe or were made on."""
    from ..systems import DeviceRefusal, device_of

    found: set[str] = set()
    for key in of:
        if key.startswith(OURS):
            found.add(hardware.THIS_MACHINE)
        elif key in _devices():
            found.add(_devices()[key])
        elif _ROW.fullmatch(key):
            with suppress(DeviceRefusal):  # no device of the book
                found.add(device_of(_systems().get(key, ""))[0])
    return found


def refuse_other(what: str, device: str | None, of: Collection[str]) -> None:
    """ValueError where numbers are told of a device and stand on others alone.

    Parameters
    ----------
    what : str
        What shows them, as the message calls it.
    device : str, optional
        Whose they are said to be; ``none: why`` is nobody's.
    of : collection of str
        Records that they stand on.
    """
    stands = machines(of) if device and not device.startswith(NONE) else set()
    if stands and device and hardware.get(device).key not in stands:
        raise ValueError(
            f"{what}: device={device!r}, but its numbers stand on "
            f"{' and '.join(sorted(stands))} alone; name whose they are"
        )


def model_of(of: Iterable[str]) -> str | None:
    """The one model among records; None for none or several."""
    found = set(of) & set(models.names())
    return found.pop() if len(found) == 1 else None


def owner(of: Iterable[str], values: Mapping[str, list[Any]]) -> str | None:
    """The device that a row stands on, or why it has none; None where that is not said.

    - ``of``: records of its numbers
    - ``values``: its cells by column
    """
    stands = sorted(of)
    devices = [_devices()[key] for key in stands if key in _devices()]
    if len(devices) == 1:
        return devices[0]
    if not any(map(_physical, values, values.values())):
        return COUNT
    if named := devices or stands:
        more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
        return f"{NONE}of {', '.join(named[:NAMED])}{more}"
    return None


def _physical(column: str, cell: list[Any]) -> bool:
    dims = dict(Quantity(1, unit_of(column, cell[1])).shown.dims)
    return any(name in dims for name in PHYSICAL)


@cache
def _listed() -> Mapping[str, str]:
    text = Path(__file__).with_name("owners.toml").read_text("utf-8")
    owners = tomllib.loads(text).items()
    return {name: owner for owner, shown in owners for name in shown}


def listed(kind: str, name: str) -> str | None:
    """What ``owners.toml`` says of a table or figure."""
    return _listed().get(f"{kind} {name}")
