"""How far predictions of each family were from published measurements."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

_ERRORS = Path(__file__).parent / "data" / "errors.toml"


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
    measurements.
    """
    if not _ERRORS.exists():
        return None
    row = tomllib.loads(_ERRORS.read_text(encoding="utf-8")).get(family)
    return ErrorBand(row["median"], row["p90"]) if row else None


def band_text(family: str) -> str:
    """The error band of a family in words; without one, that it has none, by name."""
    band = error_band(family)
    if band is None:
        return f"none: {family} is not yet held against published measurements"
    return f"{band.median:.0%} at the median, {band.p90:.0%} at the 90th percentile"
