"""Published latencies and bandwidths of family C, by the level that they speak of."""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib.evidence import measurements, validate
from stacklib.evidence.calibrate import unseen
from stacklib.evidence.validate import Outcome, Validation, read_back
from stacklib.quantity import Quantity, counted

# What limits a row of family C, in the words of this chapter.
LEVELS = {
    "shared latency": "shared memory",
    "l1 latency": "L1",
    "l2 latency": "L2",
    "l2_far latency": "L2, far side",
    "dram latency": "memory",
    "l1": "L1",
    "l2": "L2",
    "dram": "memory",
    "concurrency": "memory",
}


@cache
def family() -> Validation:
    """Published latencies and bandwidths of a level, predicted; no row operations."""
    report = validate.validate(r for r in measurements.fitted() if r.family == "C")
    kept = (o for o in report.predicted if o.bound in LEVELS and not _timed_call(o))
    return Validation(tuple(kept))


def _timed_call(found: Outcome) -> bool:
    """A softmax or a layer norm: it streams, but is no measurement of a level."""
    name = found.row.subject.lower()
    return any(word in name for word in ("softmax", "layernorm", "gelu"))


def is_latency(found: Outcome) -> bool:
    """Whether a row is a latency; else it is a bandwidth."""
    return bool(found.bound) and str(found.bound).endswith("latency")


def level_rows() -> list[dict[str, Any]]:
    """One row a level and kind: how many published results, and the error on them.

    *Tests* are the rows whose constant is not from their own source; their errors are
    the stored ones of fits that had not seen the row's source.
    """
    report = family()
    held = {o.row.id: o for o in unseen(report, "source").predicted}
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for found in report.predicted:
        kind = "latency" if is_latency(found) else "bandwidth"
        groups.setdefault((kind, LEVELS[str(found.bound)]), []).append(found)
    rows, names = [], list(dict.fromkeys(LEVELS.values()))
    for kind, level in sorted(groups, key=lambda key: (key[0], names.index(key[1]))):
        some = groups[kind, level]
        errors = [held[o.row.id].error for o in some if o.row.id in held]
        rows.append(
            {
                "measured": kind,
                "level": level,
                "rows": len(some),
                "read back": sum(read_back(o.row, o.bound) for o in some),
                "tests": len(errors),
                "median error": _quantile(errors, 0.5),
                "p90": _quantile(errors, 0.9),
            }
        )
    return rows


def _quantile(errors: list[float], share: float) -> Quantity | None:
    return counted(validate.quantile, errors, share) if errors else None
