"""The best layout on eight GPUs: how long the search takes, and what it finds.

    python benchmarks/best_configuration.py   # -> results/best_configuration.json

Every round is a process of its own, so that nothing is kept: the search alone is timed,
without imports, and once more when its steps are known. The peer's figures are those of
one recorded run: it reads times from tables of measured kernels and searches the same
eight chips. Its winner is priced by our model, too; what ours costs by its tables was
not asked.
"""

import json
import subprocess
import sys
import time
from statistics import median
from typing import Any

import host_common

from stacklib.roofline.host import measure as host
from stacklib.serving.layouts.layout import AGGREGATED, DISAGGREGATED, Layout
from stacklib.serving.layouts.search import Search, search

STEM = "best_configuration"
ROUNDS = 9
MODEL, ON, GPUS = "llama-3-70b", "h100-sxm", 8
TRAFFIC, SLO = (4096, 512), {"ttft": 2.0, "tpot": 0.05}
RECORDED = {
    "name": "aiconfigurator 0.12",
    "time_s": 7.04,
    "aggregated": {"tp": 4, "copies": 2, "batch": 56, "tokens_per_gpu": 264.7},
    "disaggregated": {"tokens_per_gpu": 223.7},
}


def asked(limits: dict[str, float] = SLO) -> Search:
    """The search of the bar."""
    return search(MODEL, gpus=GPUS, on=ON, traffic=TRAFFIC, slo=limits)


def once() -> dict[str, float]:
    """Seconds of a first search in this process, and of a second."""
    times = []
    for _ in range(2):
        began = time.perf_counter()
        asked()
        times.append(time.perf_counter() - began)
    return dict(zip(("cold", "warm"), times, strict=True))


def told(row: Layout) -> dict[str, Any]:
    """A layout as the file keeps it."""
    return {
        "layout": row.words,
        "ttft_s": row.ttft,
        "tpot_s": row.tpot,
        "tokens_per_gpu": row.tokens_per_gpu,
        "refused": row.refused,
    }


def winners() -> dict[str, Any]:
    """The best of both kinds, and the peer's winner by our model."""
    found = asked()
    best = {
        kind: next(row for row in found.kept if row.kind == kind)
        for kind in (AGGREGATED, DISAGGREGATED)
    }
    its = RECORDED["aggregated"]
    wide = asked({"ttft": 10.0, "tpot": 0.1})
    same = next(
        row
        for row in wide.rows
        if row.pool and not row.prefill
        if (row.pool.tp, row.pool.batch) == (its["tp"], its["batch"])
    )
    return {
        "ours": {kind: told(row) for kind, row in best.items()},
        "best": found.best.kind,
        "peers_winner_by_our_model": told(same),
    }


def measure(rounds: int = ROUNDS) -> dict[str, Any]:
    """Some fresh processes, one after another."""
    watch = host.Watch()
    command = [sys.executable, __file__, "--once"]
    runs = [
        json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        for _ in range(rounds)
    ]
    rows = [
        {"id": name, "times_s": [run[name] for run in runs]}
        for name in ("cold", "warm")
    ]
    return host_common.head(
        STEM,
        None,
        watch,
        rows=rows,
        **winners(),
        recorded_not_rerun=RECORDED,
        why_no_prediction="a comparison of speed with a named peer, and of two winners",
    )


def main() -> int:
    """Measure, show and write."""
    if sys.argv[1:] == ["--once"]:
        print(json.dumps(once()))
        return 0
    result = measure()
    for row in result["rows"]:
        took = median(row["times_s"])
        print(f"{row['id']}: {took:.3f} s, {RECORDED['time_s'] / took:.0f}x")
    for kind, best in result["ours"].items():
        its = RECORDED[kind]["tokens_per_gpu"]
        print(f"{best['layout']}: {best['tokens_per_gpu']:.1f} (recorded {its})")
    its = result["peers_winner_by_our_model"]
    print(f"{its['layout']}: {its['tokens_per_gpu']:.1f}, {1e3 * its['tpot_s']:.1f} ms")
    host_common.save(host_common.HERE, STEM, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
