"""Speed of `gpu.launch` beside numba's simulator of CUDA, ten kernels in one run.

    python benchmarks/launch_speed.py    # -> results/launch_speed.json

Each kernel of the tests' corpus runs on the same arguments in both: here with every
check for races, bounds and reads of nothing and with the clock, compiling included but
for the first launch of the process; there as numba ships it (``NUMBA_ENABLE_CUDASIM``),
in a process of its own. Both leave what NumPy computes, or nothing is written. The bar:
fifty times as fast by the median, and never less than five.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parent / "tests" / "gpu" / "simt"
sys.path[:0] = [str(HERE.parent), str(HERE), str(CORPUS)]

import host_common  # noqa: E402
import numpy as np  # noqa: E402
from corpus import products, sorts, sums  # noqa: E402
from corpus.case import Case, normal, rng, zeros  # noqa: E402

from stacklib.roofline.host import measure as host  # noqa: E402

STEM = "launch_speed"
ROUNDS = 3
LEAST, USUAL = 5, 50  # times the peer's speed: of every kernel, of the median one
PEER = "NUMBA_ENABLE_CUDASIM"


def _sums() -> list[Case]:
    """A copy, a reduction, a scan, a histogram."""
    x, whole = normal(1, 2048), rng(2).integers(0, 100, 1024, np.int32)
    few = rng(3).integers(0, 32, 8192, np.int32)
    scanned = whole.reshape(-1, 128).cumsum(axis=1).reshape(-1)
    held = x.reshape(-1, 128).sum(axis=1)
    empty, bins = zeros(1024, dtype=np.int32), zeros(32, dtype=np.int32)
    counts = {"bins": np.bincount(few, minlength=32)}
    return [
        Case(sums.reduce_divergent, 16, 128, (x, zeros(16)), {"out": held}, 1e-5),
        Case(sums.scan_doubling, 8, 128, (whole, empty), {"dst": scanned}),
        Case(sums.histogram_of_blocks, 8, 128, (few, bins, 8192), counts),
    ]


def _products() -> list[Case]:
    """A transpose, two products of matrices, a sparse one, softmax, attention."""
    m, a, b = normal(4, 128, 128), normal(5, 64, 64), normal(6, 64, 64)
    wide = normal(7, 8, 64)
    q = normal(8, 64, 64)
    k, v = normal(9, 256, 64), normal(10, 256, 64)
    out = products.softmax(q @ k.T) @ v
    given, tile = (a, b, zeros(64, 64), 64, 64), (q, k, v, zeros(64, 64), 256, 64, 64)
    made = {"dst": products.softmax(wide)}
    flat = products.transpose_padded
    return [
        Case(flat, (8, 8), (16, 16), (m, zeros(128, 128)), {"dst": m.T}),
        Case(products.sgemm_tiled, (8, 8), (8, 8), given, {"c": a @ b}, 1e-5),
        Case(products.sgemm_registers, (4, 4), 16, given, {"c": a @ b}, 1e-5),
        Case(products.softmax_of_block, 8, 64, (wide, zeros(8, 64), 64), made, 1e-5),
        Case(products.flash_attention, 1, 64, tile, {"out": out}, 1e-4),
    ]


def _others() -> list[Case]:
    """A sort, and bodies that pull at each other."""
    keys = rng(11).integers(0, 1000, 128, np.int32)
    x, y, mass = normal(12, 512), normal(13, 512), rng(14).random(512).astype("f4")
    pulls = sorts._pulls(*(a.astype(np.float64) for a in (x, y, mass)))
    given = (x, y, mass, zeros(512), 512)
    return [
        Case(sorts.bitonic_sort, 1, 128, (keys, 128), {"keys": np.sort(keys)}),
        Case(sorts.n_body, 16, 32, given, {"force": pulls}, 1e-4),
    ]


def cases() -> list[Case]:
    """The ten kernels."""
    return _sums() + _products() + _others()


def arguments(case: Case) -> list[Any]:
    """Fresh copies of the arrays."""
    return [a.copy() if isinstance(a, np.ndarray) else a for a in case.args]


def launched(case: Case) -> float:
    """Seconds of a launch here."""
    from stacklib import gpu

    given = arguments(case)
    began = time.perf_counter()
    ran = gpu.launch(case.kernel, case.grid, case.block, "h100-sxm", *given)
    took = time.perf_counter() - began
    case.check(ran.results)
    return took


def simulated() -> dict[str, float]:
    """Seconds of each kernel in numba's simulator, in the process that runs it."""
    from corpus import cudasim

    took = {}
    for case in cases():
        began = time.perf_counter()
        case.check(cudasim.ran(case))
        took[case.name] = time.perf_counter() - began
    return took


def beside() -> dict[str, float]:
    """As `simulated`, in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, PEER],
        env={**os.environ, PEER: "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return found


def measure() -> dict[str, Any]:
    """Every kernel, here and there in turn."""
    watch = host.Watch()
    here: dict[str, list[float]] = {}
    there: dict[str, list[float]] = {}
    for turn in range(ROUNDS + 1):
        peer = beside() if turn < ROUNDS else {}
        for case in cases():
            took = launched(case)
            if turn:  # the first compiles the machine
                here.setdefault(case.name, []).append(took)
        for name, seconds in peer.items():
            there.setdefault(name, []).append(seconds)
    rows = [
        {
            "id": name,
            "times_s": taken,
            "peer_s": there[name],
            "ratio": median(there[name]) / median(taken),
        }
        for name, taken in here.items()
    ]
    for row in rows:
        print(f"{row['id']}: {median(row['times_s']):.4f} s, {row['ratio']:.1f} times")
    return host_common.head(
        STEM,
        None,
        watch,
        peer="numba's simulator of CUDA",
        bar={"least": LEAST, "median": USUAL},
        rows=rows,
        why_no_prediction="a speed of our own simulator, held to a bar",
    )


if __name__ == "__main__":
    if sys.argv[1:] == [PEER]:
        print(json.dumps(simulated()))
    else:
        host_common.save(HERE, STEM, measure())
