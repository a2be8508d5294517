"""Held-out predictions as a report: how the models do on rows never seen."""

from __future__ import annotations

from dataclasses import replace

from ..validate import Validation, read_back
from ..validate.score import UNFITTED
from .files import held_out

MISSING = "not in the last calibration"
READ_BACK = "its constant was measured by its own source"


def unseen(report: Validation, by: str) -> Validation:
    """The same rows, each predicted by factors that never saw its group.

    Rows that the models refuse stay refused. A row that no stored fold predicted,
    or whose constant comes from its own source, is refused with that reason: it
    would be no test. Families without a fitted factor stand as they are.
    """
    held = held_out()
    outcomes = []
    for found in report.outcomes:
        if found.predicted is not None and found.row.family not in UNFITTED:
            stored = held.get(found.row.id)
            value = getattr(stored, f"by_{by}") if stored else None
            reason = None if value is not None else MISSING
            if read_back(found.row, found.bound):
                value, reason = None, READ_BACK
            found = replace(found, predicted=value, reason=reason)
        outcomes.append(found)
    return Validation(tuple(outcomes))
