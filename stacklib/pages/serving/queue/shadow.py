"""Section 8.8: what was predicted of this machine's engine, and what it then did."""

from __future__ import annotations

from typing import Any

from stacklib.evidence import results
from stacklib.evidence.runs import beside, promised
from stacklib.quantity import Quantity, chosen, counting, recorded

from . import said

NAME, STEPS = "shadow", "host_steps"
SHOWN = "ttft p99"
NEAR = 0.95  # the load whose miss the page explains


def row_of(load: float) -> str:
    """The id of a load's row."""
    return f"load {load}"


def predicted(load: float) -> Quantity:
    """The p99 of TTFT as it was committed."""
    label = f"p99 of TTFT at {load}, predicted"
    return promised(NAME, row_of(load), f"seconds/{SHOWN}/0", "s", label)


def seen(load: float, field: str = f"seconds/{SHOWN}", unit: str = "s") -> Quantity:
    """What the engine then took: the p99 of TTFT, or another field of the run."""
    label = f"{field.removeprefix('seconds/')} at {load}"
    return recorded(results.file(NAME), row_of(load), field, unit=unit, label=label)


def off(load: float) -> Quantity:
    """Median error of the percentiles of a load."""
    return seen(load, "median_error", "")


def steps(field: str = "steps") -> Quantity:
    """What was timed before: how many steps, or an end of the band of whole windows."""
    return recorded(results.file(STEPS), "", field, label=f"of timed steps: {field}")


def requests() -> Quantity:
    """Requests of each load."""
    return promised(NAME, row_of(NEAR), "requests", "", "requests of a load")


@counting("percentiles that lie in their interval")
def inside() -> int:
    """Over all loads."""
    rows = beside(NAME).values()
    return sum(round(row["inside"] * len(row["seconds"])) for row in rows)


@counting("percentiles that were predicted")
def all_told() -> int:
    """Over all loads."""
    return sum(len(row["seconds"]) for row in beside(NAME).values())


def runs() -> list[dict[str, Any]]:
    """A row a load: predicted, its interval, measured, how far off, how often in."""
    return [_run(row["told"]) for row in beside(NAME).values()]


def _run(told: dict[str, Any]) -> dict[str, Any]:
    load, (_, low, high) = told["load"], told["seconds"][SHOWN]
    ends = [said(float("inf") if end is None else end) for end in (low, high)]
    return {
        "load": chosen(load, "", label="load"),
        "TTFT p99, predicted": predicted(load),
        "interval (ms)": " to ".join(ends).replace(" to without", ", without"),
        "TTFT p99, measured": seen(load),
        "median error of 12": seen(load, "median_error", "").to("%"),
        "share inside": seen(load, "inside", "").to("%"),
    }
