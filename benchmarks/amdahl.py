"""Amdahl's law on two cores of this machine: prediction, measurement.

    python benchmarks/amdahl.py predict   # times one unit of work -> predictions/
    python benchmarks/amdahl.py measure   # after that file is committed -> results/

The peer is the law itself. Work is counted in units of square roots. One unit is
timed on one core; the time of every case follows from it by handing chunks to
workers (``scaling.run_chunks``). Threads keep to a core of their own, but
for the cases named ``free``, where the system places them.

A case is timed only after a moment in which nothing else ran, and only the median
counts. This rule was fixed before the run.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import host_common

from stacklib.roofline.bound import scaling, scaling_run
from stacklib.roofline.bound.scaling import Chunk
from stacklib.roofline.host import measure as host

NAME = "amdahl"
UNITS = 48  # of work in a case; about a fortieth of a second
SERIAL = (0, 6, 12, 24, 36, 48)
SAMPLES, ENOUGH, FEWEST = 2, 20, 6
QUIET, LOOK_S, PATIENCE_S, BUDGET_S = 0.1, 0.05, 1.5, 110.0


def cases() -> Iterator[dict[str, Any]]:
    """Every case, with a stable id: serial units, then parallel chunks of units."""
    for serial in SERIAL:
        for workers in (1, 2):
            rest = UNITS - serial
            chunks = [rest // workers] * workers if rest else []
            yield _case(f"serial-{serial}-w{workers}", serial, chunks, workers)
    for pieces in (1, 3, 4):
        yield _case(f"pieces-{pieces}-w2", 0, [UNITS // pieces] * pieces, 2)
    yield _case("long-first-w2", 0, [24, 8, 8, 8], 2)
    yield _case("long-last-w2", 0, [8, 8, 8, 24], 2)
    yield _case("scaled-12-w2", 12, [36, 36], 2)  # the parallel part grows with them
    yield _case("free-0-w2", 0, [24, 24], 2, pinned=False)
    yield _case("free-12-w2", 12, [18, 18], 2, pinned=False)


def _case(
    id: str, serial: int, parallel: list[int], workers: int, pinned: bool = True
) -> dict[str, Any]:
    return {
        "id": id,
        "serial": serial,
        "parallel": parallel,
        "workers": workers,
        "pinned": pinned,
    }


def chunks_of(case: dict[str, Any]) -> list[Chunk]:
    """The case as chunks of work."""
    first = [Chunk(case["serial"], parallel=False)] if case["serial"] else []
    return first + [Chunk(units) for units in case["parallel"]]


def predict_case(case: dict[str, Any], unit_s: float) -> dict[str, Any]:
    """The case with its predicted time in seconds, six digits."""
    chunks = chunks_of(case)
    seconds = scaling.run_chunks(chunks, case["workers"]).time * unit_s
    work = {"operations": scaling_run.operations(chunks), "bytes": 0}
    return {**case, **work, "predicted_s": float(f"{seconds:.6g}")}


def predict(folder: Path) -> None:
    """Time one unit, the best of many as the roofline does; write every case."""
    wait_until_quiet(30.0)
    unit_s = float(f"{min(scaling_run.time_unit(samples=60)):.6g}")
    about = {
        "kind": NAME,
        "device": host.read_machine().text(),
        "model": "units handed to workers in order, times the time of one unit",
        "unit_s": unit_s,
        "bytes": "0: the array stays in each core's own cache",
    }
    rows = [predict_case(case, unit_s) for case in cases()]
    host_common.foretell(folder, NAME, about, rows)


def wait_until_quiet(patience_s: float) -> bool:
    """Whether a moment came in which hardly anything else ran."""
    began = time.perf_counter()
    while time.perf_counter() - began < patience_s:
        watch = host.Watch()
        time.sleep(LOOK_S)
        others = watch.others()
        if others is None or others < QUIET:
            return True
    return False


@host_common.measures(NAME)
def measure(
    forecast: dict[str, Any], budget_s: float = BUDGET_S
) -> dict[str, Any] | int:
    """Run every case, unless the prediction is not committed as it stands."""
    names = ("id", "serial", "parallel", "workers", "pinned")
    rows = [{n: row[n] for n in names} | {"times_s": []} for row in forecast["rows"]]
    missed = _fill(rows, budget_s)
    few = [row["id"] for row in rows if len(row["times_s"]) < FEWEST]
    if few:
        print(f"not measured: no quiet moment for {', '.join(few)}", file=sys.stderr)
        return 1
    for told, seen in zip(forecast["rows"], rows, strict=True):
        print(compare(told, seen["times_s"]))
    return {
        "skipped_for_noise": missed,
        "rows": rows,
        "driver": "one Python thread a core, NumPy's square root without the lock",
        "note": "each case after 50 ms in which less than 0.1 cores were busy; "
        "between those, other work ran",
    }


def _fill(rows: list[dict[str, Any]], budget_s: float) -> int:
    """Sample in rounds, each case after a quiet moment; how often none came."""
    began, missed = time.perf_counter(), 0
    while any(len(row["times_s"]) < ENOUGH for row in rows):
        for row in sorted(rows, key=lambda r: len(r["times_s"])):
            if time.perf_counter() - began > budget_s:
                return missed
            if not wait_until_quiet(PATIENCE_S):
                missed += 1
                continue
            row["times_s"] += scaling_run.time_chunks(
                chunks_of(row), row["workers"], SAMPLES, row["pinned"]
            )
    return missed


def compare(row: dict[str, Any], times: list[float]) -> str:
    """One line: id, predicted, measured, their ratio."""
    told, seen = row["predicted_s"] * 1e3, median(times) * 1e3
    return f"{row['id']:16} {told:8.2f} ms {seen:8.2f} ms {told / seen:6.2f}"


if __name__ == "__main__":
    sys.exit(host_common.command(__doc__ or "", predict, measure))
