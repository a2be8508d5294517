"""Family E by what its rows ask: how far off on rows that no fold had seen."""

from __future__ import annotations

from functools import cache

from ..measurements import fitted
from ..predict.inference import KINDS, kind_of
from ..validate import Bar, quantile
from .files import held_out
from .folds import BY, Errors

# What is to be reached by kind, so that the friendly one does not hide the others.
KIND_BARS = {
    "one sequence": Bar(0.12, 0.40),
    "served": Bar(0.20, 0.50),
    "most": Bar(0.20, 0.50),
    "prompt": Bar(0.30, 1.00),
    "first token": Bar(0.30, 1.00),
}


@cache
def errors_by_kind() -> dict[str, Errors]:
    """Errors of each kind: the larger of both cross-validations, as of families."""
    stored = held_out()
    misses: dict[str, dict[str, list[float]]] = {
        kind: {by: [] for by in BY} for kind in KINDS
    }
    for row in fitted():
        if row.family != "E" or row.id not in stored:
            continue
        for by in BY:
            value = getattr(stored[row.id], f"by_{by}")
            if value is not None:
                misses[kind_of(row)][by].append(abs(value / row.value - 1))
    return {kind: _larger(list(found.values())) for kind, found in misses.items()}


def _larger(found: list[list[float]]) -> Errors:
    median, p90 = (max(quantile(errors, s) for errors in found) for s in (0.5, 0.9))
    return Errors(median, p90, min(map(len, found)))


def kind_error(kind: str, take: str = "median") -> float:
    """The median or the ``p90`` of a kind's errors, or ``n``, its rows.

    - raises ``KeyError`` for a kind that is not in ``KINDS``
    """
    return float(getattr(errors_by_kind()[kind], take))
