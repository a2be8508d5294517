"""A training step's time: eight published ones, and how fast one is computed.

    python benchmarks/training_step.py                  # -> results/training_step.json
    python benchmarks/training_step.py --calculon DIR   # runs the peer anew as well

The peer is calculon (Isaev et al., 2023), run from its own repository in its own
environment: ``python bin/calculon llm-validation`` at the commit named below. The
package of that name on the Python index is another project. Without ``--calculon`` its
recorded answers stand. Speed is measured beside: one step, an array of layouts, and a
plan whose winner is held to an exhaustive search by ``step_time``.
"""

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import host_common

from stacklib.interconnect.parallelism.layout import Layout
from stacklib.interconnect.parallelism.megatron import ROWS, predicted
from stacklib.interconnect.parallelism.plan import RECOMPUTED, layouts, plan
from stacklib.interconnect.parallelism.shape import shape_of
from stacklib.interconnect.parallelism.step import step_time
from stacklib.roofline.host import measure as host

STEM = "training_step"
COMMIT = "caa4b11"
# Seconds that llm-validation prints, all computed again and lean, row by row.
CALCULON = ((1.40, 1.14), (18.03, 13.64), (49.89, 34.47), (90.08, 66.04))
MODEL, CHIP, CHIPS, BATCH, LENGTH = "llama-3-70b", "h100-sxm", 64, 512, 4096
POINTS, ROUNDS, CALLS = 200_000, 15, 100
ONE = Layout(dp=4, tp=8, pp=2, sequence=True, zero=1, interleave=4, recompute="full")


def calculon(folder: Path) -> tuple[tuple[float, float], ...]:
    """The peer's seconds, from a run of its own validation."""
    python = next(iter(folder.parent.glob("cal/bin/python")), Path(sys.executable))
    done = subprocess.run(
        [python, "bin/calculon", "llm-validation"],
        cwd=folder,
        env={"PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=True,
    )
    table = done.stdout.split("End-to-end")[1]
    lines = re.findall(r"^\S+?,\|,[\d.]+,([\d.]+),.*?\|,[\d.]+,([\d.]+),", table, re.M)
    return tuple((float(full), float(lean)) for full, lean in lines)


def steps(peer: tuple[tuple[float, float], ...]) -> list[dict[str, Any]]:
    """Published, predicted and the peer's, row by row."""
    found = []
    for row, theirs in zip(ROWS, peer, strict=True):
        for lean in (False, True):
            published, step = row.seconds(lean), predicted(row, lean)
            found.append(
                {
                    "id": f"{row.name}-{'lean' if lean else 'full'}",
                    "published_s": published,
                    "predicted_s": step.time,
                    "calculon_s": theirs[lean],
                    "miss": step.time / published - 1,
                    "calculon_miss": theirs[lean] / published - 1,
                    "activations_bytes": step.memory.activations,
                }
            )
    return found


def least(call: Callable[[], Any], calls: int) -> list[float]:
    """Seconds a call, of each round."""
    call()
    found = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(calls):
            call()
        found.append((time.perf_counter() - began) / calls)
    return found


def arrays() -> Layout:
    """Layouts of an array; some do not divide, some do not fit."""
    import numpy

    draw = numpy.random.default_rng(6)

    def powers(most: int) -> Any:
        return 2.0 ** draw.integers(0, most, POINTS)

    return Layout(
        tp=powers(4),
        pp=powers(4),
        dp=powers(4),
        micro=powers(3),
        zero=draw.integers(0, 4, POINTS),
        sequence=True,
    )


def searched() -> tuple[int, Layout, float]:
    """Every layout by ``step_time``: how many, and the best."""
    shape, count = shape_of(MODEL, LENGTH), 0
    best: tuple[float, Layout] | None = None
    for one in layouts(shape, CHIPS, BATCH, LENGTH):
        for again in RECOMPUTED:
            layout, count = replace(one, recompute=again), count + 1
            step = step_time(
                MODEL, on=CHIP, chips=CHIPS, layout=layout, batch=BATCH, length=LENGTH
            )
            if step.time is not None and (best is None or step.time < best[0]):
                best = step.time, layout
    assert best is not None
    return count, best[1], best[0]


def measure(peer: tuple[tuple[float, float], ...], again: bool) -> dict[str, Any]:
    """Everything, as one record."""
    watch = host.Watch()
    many = arrays()
    asked: dict[str, Any] = {"on": CHIP, "batch": BATCH, "length": LENGTH}
    one = least(lambda: step_time(MODEL, chips=CHIPS, layout=ONE, **asked), CALLS)
    swept = least(lambda: step_time(MODEL, chips=many.chips, layout=many, **asked), 1)
    planned = least(lambda: plan(MODEL, chips=CHIPS, **asked), 1)
    count, winner, took = searched()
    first = plan(MODEL, chips=CHIPS, **asked)[0]
    table = steps(peer)
    misses = {
        "ours": [abs(row["miss"]) for row in table],
        "calculon": [abs(row["calculon_miss"]) for row in table],
    }
    return host_common.head(
        STEM,
        None,
        watch,
        driver="none",
        rows=[
            {"id": "step", "points": 1, "times_s": one},
            {"id": "sweep", "points": POINTS, "times_s": swept},
            {"id": "plan", "points": count, "times_s": planned},
        ],
        steps=table,
        errors={k: {"mean": mean(v), "max": max(v)} for k, v in misses.items()},
        calculon={"commit": COMMIT, "run": "anew" if again else "recorded"},
        search={
            "layouts": count,
            "same_winner": first.layout == winner,
            "winner": winner.text(),
            "winner_s": took,
        },
        versions=host.versions(),
        why_no_prediction="published steps beside a named peer, and a bar for speed",
    )


def main() -> int:
    """Measure, show and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calculon", type=Path, metavar="DIR")
    folder = parser.parse_args().calculon
    peer = calculon(folder) if folder else CALCULON
    result = measure(peer, folder is not None)
    for row in result["steps"]:
        print(f"{row['id']:16} {row['miss']:+.2%} {row['calculon_miss']:+.2%}")
    for row in result["rows"]:
        print(f"{row['id']:16} {1e6 * min(row['times_s']):.0f} us")
    host_common.save(host_common.HERE, STEM, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
