"""How far predictions of each family were from published measurements."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_ERRORS = Path(__file__).parent / "data" / "errors.toml"


@dataclass(frozen=True, slots=True)
class ErrorBand:
    """How far predictions of one family were from published measurements.

    Relative errors ``|predicted / measured - 1|`` at the median and the 90th
    percentile, of rows whose source, or whose device, the fit had not seen: the larger.
    """

    median: float
    p90: float
    unseen: int  # rows that no fold had seen and both could predict


def _rows() -> dict[str, dict[str, Any]]:
    text = _ERRORS.read_text(encoding="utf-8") if _ERRORS.exists() else ""
    return tomllib.loads(text)


def error_band(family: str) -> ErrorBand | None:
    """Error quantiles of a prediction family, as ``stacklib validate`` left them.

    None until predictions of that family have been held against published
    measurements.
    """
    row = _rows().get(family)
    return ErrorBand(row["median"], row["p90"], row["unseen"]) if row else None


@dataclass(frozen=True, slots=True)
class Tested:
    """What the rows of a family reach: the formats, and the power of boards."""

    formats: frozenset[str]  # each measured by two sources
    watts: Mapping[str, float]  # the most power, by the energy factor of its chip


@cache
def tested(family: str) -> Tested:
    """The reach of a family's rows; nothing where none are known."""
    row = _rows().get(family, {})
    return Tested(frozenset(row.get("formats", ())), row.get("watts", {}))


def band_text(family: str) -> str:
    """The error band of a family in words; without one, that it has none, by name."""
    band = error_band(family)
    if band is None:
        return f"none: {family} is not yet held against published measurements"
    near = f"{band.median:.0%} at the median, {band.p90:.0%} at the 90th percentile"
    return f"{near} of {band.unseen} rows never seen"
