"""Four ways to search for a kernel's tile, on timings of every tile there is.

    python benchmarks/kernel_search.py predict   # -> predictions/kernel_search.json
    python benchmarks/kernel_search.py measure   # once committed -> results/

The kernel is the blocked fp32 product on one core. All points of the space are timed,
so that the searches replay stored timings: twenty seeds of each method cost nothing and
come out the same every time. The prediction runs the same searches on the terms of
`kernels.plan.tile_profile` instead, from the innermost loop's stored time and the
stored roofline: how far above the best each method is after so many trials.
"""

import itertools
import json
import random
import sys
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import host_common as common
import numpy as np
import tile_sweep

from stacklib.kernels.plan.search import Measured, bands
from stacklib.kernels.plan.tile_profile import MOVES, Core, bottleneck, tile_terms
from stacklib.memory import TiledMatmul
from stacklib.memory.tile.blocked_product import blocked
from stacklib.roofline.host import measure as host

STEM = "kernel_search"
SIZE = 768
SPACE = {
    "tile_m": [4, 8, 16, 32, 64, 128, 256, 768],
    "tile_n": [16, 32, 64, 128, 256, 384, 512, 768],
    "tile_k": [4, 8, 16, 32, 64, 128, 256, 768],
}
BUDGET, SEEDS, AFTER = 64, 20, (4, 8, 16, 32, 64)
ROUNDS, SAMPLES = 3, 2


def core(folder: Path) -> Core:
    """This machine's core, from what is stored."""
    kernel = folder / "results" / f"{tile_sweep.KERNEL}.json"
    timed = tile_sweep.sweeps(json.loads(kernel.read_text("utf-8"))["rows"])
    short, long = min(timed), max(n for n in timed if n <= 256)
    each = (timed[long] - timed[short]) / (long - short)  # s a column of a sweep
    ceilings = common.stored(folder)
    rates = [ceilings.bandwidth_at(s, "read", 1).si for s in tile_sweep.INSIDE.values()]
    (l1, _), (l2, _) = tile_sweep.shapes()
    start = max(timed[short] - each * short, 1e-10)
    return Core(2 * 16 / each, start, l1, l2, *rates)


def points() -> list[dict[str, int]]:
    """Every tile of the space."""
    return [
        dict(zip(SPACE, p, strict=True)) for p in itertools.product(*SPACE.values())
    ]


def name(point: dict[str, int]) -> str:
    """A point's key in the files."""
    return "x".join(str(point[axis]) for axis in SPACE)


def curves(times: dict[str, float], names: dict[str, str]) -> list[dict[str, Any]]:
    """Median and tenths of best over least, by method, after some trials."""
    least = min(times.values())

    def measure(point: dict[str, int]) -> Measured:
        key = name(point)
        return Measured(times[key], names[key])

    found = bands(SPACE, measure, budget=BUDGET, seeds=SEEDS, moves=MOVES)
    return [
        {
            "id": band.method,
            **{
                str(n): [
                    float(f"{line[n - 1] / least:.4g}")
                    for line in (band.low, band.middle, band.high)
                ]
                for n in AFTER
            },
        }
        for band in found
    ]


def predict(folder: Path) -> None:
    """Write what the searches do on the model's times."""
    chip = core(folder)
    times = {name(p): sum(tile_terms(SIZE, p, chip).values()) for p in points()}
    names = {name(p): bottleneck(SIZE, p, chip) for p in points()}
    rows = curves(times, names)
    for row in rows:
        print(row)
    about = {
        "kind": STEM,
        "device": host.read_machine().text(),
        "model": "the searches on the sum of the terms of tile_profile",
        "size": SIZE,
        "core": {field: getattr(chip, field) for field in Core.__slots__},
        "best": min(times, key=lambda key: times[key]),
    }
    common.foretell(folder, STEM, about, rows)


@common.measures(STEM)
def measure(forecast: dict[str, Any]) -> dict[str, Any] | int:
    """Time every point, unless the prediction is not committed as it stands."""
    chip = Core(**forecast["core"])
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal((SIZE, SIZE), dtype=np.float32) for _ in range(2))
    right = x @ w
    rows: list[dict[str, Any]] = [
        {"id": name(p), **p, "bottleneck": bottleneck(SIZE, p, chip), "times_s": []}
        for p in points()
    ]
    shuffled = random.Random(0)
    for turn in range(ROUNDS):
        for row in shuffled.sample(rows, len(rows)):
            tiles = TiledMatmul(
                SIZE, SIZE, SIZE, *(row[axis] for axis in SPACE), width=4
            )
            for _ in range(SAMPLES):
                began = perf_counter()
                y = blocked(x, w, tiles, how="loop")
                row["times_s"].append(float(f"{perf_counter() - began:.5g}"))
            if not turn and not np.allclose(y, right, atol=1e-3):
                print(f"{row['id']}: not the product", file=sys.stderr)
                return 1
    times = {row["id"]: median(row["times_s"]) for row in rows}
    found = curves(times, {row["id"]: row["bottleneck"] for row in rows})
    for row in found:
        print(row)
    about = {"size": SIZE, "space": SPACE, "budget": BUDGET, "seeds": SEEDS}
    note = "fp32, one thread; curves: best over least, tenths"
    return about | {"curves": found, "note": note, "rows": rows}


if __name__ == "__main__":
    sys.exit(common.command(__doc__ or "", predict, measure))
