"""The four loops of STREAM by working set: predicted from one of them, measured.

    python benchmarks/host_levels.py predict   # -> predictions/host_levels.json
    python benchmarks/host_levels.py measure   # after a commit -> results/

The peer is the triad of the stored roofline, measured in another run. In the first
cache a loop is as fast as its one store an element; further out as fast as the lines
it moves, the one read for the sake of a write among them. The levels are predicted
to end where the system says its caches do.
"""

import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import host_common
import record

from stacklib.roofline.host import measure as host
from stacklib.roofline.host import streams

STEM = "host_levels"
MODEL = (
    "seconds an element of the stored triad, times 1 within the first cache and "
    "times (lines the loop moves) / (lines a triad moves) beyond it, write-allocate "
    "counted"
)
FLOP = {"copy": 0, "scale": 1, "add": 1, "triad": 2}


def triad_s(ceilings: host.HostRoofline, threads: int, size: int) -> float:
    """Seconds an element of the stored triad at the working set nearest in ratio."""
    points = ceilings.stream("triad", threads)
    near = min(points, key=lambda p: abs(math.log(p.size / size)))
    return streams.counted_bytes("triad", 1) / near.median_rate


def share(name: str, size: int, first_cache: int) -> float:
    """Time of a loop's element over that of a triad's."""
    if size <= first_cache:
        return 1.0
    return streams.moved_bytes(name, 1) / streams.moved_bytes("triad", 1)


def predict_row(
    ceilings: host.HostRoofline, name: str, threads: int, size: int
) -> dict[str, Any]:
    """One loop at one size, with its predicted seconds."""
    machine = host.read_machine()
    first = streams.reported(machine.caches, threads)[0]
    n = streams.elements(name, threads, size)
    seconds = n * triad_s(ceilings, threads, size) * share(name, size, first)
    return {
        "id": f"{name}-t{threads}-{size}",
        "stream": name,
        "threads": threads,
        "size": size,
        "operations": FLOP[name] * n,
        "bytes": streams.counted_bytes(name, n),
        "predicted_s": float(f"{seconds:.6g}"),
    }


def predict(folder: Path) -> None:
    """Write the prediction; the same roofline gives the same bytes."""
    ceilings, machine = host_common.stored(folder), host.read_machine()
    largest = streams.beyond_cache(machine, 2**28)
    cores = sorted({1, machine.usable_cores})
    rows = [
        predict_row(ceilings, name, t, size)
        for t in cores
        for size in streams.sizes(largest, 2**0.5)
        for name in streams.STREAMS
    ]
    ends = {str(t): streams.reported(machine.caches, t) for t in cores}
    about = {
        "kind": STEM,
        "device": ceilings.device,
        "model": MODEL,
        "level_ends_bytes": ends,
        "roofline": record.stamp(folder / "results" / host_common.ROOFLINE),
    }
    host_common.foretell(folder, STEM, about, rows)


@host_common.measures(STEM)
def measure(forecast: dict[str, Any], quick: bool = False) -> dict[str, Any]:
    """Sweep, unless the prediction is not committed as it stands."""
    told = {r["id"] for r in forecast["rows"]}
    points = streams.sweep(quick=quick)
    rows = [{"id": p.id, **asdict(p)} for p in points if p.id in told]
    kernel = f"{host.kernels().name}, stores through the cache"
    note = "bytes as STREAM counts them; each thread sweeps arrays of its own"
    return {"kernel": kernel, "note": note, "rows": rows}


if __name__ == "__main__":
    sys.exit(host_common.command(__doc__ or "", predict, measure))
