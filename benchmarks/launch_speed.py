"""Lane instructions a second of the SIMT machine, one core.

    python benchmarks/launch_speed.py    # -> results/launch_speed.json

A strided copy of a million elements, by stride; with every check for races and reads of
nothing, and without. Beside it the same kernel one thread at a time, as plain Python
runs it: `stacklib.gpu.simt.one_thread`, the oracle of the tests.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import host_common  # noqa: E402

from stacklib.roofline.host import measure as host  # noqa: E402

STEM = "launch_speed"
ELEMENTS, BLOCK, ROUNDS = 1 << 20, 256, 7
ALONE = 1 << 13  # elements that plain Python gets
STRIDES = (1, 2, 8, 32)
BAR = 1e7  # lane instructions a second, checks on


def copied(stride: int, check: bool, elements: int = ELEMENTS) -> tuple[float, int]:
    """Seconds of a launch, and the lane instructions that it ran."""
    import numpy

    from stacklib import gpu
    from stacklib.gpu.simt import kernels

    src = numpy.arange(elements * stride, dtype=numpy.float32)
    args = (src, gpu.empty(elements), elements, stride)
    began = time.perf_counter()
    ran = gpu.launch(
        kernels.strided_copy, elements // BLOCK, BLOCK, "h100-sxm", *args, check=check
    )
    took = time.perf_counter() - began
    if not (ran.results["dst"] == src[::stride]).all():
        raise SystemExit(f"stride {stride}: the copy is wrong")
    return took, sum(ran.report.counters.lanes.values())


def one_by_one(stride: int) -> tuple[float, int]:
    """The same one thread after another, on fewer elements."""
    import numpy

    from stacklib.gpu.simt import kernels
    from stacklib.gpu.simt.one_thread import run_one_by_one

    src = numpy.arange(ALONE * stride, dtype=numpy.float32)
    out = numpy.zeros(ALONE, numpy.float32)
    began = time.perf_counter()
    run_one_by_one(kernels.strided_copy, ALONE // BLOCK, BLOCK, src, out, ALONE, stride)
    took = time.perf_counter() - began
    # What every lane of the machine runs, this one has run too.
    return took, copied(stride, False, ALONE)[1]


def measure() -> dict[str, Any]:
    """Every case, in turn."""
    watch = host.Watch()
    cases: dict[str, Any] = {
        f"stride-{stride}-{'checked' if check else 'unchecked'}": (
            stride,
            lambda s=stride, c=check: copied(s, c),
        )
        for stride in STRIDES
        for check in (True, False)
    }
    cases["stride-1-one-thread"] = (1, lambda: one_by_one(1))
    samples: dict[str, list[float]] = {name: [] for name in cases}
    lanes: dict[str, int] = {}
    for turn in range(ROUNDS + 1):
        for name, (_, call) in cases.items():
            took, lanes[name] = call()
            if turn:  # the first compiles
                samples[name].append(took)
    rows = []
    for name, (stride, _) in cases.items():
        rate = lanes[name] / median(samples[name])
        row = {"id": name, "stride": stride, "lane_instructions": lanes[name]}
        rows.append({**row, "times_s": samples[name], "rate": rate})
        print(f"{name}: {rate / 1e6:.2f} M lane instructions a second")
    return host_common.head(
        STEM,
        None,
        watch,
        driver="none",
        bar=BAR,
        rows=rows,
        why_no_prediction="a speed of our own simulator, held to a bar",
    )


if __name__ == "__main__":
    host_common.save(HERE, STEM, measure())
