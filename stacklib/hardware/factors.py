"""Efficiency factors: what real software gets of what a spec sheet allows.

Few numbers, each for a class of devices or of software, fitted once on published
measurements by ``stacklib.evidence.calibrate`` and read here by every model. A
model that reads a factor does so when it predicts, so that a fit can move it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from stacklib.quantity import Quantity, Source, assumed, resolve

PATH = Path(__file__).parent / "data" / "efficiency.toml"
MOST = 40  # factors in all: more would fit rows, not machines
_NOTHING: Mapping[str, float] = MappingProxyType({})
_override: ContextVar[Mapping[str, float]] = ContextVar("override", default=_NOTHING)
_read: ContextVar[set[str] | None] = ContextVar("read", default=None)


@cache
def efficiency_table() -> dict[str, dict[str, Any]]:
    """Every factor with its value, bounds, class and, once fitted, uncertainty."""
    table = tomllib.loads(PATH.read_text(encoding="utf-8"))
    for name, row in table.items():
        if not 0 < row["least"] <= row["value"] <= row["most"]:
            raise ValueError(f"{PATH.name}: {name} = {row['value']} is out of bounds")
    if len(table) > MOST:
        raise ValueError(f"{PATH.name}: {len(table)} factors, more than {MOST}")
    return table


def efficiency_names() -> tuple[str, ...]:
    """Names of all factors."""
    return tuple(efficiency_table())


@cache
def _values() -> dict[str, float]:
    return {name: row["value"] for name, row in efficiency_table().items()}


def efficiency(name: str) -> float:
    """The value of a factor, in SI units (a share has none).

    Parameters
    ----------
    name : str
        One of ``efficiency_names()``, exactly.

    Raises
    ------
    UnknownName, LookupError
        For any other, with the nearest.

    Examples
    --------
    >>> 0.5 < efficiency("dram_read") < 1
    True
    """
    held = _read.get()
    if held is not None:
        held.add(name)
    moved = _override.get()
    if name in moved:
        return moved[name]
    values = _values()
    if name not in values:
        resolve(name, values, "efficiency factor")  # names the nearest
        raise LookupError(f"write efficiency factor {name!r} exactly as it is listed")
    return values[name]


def efficiency_quantity(name: str) -> Quantity:
    """A factor as a quantity: fitted on how many rows, or measured by whom.

    Parameters
    ----------
    name : str
        One of ``efficiency_names()``, exactly; another raises as in ``efficiency``.
    """
    value = efficiency(name)
    row, key = efficiency_table()[name], f"factors/{name}"
    unit, words = row.get("unit", ""), row["text"]
    if row.get("fixed"):
        by = Source(row["source"], row["where"], row["seen"], "measured")
        return Quantity(value, unit, label=words, source=by, kind="measured", key=key)
    fitted = f"fitted on {row['rows']} published rows" if "rows" in row else "assumed"
    if "low" in row:
        fitted += f", {row['low']:.4g} to {row['high']:.4g}"
    source = Source(
        "Efficiency factors of stacklib", f"{name}: {fitted}", row["seen"], "secondary"
    )
    return assumed(value, unit, words, why=fitted, source=source, key=key)


@contextmanager
def efficiency_override(values: Mapping[str, float]) -> Iterator[None]:
    """Other values for some factors while the block runs.

    Parameters
    ----------
    values : mapping
        Factor to value; a name that is not listed, or a value that is not above
        zero, raises.

    Raises
    ------
    UnknownName, LookupError
        For a factor that does not exist.
    ValueError
        For a value that is not a number above zero.
    """
    for name, value in values.items():
        if name not in efficiency_table():
            resolve(name, efficiency_table(), "efficiency factor")
            raise LookupError(f"write efficiency factor {name!r} exactly")
        if not 0 < value < float("inf"):
            raise ValueError(f"{name} = {value!r}: a number above zero is needed")
    token = _override.set({**_override.get(), **values})
    try:
        yield
    finally:
        _override.reset(token)


def efficiency_moved(every: bool = False) -> tuple[tuple[str, float], ...]:
    """Factors that stand elsewhere than their file says, of those that models share.

    What is kept from one prediction to the next is kept with these. A factor with a
    family is read by that family alone.

    - ``every``: those with a family, too
    """
    moved = _override.get()
    if moved is _NOTHING:
        return ()
    values, table = _values(), efficiency_table()
    return tuple(
        (name, value)
        for name, value in moved.items()
        if value != values[name] and (every or "family" not in table[name])
    )


def efficiency_kept(function: Callable[..., Any], most: int = 256) -> Any:
    """A function of factors that keeps what it found, with the factors in force.

    - ``function``: of positional arguments that can be keys
    - ``most``: how many answers are kept
    """
    found = lru_cache(maxsize=most)(lambda moved, *given: function(*given))

    def kept(*given: Any) -> Any:
        if _read.get() is not None:  # what is read must be seen
            return function(*given)
        return found(efficiency_moved(every=True), *given)

    return kept


@contextmanager
def efficiency_recorded() -> Iterator[set[str]]:
    """The names of the factors read while the block runs."""
    names: set[str] = set()
    token = _read.set(names)
    try:
        yield names
    finally:
        _read.reset(token)
