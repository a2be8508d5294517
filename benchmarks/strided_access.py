"""Strided walks over memory: predicted from the lines they move, measured.

    python benchmarks/strided_access.py predict   # -> predictions/strided_access.json
    python benchmarks/strided_access.py measure   # after a commit -> results/

Every walk meets every line of one array, whatever its stride. By the count of lines
all take the same time; that is the prediction, from the stored roofline. Beside it
stands what the walk would take if every line came alone, as in the stored chase of
independent pointers: no prefetcher helps.
"""

import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

import host_common
import record

from stacklib.memory.cache import walk

STEM, CHASES = "strided_access", "pointer_chases.json"
SIZE = 2**28  # bytes: eight times the largest cache of the book's machine
STRIDES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384)
ROUNDS, TIMES = 7, 3
MODEL = "lines x 64 B / one core's stored read bandwidth; alone_s: lines x chase"


def chase_s(folder: Path) -> float:
    """Seconds a line of the stored chase with most chains in memory."""
    found = json.loads((folder / "results" / CHASES).read_text("utf-8"))
    rows = [row for row in found["rows"] if row["level"] == "memory"]
    return median(max(rows, key=lambda row: row["chains"])["times_s"])


def predict(folder: Path) -> None:
    """Write the prediction; the same inputs give the same bytes."""
    ceilings = host_common.stored(folder)
    rate, alone = ceilings.bandwidth_at(SIZE, "read", 1).si, chase_s(folder)
    lines = SIZE // walk.HOST_LINE
    rows = [
        {
            "id": f"stride-{stride}",
            "stride": stride,
            "lines": lines,
            "operations": SIZE // 4 // min(stride, walk.HOST_LINE // 4),
            "bytes": SIZE,
            "predicted_s": float(f"{SIZE / rate:.6g}"),
            "alone_s": float(f"{lines * alone:.6g}"),
        }
        for stride in STRIDES
    ]
    results = folder / "results"
    about = {
        "kind": STEM,
        "device": ceilings.device,
        "model": MODEL,
        "roofline": record.stamp(results / host_common.ROOFLINE),
        "chases": record.stamp(results / CHASES),
    }
    host_common.foretell(folder, STEM, about, rows)


def measured_rows(data: Any, rounds: int = ROUNDS) -> list[dict[str, Any]]:
    """Raw times by stride, in rounds: a burst of other work spoils one round only."""
    times: dict[int, list[float]] = {stride: [] for stride in STRIDES}
    for stride in STRIDES:
        walk.walk_seconds(data, stride)  # compiled, and every page touched
    for _ in range(rounds):
        for stride in STRIDES:
            times[stride] += walk.walk_seconds(data, stride, TIMES)
    rows = []
    for stride, taken in times.items():
        seen = walk.strided_walk(data, stride)
        about = {"id": f"stride-{stride}", "stride": stride, "bytes": data.nbytes}
        counts = {"lines": seen.lines, "elements": seen.elements, "total": seen.total}
        rows.append({**about, **counts, "times_s": taken})
    return rows


@host_common.measures(STEM)
def measure(_: Any) -> dict[str, Any]:
    """Walk, unless the prediction is not committed as it stands."""
    rows = measured_rows(walk.sawtooth(SIZE))
    note = "each walk meets every line once; the sum it read is kept"
    for row in rows:
        print(f"{row['id']:14} {median(row['times_s']) * 1e3:8.2f} ms")
    return {"note": note, "rows": rows}


if __name__ == "__main__":
    sys.exit(host_common.command(__doc__ or "", predict, measure))
