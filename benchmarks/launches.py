"""Launches one by one, in streams and as graphs, with threads as the device.

    python benchmarks/launches.py costs     # what a put and a sleep add -> results/
    python benchmarks/launches.py predict   # -> predictions/launches.json
    python benchmarks/launches.py measure   # once committed -> results/launches.json

The host is one thread, each stream another; a kernel is sleep. What this machine adds
to a submission, to a kernel and to a barrier is measured first; the closed form of
`stacklib.kernels.launch` with these three is the prediction, and its ratios (a graph
over launches, streams over one) need none of them.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import host_common as common
import record

from stacklib.kernels.launch.launches import Launches, run_launches
from stacklib.kernels.launch.threads import Overheads, foretold, run_threads, typical
from stacklib.roofline.host import measure as host

COSTS, STEM = "launch_costs", "launches"
ROUNDS = 9
MODEL = "closed form of launch_time with what a put, a sleep and a barrier add here"
FIELDS = ("kernels", "kernel_s", "submit_s", "nodes", "streams", "every", "depth")


def plans() -> dict[str, Launches]:
    """The cases: a short and a long kernel, every way to hand it over."""
    short, long, submit = 0.3e-3, 3e-3, 1e-3
    return {
        "eager-short": Launches(60, short, submit),
        "eager-long": Launches(30, long, submit),
        "graph-short": Launches(3, short, submit, nodes=20),
        "graph-long": Launches(3, long, submit, nodes=10),
        "streams-short": Launches(60, short, submit, streams=2),
        "streams-2": Launches(30, long, submit, streams=2),
        "streams-4": Launches(32, long, submit, streams=4),
        "barrier-each": Launches(30, long, submit, every=1),
        "barrier-10": Launches(30, long, submit, every=10),
        "depth-1": Launches(30, long, submit, depth=1),
        "depth-2": Launches(30, long, submit, depth=2),
    }


def costs(folder: Path) -> None:
    """Measure what this machine adds."""
    watch = host.Watch()
    found = asdict(typical(9))
    rows = [{"id": name, "seconds": value} for name, value in found.items()]
    why = "what the prediction of the launches starts from"
    head = common.head(COSTS, None, watch, why_no_prediction=why)
    record.write(folder / "results" / f"{COSTS}.json", head | {"rows": rows})
    common.warn(head["others"])
    print(found)


def predict(folder: Path) -> None:
    """Write the prediction of every case: closed form, and events where they differ."""
    source = folder / "results" / f"{COSTS}.json"
    read = json.loads(source.read_text(encoding="utf-8"))
    added = Overheads(**{row["id"]: row["seconds"] for row in read["rows"]})
    rows = []
    for name, plan in plans().items():
        told = foretold(plan, added)
        if plan.depth is not None and plan.depth <= plan.streams:
            # Too few places for the closed form: the events say how much it costs.
            told += run_launches(plan).time - plan.time
        row = {"id": name, **{f: getattr(plan, f) for f in FIELDS}}
        rows.append(row | {"predicted_s": float(f"{told:.6g}")})
    about = {
        "kind": STEM,
        "device": host.read_machine().text(),
        "model": MODEL,
        "costs": record.stamp(source),
    }
    common.foretell(folder, STEM, about, rows)


def measure(folder: Path) -> int:
    """Run every case, unless the prediction is not committed as it stands."""

    def run(row: dict[str, Any]) -> dict[str, Any]:
        return {"times_s": [run_threads(plans()[row["id"]])]}

    def compare(told: dict[str, Any], times: list[float]) -> str:
        seen = median(times)
        ratio = seen / told["predicted_s"]
        return f"{told['id']:14} {seen * 1e3:8.2f} ms, {ratio:.3f} of the prediction"

    return common.measure_cases(
        folder,
        STEM,
        ("id", *FIELDS),
        run,
        compare,
        rounds=ROUNDS,
        note="threads as the device; a kernel is sleep",
    )


if __name__ == "__main__":
    sys.exit(common.command(__doc__ or "", costs, predict, measure))
