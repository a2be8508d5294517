"""A blocked product by tile size on one core: predicted from cache counts, measured.

    python benchmarks/tile_sweep.py kernel    # the innermost loop alone -> results/
    python benchmarks/tile_sweep.py predict   # -> predictions/tile_sweep.json
    python benchmarks/tile_sweep.py measure   # once committed -> results/

The innermost loop is timed over rows that fit the first cache. The rest is counting: a
cache simulator with the shapes the system reports says how many bytes each tile size
brings from the second cache and from the third, and the stored roofline how fast those
are. The prediction adds the three; the longest of them alone is kept beside it.
"""

import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import host_common
import numpy as np
import record

from stacklib.memory import Cache, TiledMatmul, chain
from stacklib.memory.tile._blocked import GROUP, product_loop
from stacklib.memory.tile.blocked_product import blocked, line_trace
from stacklib.memory.warp._fast import compiled, fast
from stacklib.roofline.host import measure as host

KERNEL, STEM = "tile_kernel", "tile_sweep"
MODEL = (
    "sweeps of the innermost loop x its time within L1, plus bytes from L2 and from L3 "
    "as a cache simulator counts them over the stored read bandwidth of each"
)
WIDTH, LINE = 4, 64
SIZES = (768, 1024, 1040, 2048)
SQUARE = (16, 32, 64, 128, 256, 512)
LONG = (128, 512, 64)  # rows of a block, columns, steps: a wide, shallow tile of W
LENGTHS = (*SQUARE, 768, 1024, 1040)  # longer rows leave the first cache
HELD = 6144  # numbers of W in the first cache while the innermost loop is timed
BAND = 512  # rows that are simulated at most; all bands do the same
INSIDE = {"L2": 2**19, "L3": 2**22}  # working sets that lie in each
ROUNDS, SAMPLES = 5, 2
WARM_UP = 10.0  # seconds of the same work first: a rested core is faster for a while


def cases() -> Iterator[dict[str, Any]]:
    """Every size with every tile, and untiled."""
    for n in SIZES:
        tiles = [(t, t, t) for t in SQUARE] + [LONG, (n, n, n)]
        for tile in tiles:
            shape = "x".join(map(str, tile)) if tile != (n, n, n) else "whole"
            yield {"id": f"n{n}-{shape}", "n": n, "tile": list(tile)}


def tiling(case: dict[str, Any], rows: int | None = None) -> TiledMatmul:
    """The tiling of a case, of all its rows or the first few."""
    n, tile = case["n"], case["tile"]
    return TiledMatmul(rows or n, n, n, *tile, width=WIDTH)


