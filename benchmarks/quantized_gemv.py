"""A matrix times a vector with weights in 32, 8 and 4 bits: predicted, then measured.

    python benchmarks/quantized_gemv.py predict   # ceilings, then times -> predictions/
    python benchmarks/quantized_gemv.py measure   # once that is committed -> results/

One core. Two ceilings are measured before anything is predicted: the rate at which
this core reads an array of the packed matrix's size, and the rate of weights at which
each kernel runs when its matrix lies in the L2. The prediction is the slower of the
two. Ours run through numba; torch's are the kernels its CPU backend ships.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import host_common

from stacklib.roofline.host import measure as host
from stacklib.roofline.host._kernels import time_calls

NAME = "quantized_gemv"
# in the L3 at every width; in memory at all, once with a vector that fills the L1
SHAPES = ((2048, 2048), (65536, 2048), (16384, 8192))
NEAR_BYTES, NEAR_COLS = 1 << 19, 2048  # half the L2; the L1 holds the vector
KERNELS = [
    f"{by}-{kind}" for by in ("numba", "torch") for kind in ("fp32", "int8", "int4")
]
BITS = {"fp32": 32.0, "int8": 8.0, "int4": 4.0}
GROUP, SCALE_BYTES = 128, {"numba-int4": 4, "torch-int4": 4}
ROUNDS, SAMPLES = 5, 3


def cases() -> Iterator[dict[str, Any]]:
    """Every kernel on every shape, with a stable id."""
    for rows, cols in SHAPES:
        for kernel in KERNELS:
            yield _case(kernel, rows, cols)


def _case(kernel: str, rows: int, cols: int) -> dict[str, Any]:
    codes = rows * cols * BITS[kernel.split("-")[1]] / 8
    scales = rows * 4 if kernel == "numba-int8" else 2 * rows * ("int8" in kernel)
    scales += rows * cols // GROUP * SCALE_BYTES.get(kernel, 0)
    name = f"{kernel}-{rows}x{cols}"
    shape = {"kernel": kernel, "rows": rows, "cols": cols}
    counts = {"operations": 2 * rows * cols, "bytes": int(codes + scales)}
    return {"id": name, **shape, **counts}


def prepared(kernel: str, rows: int, cols: int) -> Callable[[], object]:
    """One product, on arrays that are there already."""
    import numpy as np

    x = np.linspace(-1, 1, cols, dtype=np.float32)
    rng = np.random.default_rng(0)
    if kernel == "numba-fp32":
        import numba

        y = np.empty(rows, np.float32)
        weights = rng.standard_normal((rows, cols), dtype=np.float32)
        run = numba.njit(nogil=True, fastmath=True)(_plain)
        return lambda: run(weights, x, y)
    if kernel.startswith("numba"):
        from stacklib.quantizers import quantize
        from stacklib.quantizers.products import gemv, packed

        scheme = {"int8": "int8_channel", "int4": "int4_g128"}[kernel.split("-")[1]]
        weights = rng.standard_normal((rows, cols), dtype=np.float32)
        matrix = packed(quantize(weights, scheme))
        return lambda: gemv(matrix, x)
    return _torch(kernel.split("-")[1], rows, x)


def _plain(weights: Any, x: Any, y: Any) -> None:
    for row in range(weights.shape[0]):
        total = x[0] * 0
        for j in range(weights.shape[1]):
            total += weights[row, j] * x[j]
        y[row] = total


def _torch(kind: str, rows: int, x: Any) -> Callable[[], object]:
    import torch

    torch.set_num_threads(1)
    cols, ops = len(x), torch.ops.aten
    if kind == "fp32":
        weights, vector = torch.randn(rows, cols), torch.from_numpy(x)
        return lambda: torch.mv(weights, vector)
    vector = torch.from_numpy(x).to(torch.bfloat16)[None]
    if kind == "int8":
        codes = torch.randint(-127, 128, (rows, cols), dtype=torch.int8)
        scales = torch.ones(rows, dtype=torch.bfloat16)
        return lambda: ops._weight_int8pack_mm(vector, codes, scales)
    wide = torch.randint(0, 16, (rows, cols), dtype=torch.int32)
    four = ops._convert_weight_to_int4pack_for_cpu(wide, 1)
    both = torch.ones(cols // GROUP, rows, 2, dtype=torch.bfloat16)
    return lambda: ops._weight_int4pack_mm_for_cpu(vector, four, GROUP, both)


def timed(call: Callable[[], object], samples: int) -> list[float]:
    """Seconds a call, once for each sample."""

    def run(repeats: int) -> None:
        for _ in range(repeats):
            call()

    return list(time_calls(run, samples))


def near_rates() -> dict[str, float]:
    """Weights a second of each kernel on a matrix in the L2."""
    found = {}
    for kernel in KERNELS:
        rows = int(8 * NEAR_BYTES / BITS[kernel.split("-")[1]]) // NEAR_COLS
        seconds = median(timed(prepared(kernel, rows, NEAR_COLS), 9))
        found[kernel] = rows * NEAR_COLS / seconds
    return found


def read_rate(size: int, take: Callable[[list[float]], float] = median) -> float:
    """Bytes a second at which a core sums up 64-bit integers of so many bytes.

    ``take``: what stands for its samples.
    """
    import numba
    import numpy as np

    array = np.ones(size // 8, np.int64)

    def total(values: Any) -> int:
        found = 0
        for i in range(len(values)):
            found += values[i]
        return found

    run = numba.njit(nogil=True)(total)
    return 8 * len(array) / take(timed(lambda: run(array), 7))


def predict(folder: Path) -> None:
    """Measure both ceilings, then write what they predict of every case."""
    near = near_rates()
    reads = {case["bytes"]: read_rate(case["bytes"]) for case in cases()}
    rows = []
    for case in cases():
        weights = case["rows"] * case["cols"]
        compute, memory = (
            weights / near[case["kernel"]],
            case["bytes"] / reads[case["bytes"]],
        )
        found = {"t_compute_s": compute, "t_memory_s": memory}
        found["predicted_s"] = max(found.values())
        rounded = {key: float(f"{value:.6g}") for key, value in found.items()}
        bound = "reading" if memory > compute else "expanding"
        rows.append({**case, **rounded, "bound": bound})
    about = {
        "kind": NAME,
        "device": host.read_machine().text(),
        "model": "max(weights / rate of the kernel in the L2, bytes / read rate of one "
        "core at that size)",
        "weights_per_s_in_l2": {k: float(f"{v:.4g}") for k, v in near.items()},
        "read_bytes_per_s": {str(k): float(f"{v:.4g}") for k, v in reads.items()},
    }
    host_common.foretell(folder, NAME, about, rows)


def run_case(case: dict[str, Any]) -> dict[str, Any]:
    """The case with the raw times of one round."""
    call = prepared(case["kernel"], case["rows"], case["cols"])
    return {**case, "times_s": timed(call, SAMPLES)}


def compare(told: dict[str, Any], times: list[float]) -> str:
    """A line: predicted, measured, ratio."""
    seen = median(times)
    ratio = told["predicted_s"] / seen
    return (
        f"{told['id']:24} predicted {told['predicted_s'] * 1e3:8.3f} ms, measured "
        f"{seen * 1e3:8.3f} ms, {ratio:.2f} of it ({told['bound']})"
    )


def measure(folder: Path) -> int:
    """Run every case, unless the prediction is not committed as it stands."""
    return host_common.measure_cases(
        folder,
        NAME,
        ("id", "kernel", "rows", "cols"),
        run_case,
        compare,
        rounds=ROUNDS,
        note="one core; arrays are allocated beforehand; median of samples",
    )


if __name__ == "__main__":
    sys.exit(host_common.command(__doc__ or "", predict, measure))
