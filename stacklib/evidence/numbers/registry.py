"""The registry behind ``numbers``: one decorator, one lookup."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from stacklib import hardware
from stacklib.quantity import Quantity

EVIDENCE = ("spec", "predicted", "simulated", "measured", "claimed")
NOT_VALIDATED = "not yet validated"

_NAME = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")
_numbers: dict[str, Number] = {}


class UnknownNumber(LookupError):
    """No chapter registers a number of this name."""


@dataclass(frozen=True)
class Number:
    """One number of the text.

    Attributes
    ----------
    name : str
        What the text links to, ``chapter_topic.number``.
    what : str
        One line for the reader: the first line of the function's docstring.
    unit, digits
        How it is printed; ``unit=None`` lets ``Quantity.text`` choose.
    evidence : str
        ``spec``, ``predicted``, ``simulated``, ``measured`` or ``claimed``.
    family : str
        Key of the error quantiles that apply to it; empty for a number that no
        model produced.
    compute : callable
        Gives the Quantity, anew each time, so that a changed spec shows.
    """

    name: str
    what: str
    unit: str | None
    digits: int
    evidence: str
    family: str
    compute: Callable[[], Quantity]

    @property
    def quantity(self) -> Quantity:
        """The value with its derivation.

        Raises
        ------
        TypeError
            When the function returned something that has no derivation.
        """
        value = self.compute()
        if not isinstance(value, Quantity):
            raise TypeError(f"number {self.name!r} returned {value!r}, not a Quantity")
        return value

    @property
    def text(self) -> str:
        """What stands between the brackets of the link."""
        return self.quantity.text(self.unit, self.digits)

    @property
    def error_bar(self) -> str:
        """The band of its model; empty where no model was involved."""
        if self.evidence not in ("predicted", "simulated"):
            return ""
        band = hardware.error_band(self.family) if self.family else None
        if band is None:
            return NOT_VALIDATED
        half, most = f"{100 * band.median:.0f} %", f"{100 * band.p90:.0f} %"
        return f"half of all predictions are within {half}, nine in ten within {most}"

    def tree(self) -> dict[str, Any]:
        """Derivation for the page: ``Quantity.tree()`` and this number's fields."""
        return {
            **self.quantity.tree(),
            "text": self.text,
            "name": self.name,
            "what": self.what,
            "evidence": self.evidence,
            "error_bar": self.error_bar,
        }


def number(
    name: str,
    *,
    unit: str | None = None,
    digits: int = 3,
    evidence: str = "predicted",
    family: str = "",
) -> Callable[[Callable[[], Quantity]], Callable[[], Quantity]]:
    """Register a function without arguments as the number ``name``.

    Parameters
    ----------
    name : str
        What the text links to, such as ``decode.t_mem``.
    evidence : str
        One of ``EVIDENCE``.
    family : str
        Key of the error quantiles that apply to it.

    Raises
    ------
    ValueError
        For a malformed or taken name, unknown evidence, digits outside 1 to 4
        (no BLAS may decide a printed digit), or a missing docstring.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"number name {name!r}: write it as 'decode.t_mem'")
    if evidence not in EVIDENCE:
        raise ValueError(f"{name}: evidence {evidence!r} is not one of {EVIDENCE}")
    if not 1 <= digits <= 4:
        raise ValueError(f"{name}: digits={digits}; print one to four")

    def register(compute: Callable[[], Quantity]) -> Callable[[], Quantity]:
        what = (compute.__doc__ or "").strip().split("\n")[0]
        if not what:
            raise ValueError(f"{name}: its docstring is what the reader sees; write it")
        if name in _numbers:
            first = _numbers[name].compute
            raise ValueError(
                f"number {name!r} is registered twice: "
                f"{first.__module__}.{first.__qualname__} and "
                f"{compute.__module__}.{compute.__qualname__}"
            )
        _numbers[name] = Number(name, what, unit, digits, evidence, family, compute)
        return compute

    return register


@cache
def _import_chapters() -> None:
    package = importlib.import_module(__package__)
    for module in pkgutil.iter_modules(package.__path__):
        if module.name != "registry":
            with contextlib.suppress(ImportError):  # its pages say their own by now
                importlib.import_module(f"{__package__}.{module.name}")


def all() -> list[Number]:
    """Every number of every chapter, by name."""
    _import_chapters()
    return [_numbers[name] for name in sorted(_numbers)]


def get(name: str) -> Number:
    """The number the text links to as ``#q:name``.

    Raises
    ------
    UnknownNumber
        With the nearest names.
    """
    _import_chapters()
    if name in _numbers:
        return _numbers[name]
    near = difflib.get_close_matches(name, _numbers, 3, 0.4)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    raise UnknownNumber(f"no number named {name!r}{hint}")
