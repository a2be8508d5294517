"""The five operations on this machine: two predictions, a measurement, a diagnosis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from stacklib.evidence import results, runs
from stacklib.quantity import Quantity, Source, recorded
from stacklib.roofline import HostRoofline, bound_time
from stacklib.roofline.count import passes

NAME = "five_operations"
DIAGNOSIS = f"{NAME}_passes"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case: what the roofline said, what its passes said, what was measured."""

    run: runs.Run
    roofline: Quantity  # seconds if every operand moved once, on all cores

    @property
    def size(self) -> str:
        """Bytes of one of its arrays, in words."""
        moved = 4 * self.run.case["rows"] * self.run.case["cols"]
        small = moved < 2**20
        # no break between number and unit: the column is narrow
        return f"{moved / 2**10:g}\u00a0KiB" if small else f"{moved / 2**20:g}\u00a0MiB"


@cache
def outcomes() -> list[Outcome]:
    """Every measured case; none where nothing was measured."""
    found = runs.load(NAME)
    if not found:
        return []
    rows = {row["id"]: row for row in results.prediction(NAME)["rows"]}
    told = {run.id: rows[run.id]["roofline_s"] for run in found}
    return [
        Outcome(
            run,
            runs.foretold(
                told[run.id], "s", "time by the roofline", run.predicted.source
            ),
        )
        for run in found
    ]


def outcome(operation: str, variant: str = "whole", rows: int = 0) -> Outcome:
    """One case."""
    found = [
        o
        for o in outcomes()
        if (o.run.case["op"], o.run.case["variant"]) == (operation, variant)
        and rows in (0, o.run.case["rows"])
    ]
    if not found:
        what = f"{operation}, {variant}, {rows or 'any'} rows"
        raise results.ResultError(f"{NAME}: {what} was not measured")
    return max(found, key=lambda o: o.run.case["rows"])


@dataclass(frozen=True, slots=True)
class PassTime:
    """One library call inside an operation: predicted and measured seconds."""

    name: str
    bytes: Quantity
    predicted: Quantity
    measured: Quantity


def diagnosis(operation: str, rows: int = 0) -> list[PassTime]:
    """Passes of an operation, each timed where it runs."""
    result = results.load(DIAGNOSIS)
    rows = rows or 1024
    found = [
        r
        for r in (result or {"rows": []})["rows"]
        if (r["op"], r["rows"]) == (operation, rows)
    ]
    if result is None or not found:
        raise results.ResultError(
            f"{DIAGNOSIS}: {operation} of {rows} rows was not measured; run "
            "`python benchmarks/five_operations.py diagnose`"
        )
    file = f"benchmarks/results/{DIAGNOSIS}.json"
    source = Source(file, result["device"], result["date"], "measured")
    host = ceilings()
    shape = found[0]["rows"] * found[0]["cols"]
    held = passes.BUFFERS[operation] * shape * 4
    rate = host.bandwidth_at(held, "triad", 1)
    peak = host.peak("fp32") / recorded(host.file, "blas", "threads", label="cores")
    made = []
    for p, row in zip(passes.passes(operation), found, strict=True):
        moved = runs.foretold(row["bytes"], "B", "bytes of the pass", source)
        work = p.operations * runs.foretold(
            shape, "FLOP", "numbers of the pass", source
        )
        told = bound_time(work, moved, peak, rate).named("predicted time of the pass")
        seen = recorded(file, row["id"], "times_s/median", unit="s", label=p.name)
        made.append(PassTime(p.name, moved, told, seen))
    return made


@cache
def ceilings() -> HostRoofline:
    """The measured roofline of the machine the book was last measured on."""
    path = results.root() / "benchmarks" / "results" / "host_roofline.json"
    return HostRoofline.load(path)


def median_error(variant: str = "whole", by: str = "predicted") -> Quantity:
    """Median of ``|predicted / measured - 1|`` over the cases of a variant."""
    errors = []
    for o in outcomes():
        if o.run.case["variant"] == variant:
            told = o.run.predicted if by == "predicted" else o.roofline
            errors.append(abs(told / o.run.measured - 1))
    if not errors:
        raise results.ResultError(f"{NAME}: nothing was measured")
    errors.sort(key=lambda q: q.si)
    return errors[len(errors) // 2].named("median error")
