"""What waves explain of published matrix products.

The model of a library's product pays for the empty part of the last wave by a fitted
share, ``wave_tail``. Predicting every public product of family A with nothing paid,
with all of it paid, and with the share that was fitted shows what waves are worth. The
rows are those the share was fitted on: this is an explanation, not a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from stacklib import hardware
from stacklib.evidence import measurements, validate
from stacklib.evidence.validate import Outcome, quantile
from stacklib.quantity import counting

FACTOR = "wave_tail"
MATTERS = 0.10  # a product of which waves change the predicted time by more
NONE = 0.01  # the least that the factor may be


@cache
def predicted(tail: float) -> Mapping[str, Outcome]:
    """Public products by row id, predicted with another share of the last wave paid."""
    if not NONE <= tail <= 1:
        raise ValueError(f"tail = {tail!r}: a share from {NONE} to 1")
    rows = [row for row in measurements.fitted() if row.family == "A"]
    with hardware.efficiency_override({FACTOR: tail}):
        found = validate.validate(rows).predicted
    return {outcome.row.id: outcome for outcome in found}


@cache
def matter() -> tuple[str, ...]:
    """Rows whose prediction changes by more than ``MATTERS``, nothing paid to all."""
    free, paid = predicted(NONE), predicted(1.0)
    return tuple(
        id
        for id in free
        if abs(paid[id].predicted / free[id].predicted - 1) > MATTERS  # type: ignore[operator]
    )


@counting("error on products with few waves")
def error(tail: float, share: float = 0.5) -> float:
    """A quantile of the error on the rows that matter."""
    found = predicted(tail)
    return quantile([found[id].error for id in matter()], share)


def wave_rows() -> list[dict[str, Any]]:
    """One row a way to treat the last wave: median error, 90th percentile."""
    ways = {
        "not at all": NONE,
        "as fitted": hardware.efficiency(FACTOR),
        "as a full one": 1.0,
    }
    return [
        {
            "the last wave is paid": way,
            "products": len(matter()),
            "median error": error(tail),
            "p90": error(tail, 0.9),
        }
        for way, tail in ways.items()
    ]
