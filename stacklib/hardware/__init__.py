"""Devices, every field with its source.

``get("h100-sxm")`` finds a device by name, ``names()`` lists them. Fields are
quantities: ``get("h100").memory_bandwidth``. What is not known raises when
asked for and is never a guess.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stacklib.quantity import resolve

from .accelerator import FIELDS, Accelerator, Peak, UnknownSpec
from .load import SpecError, from_dict, read, residuals
from .this_machine import book_machine

_DATA = Path(__file__).parent / "data" / "accelerators"
_ERRORS = Path(__file__).parent / "data" / "errors.toml"
THIS_MACHINE = "this_machine"


def names() -> tuple[str, ...]:
    """Keys of all devices, ``this_machine`` last."""
    return (*sorted(p.stem for p in _DATA.glob("*.toml")), THIS_MACHINE)


@cache
def _load(key: str) -> Accelerator:
    if key == THIS_MACHINE:
        return from_dict(book_machine(), THIS_MACHINE)
    return read(_DATA / f"{key}.toml")


def get(name: str) -> Accelerator:
    """The device of this name.

    Case, hyphens and underscores do not matter, and a unique prefix is enough.

    Raises
    ------
    UnknownName
        Otherwise; the last line of the message lists the candidates.
    SpecError
        When the device's file is incomplete or contradicts itself.

    Examples
    --------
    >>> get("h100-sxm").memory_bandwidth.text()
    '3.35 TB/s'
    """
    return _load(resolve(name, names(), "device"))


@dataclass(frozen=True, slots=True)
class ErrorBand:
    """How far predictions of one family were from published measurements.

    Relative errors ``|predicted / measured - 1|`` at the median and the 90th
    percentile.
    """

    median: float
    p90: float


def error_band(family: str) -> ErrorBand | None:
    """Error quantiles of a prediction family, as ``stacklib validate`` left them.

    None until predictions of that family have been held against published
    measurements; shown as *not yet validated*.
    """
    if not _ERRORS.exists():
        return None
    row = tomllib.loads(_ERRORS.read_text(encoding="utf-8")).get(family)
    return ErrorBand(row["median"], row["p90"]) if row else None


__all__ = [
    "Accelerator",
    "ErrorBand",
    "FIELDS",
    "Peak",
    "SpecError",
    "THIS_MACHINE",
    "UnknownSpec",
    "error_band",
    "from_dict",
    "get",
    "names",
    "read",
    "residuals",
]
