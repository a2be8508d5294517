"""What section 6.14 shows of the tiny model in two stages, a process each."""

from __future__ import annotations

from statistics import median
from typing import Any

from stacklib.evidence import results, runs
from stacklib.evidence.runs import promised
from stacklib.interconnect.pipelines.closed import bubble
from stacklib.quantity import Quantity, counting, recorded

RUN, COSTS = "pipelined_training", "pipelined_costs"
STAGES, MOST = 2, 8  # microbatches
NAMES = {
    "gpipe-1-8": "GPipe, 8",
    "1f1b-1-8": "1F1B, 8",
    "1f1b-1-4": "1F1B, 4",
    "1f1b-1-2": "1F1B, 2",
    "1f1b-2-8": "1F1B in chunks, 8",
    "zb-h1-1-8": "ZB-H1, 8",
    "zb-h2-1-8": "ZB-H2, 8",
}
PLAIN, APART = "1f1b-1-8", "zb-h1-1-8"


def cases() -> dict[str, dict[str, Any]]:
    """Runs, each with what was predicted of it."""
    return runs.beside(RUN)


def seen(id: str, what: str) -> Quantity:
    """Median seconds of a step, waiting over work, or the first stage's activations."""
    field, unit = {
        "time": ("times_s/median", "s"),
        "bubble": ("bubble", ""),
        "kept": ("kept_bytes/0", "B"),
    }[what]
    made = recorded(results.file(RUN), id, field, unit=unit, label=f"{what}, {id}")
    return made.to({"s": "ms", "B": "MB"}[unit]) if unit else made


def foretold(id: str, what: str) -> Quantity:
    """The same as predicted."""
    field, unit = {
        "time": ("predicted_s", "s"),
        "bubble": ("bubble", ""),
        "kept": ("kept_bytes/0", "B"),
    }[what]
    made = promised(RUN, id, field, unit, f"predicted {what}, {id}")
    return made.to({"s": "ms", "B": "MB"}[unit]) if unit else made


@counting("bubble by the form, {id}")
def formed(id: str) -> float:
    """Waiting over work by the form, whose stages are alike."""
    case = cases()[id]
    shape = (case["microbatches"], case["schedule"], case["chunks"])
    return round(float(bubble(STAGES, *shape)), 9)


def table() -> list[dict[str, Any]]:
    """Schedules: a step predicted and measured, waiting by the form and measured."""
    return [
        {
            "schedule": name,
            "step, predicted": foretold(id, "time"),
            "step, measured": seen(id, "time"),
            "bubble, form": formed(id),
            "bubble, measured": seen(id, "bubble"),
            "kept, counted": seen(id, "kept"),
        }
        for id, name in NAMES.items()
    ]


def _errors() -> list[float]:
    return [abs(foretold(id, "time").si / seen(id, "time").si - 1) for id in NAMES]


@counting("largest error of a step in stages")
def most_off() -> float:
    """The largest error of a step's time."""
    return max(_errors())


@counting("median error of a step in stages")
def half_off() -> float:
    """The median error of a step's time."""
    return median(_errors())


def part(number: int) -> Quantity:
    """What a microbatch takes on a stage, measured alone: forward and backward."""
    turns = [
        recorded(results.file(COSTS), row["id"], "times_s/median", unit="s")
        for row in results.need(COSTS)["rows"]
        if row["id"].startswith(f"turns-{STAGES}-") and row["part"] == number
    ]
    return sum(turns[1:], turns[0]).named(f"a microbatch on stage {number}").to("ms")


def gain() -> Quantity:
    """What zero bubble gained over 1F1B."""
    return (seen(PLAIN, "time") / seen(APART, "time")).named("gain of ZB-H1, measured")


@counting("largest difference from one stage")
def loss_off() -> float:
    """The largest difference of loss or gradients' squares from one stage, relative."""
    alone = results.need(RUN)["alone"]
    return max(
        abs(case[what] / alone[what] - 1)
        for case in cases().values()
        if case["microbatches"] == MOST
        for what in ("loss", "square")
    )
