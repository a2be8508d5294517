"""One pointer chase by working set on this machine: predicted, then measured.

    python benchmarks/latency_sweep.py predict   # -> predictions/latency_sweep.json
    python benchmarks/latency_sweep.py measure   # after a commit -> results/

The heights of the steps are the four latencies that ``pointer_chases.py latency``
measured before. Where the steps stand is predicted from what the system says of its
caches, sizes and ways, and from the size of the pages: NumPy asks for huge pages from
four MiB on, and below that a page of four KiB lies anywhere.
"""

import json
import random
import sys
from pathlib import Path
from statistics import median
from typing import Any

import host_common
import record

from stacklib.memory.cache import chase_model
from stacklib.memory.cache.chase_model import ChaseLevel
from stacklib.roofline.host import pointer_chase

STEM, LATENCY = "latency_sweep", "host_latency.json"
MODEL = (
    "shares of the loads that LRU caches of the reported sizes and ways answer, pages "
    "lying anywhere, times the latencies of one chain in each level"
)
SMALLEST, LARGEST, STEP = 2**12, 2**28, 2**0.25
PAGE, HUGE_PAGE, HUGE_FROM = 2**12, 2**21, 2**22
ROUNDS, SAMPLES, SAMPLE_S = 4, 3, 0.01
SYSFS = Path("/sys/devices/system/cpu/cpu0/cache")
LINE = pointer_chase.LINE


def sizes() -> list[int]:
    """Working sets in equal ratios, whole lines."""
    found, size = [], float(SMALLEST)
    while size <= LARGEST * 1.001:
        found.append(round(size / LINE) * LINE)
        size *= STEP
    return found


def caches(folder: Path = SYSFS) -> list[dict[str, int]]:
    """Level, bytes and ways of every data cache, as the system reports them."""
    found = []
    for path in sorted(folder.glob("index*")):
        facts = {f: (path / f).read_text().strip() for f in ("level", "type", "size")}
        if facts["type"] == "Instruction":
            continue
        ways = int((path / "ways_of_associativity").read_text())
        size = int(facts["size"].removesuffix("K")) * 1024
        found.append({"level": int(facts["level"]), "bytes": size, "ways": ways})
    return found


def hierarchy(
    reported: list[dict[str, int]], seconds: dict[str, float]
) -> tuple[ChaseLevel, ...]:
    """The reported caches with the latencies measured before, and the memory."""
    levels = []
    for cache in reported:
        name = f"L{cache['level']}"
        levels.append(
            ChaseLevel(name, seconds[name], cache["bytes"], cache["ways"], LINE)
        )
    return (*levels, ChaseLevel("memory", seconds["memory"]))


def page_of(size: int) -> int:
    """Bytes of the pages that a buffer of this size gets from NumPy."""
    return HUGE_PAGE if size >= HUGE_FROM else PAGE


def predict(folder: Path) -> None:
    """Write the prediction; the same latencies and caches give the same bytes."""
    source = folder / "results" / LATENCY
    idle = json.loads(source.read_text(encoding="utf-8"))
    seconds = {row["level"]: median(row["times_s"]) for row in idle["rows"]}
    reported = caches()
    levels = hierarchy(reported, seconds)
    rows = []
    for size in sizes():
        time = chase_model.latency(size, levels, LINE, page_of(size))
        counts = {"operations": 0, "bytes": LINE}
        told = float(f"{time:.6g}")
        rows.append(
            {"id": f"chase-{size}", "size": size, **counts, "predicted_s": told}
        )
    about = {"kind": STEM, "device": idle["device"], "model": MODEL}
    about |= {"latency": record.stamp(source), "caches": reported}
    host_common.foretell(folder, STEM, about, rows)


@host_common.measures(STEM)
def measure(forecast: dict[str, Any]) -> dict[str, Any]:
    """Chase through every size in rounds, unless the prediction is not committed."""
    found: list[dict[str, Any]] = [
        {"id": r["id"], "size": r["size"], "times_s": []} for r in forecast["rows"]
    ]
    where = random.Random(0)
    for _ in range(ROUNDS):
        for row in found:
            ring, first = pointer_chase.ring(row["size"]), where.randrange(2**24)
            row["times_s"] += pointer_chase.measure(
                ring, 1, SAMPLES, SAMPLE_S, first, settle=True
            )
    driver = f"{pointer_chase.compiled(1)[0]}, one thread"
    note = "one random cycle through every line, walked once before the clock"
    return {"driver": driver, "note": note, "rows": found}


if __name__ == "__main__":
    sys.exit(host_common.command(__doc__ or "", predict, measure))
