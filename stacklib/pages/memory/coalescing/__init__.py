"""Section 3.2: Which bytes does a warp fetch?"""

from __future__ import annotations

from functools import cache

from stacklib.evidence import results, runs
from stacklib.evidence.runs import Run
from stacklib.hardware.warp_rules import rule
from stacklib.memory.warp.coalescing import strided_pieces
from stacklib.quantity import Quantity, Source, chosen

WALKS = "strided_access"


def moved(
    step: Quantity, piece: str = "sector", first: Quantity | None = None
) -> Quantity:
    """Pieces that a warp moves whose lanes are one step apart."""
    start = chosen(0, "B", "address of lane 0") if first is None else first
    found: Quantity = strided_pieces(
        step, first=start, lanes=rule("lanes"), size=rule(piece)
    )
    return found.named(f"{piece}s moved")


# -- walks -----------------------------------------------------------------------


@cache
def walks() -> tuple[Run, ...]:
    """The measured walks beside their prediction, by stride."""
    found = runs.load(WALKS)
    if not found:
        raise results.ResultError(f"{WALKS}: not measured here")
    return tuple(sorted(found, key=lambda run: run.case["stride"]))


def walk(stride: int) -> Run:
    """The walk of one stride. ``stride``: in elements of four bytes."""
    for run in walks():
        if run.case["stride"] == stride:
            return run
    known = ", ".join(str(run.case["stride"]) for run in walks())
    raise results.ResultError(f"{WALKS}: no stride {stride}; measured: {known}")


def alone(stride: int) -> Quantity:
    """Predicted time of a walk whose lines all come alone.

    ``stride``: in elements of four bytes.
    """
    rows = results.prediction(WALKS)["rows"]
    (row,) = (row for row in rows if row["stride"] == stride)
    name = f"benchmarks/predictions/{WALKS}.json"
    date = results.need(WALKS)["date"][:10]
    source = Source(name, "committed before the run", date, "measured")
    return runs.foretold(row["alone_s"], "s", "every line alone", source)
