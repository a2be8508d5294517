"""Scores: how far predictions are from what was measured, by family.

The error of a row is ``|predicted / measured - 1|`` in the row's own unit.
Quantiles interpolate linearly between the two nearest rows. The bias is the
median of ``predicted / measured - 1``: below zero where predictions are low.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from ..measurements import Measurement, Refusal, public

KEYS = (
    "A",
    "B",
    "C",
    "D_large",
    "D_small",
    "E_decode",
    "E_prefill",
    "F",
    "G",
    "H",
    "I",
    "J",
)
TITLES = {
    "A": "matrix products",
    "B": "attention kernels",
    "C": "bandwidth and latency",
    "D_large": "collectives, 1 MB and over",
    "D_small": "collectives, below 1 MB",
    "E_decode": "inference, decode and throughput",
    "E_prefill": "inference, prefill and first token",
    "F": "training",
    "G": "quantization quality",
    "H": "serving systems",
    "I": "silicon, cost, energy",
    "J": "accelerators, power, DIY",
}
UNFITTED = "GHIJ"  # families that no factor is fitted for: all their rows are unseen
LARGE = 1e6  # bytes of a collective from which it counts as large


@dataclass(frozen=True, slots=True)
class Bar:
    """What is to be reached on rows never seen: median and 90th percentile."""

    median: float
    p90: float


# The plan of the house, section 8.
BARS = {
    "A": Bar(0.08, 0.22),
    "B": Bar(0.15, 0.50),
    "C": Bar(0.10, 0.30),
    "D_large": Bar(0.15, 0.50),
    "D_small": Bar(0.30, 1.00),
    "E_decode": Bar(0.15, 0.50),
    "E_prefill": Bar(0.30, 1.00),
    "F": Bar(0.12, 0.40),
    "H": Bar(0.20, 0.50),
    "I": Bar(0.20, 0.50),
}
# A family whose rows are of two kinds has a bar for each: the first is ``BARS``'.
PARTS = {"A": {"A_known": BARS["A"], "A_shapes": Bar(0.12, 0.40)}}
PART_TITLES = {
    "A_known": "products of shapes known from the start",
    "A_shapes": "products of shapes never seen",
}


def part_of(row: Measurement) -> str:
    """The part of ``PARTS`` a row belongs to; empty where its family has none."""
    if row.family not in PARTS:
        return ""
    known, others = PARTS[row.family]
    return known if row.id in _from_the_start() else others


@cache
def _from_the_start() -> frozenset[str]:
    return frozenset(row.id for row in public())


def message_bytes(row: Measurement) -> float | None:
    """Bytes of a collective's message, where its settings tell them."""
    try:
        for key in ("msg_bytes", "msg_size_as_stored"):
            if key in row.config:
                return row.number(key)
        if "tokens" in row.config:
            rows = row.number("tokens") * row.number("topk", 1.0)
            return rows * row.number("hidden")
        if "d_model" in row.config:
            rows = row.number("batch") * row.number("seq", 1.0)
            return 2 * rows * row.number("d_model")
    except Refusal:
        pass
    return None


def key_of(row: Measurement) -> str | None:
    """The key under which a row is scored; None for a family that is not known.

    D is split at 1 MB; a row that does not tell its size is small when it gives a
    time, and large when it gives a rate. E is split by what is measured: prompts
    and first tokens, or all that follows.
    """
    if row.family == "D":
        size = message_bytes(row)
        timed = row.metric.startswith("latency")
        large = not timed if size is None else size >= LARGE
        return "D_large" if large else "D_small"
    if row.family == "E":
        prompt = row.metric.startswith("prefill") or "ttft" in row.metric
        return "E_prefill" if prompt else "E_decode"
    return row.family if row.family in KEYS else None


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which a share of them lies, interpolated linearly."""
    if not values:
        raise ValueError("a quantile needs at least one value")
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row: what was predicted, or why nothing was."""

    row: Measurement
    key: str | None  # where it is scored
    predicted: float | None = None  # in the row's unit
    bound: str | None = None  # what the model says limits it
    reason: str | None = None  # why it is refused; None when predicted
    low: float | None = None  # ends of the band that holds nine in ten; None without
    high: float | None = None
    cell: str = ""  # whose band it is

    @property
    def ratio(self) -> float:
        """Predicted over measured; nan where nothing was predicted."""
        return math.nan if self.predicted is None else self.predicted / self.row.value

    @property
    def error(self) -> float:
        """``|predicted / measured - 1|``."""
        return abs(self.ratio - 1)

    @property
    def inside(self) -> bool:
        """Whether the measured value lies in the band; False without one."""
        if self.low is None or self.high is None:
            return False
        return self.low <= self.row.value <= self.high

    def as_dict(self) -> dict[str, Any]:
        """The promised fields, JSON-able."""
        return {
            "id": self.row.id,
            "predicted": self.predicted,
            "low": self.low,
            "high": self.high,
            "unit": self.row.unit,
            "bound": self.bound,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Score:
    """How a set of rows came out; the errors are None when none was predicted."""

    predicted: int
    refused: int
    median_error: float | None
    p90_error: float | None
    bias: float | None

    def as_dict(self) -> dict[str, Any]:
        """The promised fields, JSON-able."""
        return asdict(self)


def score(outcomes: Iterable[Outcome]) -> Score:
    """Counts, error quantiles and bias of some rows."""
    found = list(outcomes)
    ratios = [o.ratio for o in found if o.predicted is not None]
    refused = len(found) - len(ratios)
    if not ratios:
        return Score(0, refused, None, None, None)
    errors = [abs(r - 1) for r in ratios]
    return Score(
        len(ratios),
        refused,
        quantile(errors, 0.5),
        quantile(errors, 0.9),
        quantile([r - 1 for r in ratios], 0.5),
    )