def shapes(root: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> list[list[int]]:
    """Bytes and ways of the data caches one core owns, as the system reports."""
    found = []
    for index in sorted(root.glob("index*")):
        text = {f.name: f.read_text().strip() for f in index.iterdir() if f.is_file()}
        if text["type"] != "Instruction" and text["level"] in "12":
            size = int(text["size"].removesuffix("K")) * 1024
            found.append([size, int(text["ways_of_associativity"])])
    return found


# -- the innermost loop -------------------------------------------------------------


def repeated() -> Callable[..., None]:
    """A compiled loop around the product, so that no call from Python is timed."""
    import numba

    product = fast(product_loop, fused=True)

    @numba.njit
    def loop(x: Any, w: Any, y: Any, length: int, times: int) -> None:
        for _ in range(times):
            product(x, w, y, 4, length, len(w))

    return loop  # type: ignore[no-any-return]


def timed_loops() -> list[dict[str, Any]]:
    """Row lengths with as many steps as fit the first cache; the shortest also alone.

    The two of one length tell a call of the product from a sweep of its inner loop.
    """
    rows = [(n, min(64, max(GROUP, HELD // n // GROUP * GROUP))) for n in LENGTHS]
    return [
        {"id": f"row-{n}-{k}", "length": n, "steps": k, "times_s": []}
        for n, k in [(LENGTHS[0], GROUP), *rows]
    ]


def sweeps(rows: list[dict[str, Any]]) -> dict[int, float]:
    """Seconds of one sweep of the inner loop by the length of its row."""
    took = [(r["length"], r["steps"] // GROUP, median(r["times_s"])) for r in rows]
    (_, _, alone), (_, many, together), *_ = took
    call = alone - (together - alone) / (many - 1)
    return {n: (seconds - call) / count for n, count, seconds in took[1:]}


def kernel(folder: Path) -> int:
    """Time the innermost loop for each length of row."""
    if not compiled():
        print("numba is not installed: nothing worth timing", file=sys.stderr)
        return 2
    watch, loop, rows = host.Watch(), repeated(), timed_loops()
    warm = perf_counter() + WARM_UP
    while perf_counter() < warm:
        numbers = np.ones((GROUP, GROUP), np.float32)
        loop(numbers, numbers, numbers, GROUP, 100_000)
    for _ in range(ROUNDS):
        for row in rows:
            n, k = row["length"], row["steps"]
            x = np.full((GROUP, k), 1e-30, np.float32)
            w, y = np.ones((k, n), np.float32), np.zeros((GROUP, n), np.float32)
            times = max(200, 8_000_000 // (n * k))
            loop(x, w, y, n, 10)
            for _ in range(SAMPLES):
                start = perf_counter()
                loop(x, w, y, n, times)
                row["times_s"].append((perf_counter() - start) / times)
    why = "what the prediction of the tile sweep starts from"
    head = host_common.head(
        KERNEL,
        None,
        watch,
        driver="numba, one thread",
        why_no_prediction=why,
        note="four rows, four steps of the sum, operands in the first cache",
    )
    record.write(folder / "results" / f"{KERNEL}.json", head | {"rows": rows})
    for n, seconds in sweeps(rows).items():
        rate = 2 * GROUP * GROUP * n / seconds / 1e9
        print(f"row of {n:5} {seconds * 1e9:8.2f} ns a sweep {rate:7.1f} GFLOP/s")
    return 0


# -- prediction ---------------------------------------------------------------------


def sweep_seconds(tiles: TiledMatmul, timed: dict[int, float]) -> float:
    """Seconds of all sweeps, had each its operands in the first cache."""
    longest = max(timed)

    def one(length: int) -> float:
        return timed.get(length) or timed[longest] * length / longest

    full, rest = divmod(tiles.n, tiles.tile_n)
    across = full * one(tiles.tile_n) + (one(rest) if rest else 0.0)
    return tiles.m // GROUP * (tiles.k // GROUP) * across


def brought(case: dict[str, Any], caches: list[Cache]) -> list[int]:
    """Bytes that cross into each cache, both ways, for the whole product."""
    rows = min(case["tile"][0], BAND, case["n"])
    band = chain(caches, *line_trace(tiling(case, rows), LINE))
    return [round((t.bytes_in + t.bytes_out) * case["n"] / rows) for t in band]


def predict(folder: Path) -> int:
    """Write the prediction of every case; the same inputs give the same bytes."""
    source = folder / "results" / f"{KERNEL}.json"
    timed = sweeps(json.loads(source.read_text("utf-8"))["rows"])
    ceilings = host_common.stored(folder)
    rates = [ceilings.bandwidth_at(size, "read", 1).si for size in INSIDE.values()]
    reported = shapes()
    caches = [Cache(size, ways, LINE) for size, ways in reported]
    rows = []
    for case in cases():
        core = sweep_seconds(tiling(case), timed)
        moved = brought(case, caches)
        waits = [b / r for b, r in zip(moved, rates, strict=True)]
        row = {
            **case,
            "operations": 2 * case["n"] ** 3,
            "bytes": moved[-1],
            "from_l2": moved[0],
            "from_l3": moved[1],
            "core_s": float(f"{core:.6g}"),
            "longest_s": float(f"{max(core, *waits):.6g}"),
            "predicted_s": float(f"{core + sum(waits):.6g}"),
        }
        rows.append(row)
        print(f"{row['id']:20} {row['predicted_s'] * 1e3:9.2f} ms", flush=True)
    about = {
        "kind": STEM,
        "device": ceilings.device,
        "model": MODEL,
        "caches": reported,
        "rates": dict(zip(INSIDE, rates, strict=True)),
        "kernel": record.stamp(source),
        "roofline": record.stamp(folder / "results" / host_common.ROOFLINE),
    }
    host_common.foretell(folder, STEM, about, rows)
    return 0


# -- measurement --------------------------------------------------------------------


@host_common.measures(STEM)
def measure(_: Any) -> dict[str, Any] | int:
    """Run every case, unless the prediction is not committed as it stands."""
    rng = random.Random(0)
    rows: list[dict[str, Any]] = [{**case, "times_s": []} for case in cases()]
    operands = {n: _operands(n) for n in SIZES}
    for _ in range(ROUNDS):
        for row in rng.sample(rows, len(rows)):
            x, w, right = operands[row["n"]]
            for _ in range(SAMPLES):
                start = perf_counter()
                y = blocked(x, w, tiling(row), how="loop")
                row["times_s"].append(perf_counter() - start)
            worst = float(np.abs(y - right).max() / np.abs(right).max())
            if worst > 1e-5:
                print(f"{row['id']}: off by {worst:.2g} of NumPy", file=sys.stderr)
                return 1
            row["off"] = float(f"{worst:.1g}")
    note = "fp32, one thread; off: greatest difference from NumPy's product"
    return {"note": note, "rows": rows}


def _operands(n: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(n)
    x, w = (rng.standard_normal((n, n), dtype=np.float32) for _ in range(2))
    return x, w, x @ w


if __name__ == "__main__":
    sys.exit(host_common.command(__doc__ or "", kernel, predict, measure))
