"""Independent pointer chases on this machine: latency, prediction, measurement.

    python benchmarks/pointer_chases.py latency   # one chain       -> results/
    python benchmarks/pointer_chases.py predict   # more chains     -> predictions/
    python benchmarks/pointer_chases.py measure   # once committed  -> results/

Little's law says what more chains should buy: latency over chains, until one core
has all the bytes it can stream.
"""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import host_common
import record

from stacklib.roofline.bound import littles_law
from stacklib.roofline.host import measure as host
from stacklib.roofline.host import pointer_chase

LATENCY, CHASES = "host_latency", "pointer_chases"
MODEL = "max(latency of one chain / chains, 64 B / one core's read bandwidth)"
# a working set inside each level (far inside the L3, which neighbours share), and
# one that is eight times the largest cache
LEVELS = {"L1": 2**15, "L2": 2**19, "L3": 2**22, "memory": 2**28}
ROUNDS, SAMPLES, SAMPLE_S = 5, 3, 0.02


def cases(chains: tuple[int, ...] = pointer_chase.CHAINS) -> Iterator[dict[str, Any]]:
    """Every level with every number of chains."""
    for level, size in LEVELS.items():
        for n in chains:
            yield {"id": f"{level}-{n}", "level": level, "size": size, "chains": n}


def time_all(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with raw seconds a load, in rounds: a burst spoils one round only."""
    rings = {size: pointer_chase.ring(size) for size in {r["size"] for r in rows}}
    found: list[dict[str, Any]] = [{**row, "times_s": []} for row in rows]
    where = random.Random(0)
    for _ in range(ROUNDS):
        for row in found:
            ring, chains = rings[row["size"]], row["chains"]
            first = where.randrange(2**24)
            times = pointer_chase.measure(ring, chains, SAMPLES, SAMPLE_S, first)
            row["times_s"] += times
    return found


def about() -> dict[str, Any]:
    """What the head of both results says of the run."""
    note = "one random cycle through every line; wall time over all chains' loads"
    return {"driver": f"{pointer_chase.compiled(1)[0]}, one thread", "note": note}


def latency(folder: Path) -> int:
    """Measure one chain in each level: what the prediction starts from."""
    watch = host.Watch()
    rows = time_all(list(cases((1,))))
    why = "the latencies that predictions start from"
    found = host_common.head(LATENCY, None, watch) | about()
    found |= {"why_no_prediction": why, "rows": rows}
    record.write(folder / "results" / f"{LATENCY}.json", found)
    for row in rows:
        print(f"{row['id']:12} {median(row['times_s']) * 1e9:8.3f} ns a load")
    host_common.warn(found["others"])
    return 0


def predict(folder: Path) -> int:
    """Write the prediction of every case; the same inputs give the same bytes."""
    sources = [
        folder / "results" / name for name in (f"{LATENCY}.json", host_common.ROOFLINE)
    ]
    idle = json.loads(sources[0].read_text(encoding="utf-8"))
    seconds = {row["level"]: median(row["times_s"]) for row in idle["rows"]}
    ceilings = host.HostRoofline.load(sources[1])
    rows = []
    for case in cases():
        rate = ceilings.bandwidth_at(case["size"], "read", 1).si
        idle_s, line = seconds[case["level"]], pointer_chase.LINE
        time = littles_law.time_per_load(case["chains"], idle_s, rate, line)
        counts = {"operations": 0, "bytes": line}
        rows.append({**case, **counts, "predicted_s": float(f"{time:.6g}")})
    about = {"kind": CHASES, "device": idle["device"], "model": MODEL}
    about |= {"latency": record.stamp(sources[0]), "roofline": record.stamp(sources[1])}
    host_common.foretell(folder, CHASES, about, rows)
    return 0


@host_common.measures(CHASES)
def measure(forecast: dict[str, Any]) -> dict[str, Any]:
    """Run every case, unless the prediction is not committed as it stands."""
    names = ("id", "level", "size", "chains")
    rows = time_all([{n: row[n] for n in names} for row in forecast["rows"]])
    for told, seen in zip(forecast["rows"], rows, strict=True):
        print(compare(told, seen["times_s"]))
    return about() | {"rows": rows}


def compare(row: dict[str, Any], times: list[float]) -> str:
    """One line: id, predicted, measured, their ratio."""
    seen, told = median(times), row["predicted_s"]
    told_ns, seen_ns = told * 1e9, seen * 1e9
    return f"{row['id']:12} {told_ns:9.3f} ns {seen_ns:9.3f} ns {told / seen:6.2f}"


if __name__ == "__main__":
    sys.exit(host_common.command(__doc__ or "", latency, predict, measure))
