"""Matmul, layer norm, softmax, GELU and transpose on this machine: predicted, measured.

    python benchmarks/five_operations.py predict   # from the ceilings -> predictions/
    python benchmarks/five_operations.py measure   # once that is committed -> results/
    python benchmarks/five_operations.py diagnose  # each pass alone        -> results/

The peer is the roofline. Each case has two predictions: ``roofline_s``, every operand
once at the rate of all cores, and ``predicted_s``, every pass of the NumPy program at
the rate one core gets from the cache that holds its arrays. Matrix products are one
call on all cores. A blocked case runs the same passes on blocks that fit the L2.
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import host as products
import host_common
import record

from stacklib.roofline.count import passes
from stacklib.roofline.host import measure as host
from stacklib.roofline.host._kernels import time_calls

NAME = "five_operations"
SIZE = 4  # bytes of an fp32 number
SHAPES = {  # the array fits the L2, the L3, and neither
    "layernorm": ((16, 1024), (1024, 1024), (32768, 1024)),
    "softmax": ((16, 1024), (1024, 1024), (32768, 1024)),
    "gelu": ((16, 1024), (1024, 1024), (32768, 1024)),
    "transpose": ((128, 128), (1024, 1024), (4096, 8192)),
}
MATMUL = (128, 1024, 2048)
BLOCK_ROWS, BLOCK_SIDE = 64, 256  # x, y and scratch of 64 rows: 768 KiB of a 1 MiB L2
ODD_SIDES = (136, 1040)  # near a power of two, and none
ROUNDS, SAMPLES, RUNS = 3, 3, 15


def cases() -> Iterator[dict[str, Any]]:
    """Every case, with a stable id."""
    for n in MATMUL:
        yield _case("matmul", "whole", n, n)
    for operation, shapes in SHAPES.items():
        for rows, cols in shapes:
            yield _case(operation, "whole", rows, cols)
        yield _case(operation, "blocked", *shapes[-1])


def _case(operation: str, variant: str, rows: int, cols: int) -> dict[str, Any]:
    name = f"{operation}-{variant}-{rows}x{cols}"
    shape = {"dtype": "fp32", "rows": rows, "cols": cols}
    return {"id": name, "op": operation, "variant": variant, **shape}


def predict_case(case: dict[str, Any], ceilings: host.HostRoofline) -> dict[str, Any]:
    """The case with its work and both predicted times, six digits each."""
    found = (_matmul if case["op"] == "matmul" else _passes)(case, ceilings)
    counts = ("operations", "bytes", "bytes_swept")
    return {
        **case,
        **{k: int(v) if k in counts else float(f"{v:.6g}") for k, v in found.items()},
    }


def _matmul(case: dict[str, Any], ceilings: host.HostRoofline) -> dict[str, float]:
    n = case["rows"]
    told = host.predict_gemm(n, n, n, "fp32", ceilings)
    moved = told.work.bytes.si
    return {
        "operations": told.work.operations.si,
        "bytes": moved,
        "bytes_swept": moved,
        "roofline_s": max(told.t_compute.si, told.t_memory.si),
        "predicted_s": told.time.si,
    }


def _passes(case: dict[str, Any], ceilings: host.HostRoofline) -> dict[str, float]:
    operation, rows, cols = case["op"], case["rows"], case["cols"]
    work = passes.operations(operation, rows, cols)
    least = passes.least(operation, rows, cols, SIZE)
    peak = ceilings.peak("fp32").si
    everyone = ceilings.bandwidth_at(least, "triad").si
    time = _one_core(case, ceilings, peak / ceilings.blas["threads"])
    return {
        "operations": work,
        "bytes": least,
        "bytes_swept": passes.moved(operation, rows, cols, SIZE),
        "roofline_s": max(work / peak, least / everyone),
        "predicted_s": time,
    }


def _one_core(case: dict[str, Any], ceilings: host.HostRoofline, peak: float) -> float:
    """NumPy runs everything but products on one core."""
    operation, elements = case["op"], case["rows"] * case["cols"]
    call = ceilings.overhead("gemv").si
    if case["variant"] == "whole":
        held = passes.BUFFERS[operation] * elements * SIZE
        rate = ceilings.bandwidth_at(held, "triad", 1).si
        return passes.passes_time(operation, elements, SIZE, peak, rate, call)
    block = block_elements(case)
    held = passes.BUFFERS[operation] * block * SIZE
    near = ceilings.bandwidth_at(held, "triad", 1).si
    far = ceilings.bandwidth_at(2 * elements * SIZE, "triad", 1).si
    calls = elements / block
    inside = calls * passes.passes_time(operation, block, SIZE, peak, near, call)
    return inside + 2 * elements * SIZE / far


def block_elements(case: dict[str, Any]) -> int:
    """Elements of one block."""
    if case["op"] == "transpose":
        return BLOCK_SIDE * BLOCK_SIDE
    return BLOCK_ROWS * int(case["cols"])


def run_case(case: dict[str, Any]) -> dict[str, Any]:
    """The case with the raw times of one round."""
    if case["op"] == "matmul":
        n = case["rows"]
        times = host.run_gemm(n, n, n, "fp32", samples=SAMPLES)
        return {**case, "times_s": list(times)}
    call = prepared(case)

    def run(repeats: int) -> None:
        for _ in range(repeats):
            call()

    return {**case, "times_s": list(time_calls(run, SAMPLES))}


def prepared(case: dict[str, Any]) -> Callable[[], None]:
    """The operation on arrays that are there already, without its allocations."""
    import numpy

    shape = (case["rows"], case["cols"])
    x = numpy.random.default_rng(0).standard_normal(shape, dtype=numpy.float32)
    turned = case["op"] == "transpose"
    y = numpy.ones(shape[::-1] if turned else shape, numpy.float32)
    scratch = numpy.ones(shape, numpy.float32)
    if case["variant"] == "whole":
        return lambda: passes.run(case["op"], x, y, scratch)
    if turned:
        return lambda: _blocked_transpose(x, y)
    return lambda: _blocked_rows(case["op"], x, y, scratch[:BLOCK_ROWS])


def _blocked_rows(operation: str, x: Any, y: Any, scratch: Any) -> None:
    for i in range(0, len(x), BLOCK_ROWS):
        block = slice(i, i + BLOCK_ROWS)
        passes.run(operation, x[block], y[block], scratch)


def _blocked_transpose(x: Any, y: Any) -> None:
    for i in range(0, x.shape[0], BLOCK_SIDE):
        for j in range(0, x.shape[1], BLOCK_SIDE):
            rows, cols = slice(i, i + BLOCK_SIDE), slice(j, j + BLOCK_SIDE)
            passes.run("transpose", x[rows, cols], y[cols, rows], None)


def predict(folder: Path) -> None:
    """Write the prediction of every case; the same roofline gives the same bytes."""
    source = folder / "results" / host_common.ROOFLINE
    ceilings = host.HostRoofline.load(source)
    rows = [predict_case(case, ceilings) for case in cases()]
    about: dict[str, Any] = {
        "kind": NAME,
        "device": ceilings.device,
        "model": "matmul: max(operations / peak, bytes / read bandwidth) + call; "
        "others: sum over passes of max(operations / peak, bytes / triad bandwidth) "
        "+ call, on one core; blocked: passes in cache, and memory once",
        "roofline": record.stamp(source),
    }
    host_common.foretell(folder, NAME, about, rows)


def measure(folder: Path) -> int:
    """Run every case, unless the prediction is not committed as it stands."""
    return host_common.measure_cases(
        folder,
        NAME,
        ("id", "op", "variant", "dtype", "rows", "cols"),
        run_case,
        products.compare,
        rounds=ROUNDS,
        note="arrays are allocated beforehand; median of samples",
    )


def diagnose(folder: Path) -> None:
    """Time each pass where it runs, and transposes of sides that are no such power."""
    watch, rows = host.Watch(), []
    shapes = [(operation, *SHAPES[operation][1]) for operation in passes.PASSES]
    shapes += [("transpose", n, n) for n in (*ODD_SIDES, MATMUL[0])]
    groups = [_pass_rows(*shape) for shape in shapes]
    for _ in range(ROUNDS * SAMPLES):
        for group in groups:
            _time_passes(group)
    rows = [row for group in groups for row in group]
    stem = f"{NAME}_passes"
    why = "a diagnosis of five_operations, made after its misses were seen"
    note = "each pass timed where it runs"
    head = host_common.head(stem, None, watch, why_no_prediction=why, note=note)
    for row in rows:
        print(
            f"{row['id']:28} {row['pass']:20} {median(row['times_s']) * 1e6:10.1f} us"
        )
    host_common.save(folder, stem, head | {"rows": rows})


def _pass_rows(operation: str, rows: int, cols: int) -> list[dict[str, Any]]:
    """A row for each pass over an array of this shape, not yet timed."""
    found = []
    for i, p in enumerate(passes.passes(operation)):
        moved = (p.reads + p.writes) * SIZE * rows * cols
        name = f"{operation}-{rows}x{cols}-{i}"
        what = {"op": operation, "pass": p.name, "rows": rows, "cols": cols}
        found.append({"id": name, **what, "bytes": moved, "times_s": []})
    return found


def _time_passes(group: list[dict[str, Any]]) -> None:
    """One sample for each pass of an operation: the median over some whole runs."""
    import numpy

    shape = (group[0]["rows"], group[0]["cols"])
    x = numpy.random.default_rng(0).standard_normal(shape, dtype=numpy.float32)
    turned = group[0]["op"] == "transpose"
    y, scratch = numpy.ones(shape[:: -1 if turned else 1], numpy.float32), x.copy()
    calls = passes.steps(group[0]["op"], x, y, scratch)
    seen: list[list[float]] = [[] for _ in group]
    for _ in range(RUNS):
        for times, (_, call) in zip(seen, calls, strict=True):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    for row, times in zip(group, seen, strict=True):
        row["times_s"].append(median(times))


if __name__ == "__main__":
    sys.exit(host_common.command(__doc__ or "", predict, measure, diagnose))
