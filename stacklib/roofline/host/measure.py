"""The roofline of the machine you sit at, measured.

Two streams by working set (triad and read, one thread and all cores) give the
slopes; a sweep of square matrix products through NumPy's BLAS gives the roofs.
Left out: page and NUMA placement, other processes, and the clock, which is
neither fixed nor read during the run. Ceilings are the best of the samples;
every raw time is kept.
"""

from __future__ import annotations

import datetime
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from stacklib.hardware.this_machine import (
    Machine,
    busy_seconds,
    read_machine,
    usable_cores,
)

from ._kernels import Kernels, aligned, kernels, run_stream, slices, time_calls
from ._predict import (
    HostPrediction,
    call_time,
    predict_gemm,
    predict_gemv,
    run_gemm,
    run_gemv,
)
from ._record import HostRoofline, Point

__all__ = [
    "HostPrediction",
    "HostRoofline",
    "Point",
    "call_time",
    "measure_host",
    "predict_gemm",
    "predict_gemv",
    "run_gemm",
    "run_gemv",
]

SMALLEST = 2**14  # bytes; inside any first-level cache
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


@dataclass(frozen=True)
class Effort:
    """How long to look: grid ratio, largest stream, GEMM sizes, samples.

    The whole grid is swept ``passes`` times: a burst of other work on the machine
    then spoils some samples of many points, not every sample of one.
    """

    mode: str
    step: float
    largest: int
    most: int
    gemm: tuple[int, ...]
    samples: int
    sample_s: float
    passes: int


QUICK = Effort("quick", 2.0, 2**27, 2**30, (64, 128, 256, 512, 1024), 3, 0.002, 1)
BLAS = (64, 128, 256, 512, 1024, 1536, 2048, 3072)
FULL = Effort("full", 2**0.5, 2**30, 2**31, BLAS, 3, 0.008, 3)


class Watch:
    """How many cores work that is not ours keeps busy while we measure."""

    def __init__(self) -> None:
        self.began = self._now()

    def _now(self) -> tuple[float | None, float, float]:
        ended = os.times()  # of processes that we started and waited for, too
        children = ended.children_user + ended.children_system
        return busy_seconds(), time.process_time() + children, time.perf_counter()

    def others(self) -> float | None:
        """Cores, averaged since the watch began; None where the system is silent."""
        (busy0, own0, wall0), (busy1, own1, wall1) = self.began, self._now()
        if busy0 is None or busy1 is None:
            return None
        cores = (busy1 - busy0 - (own1 - own0)) / max(wall1 - wall0, 1e-9)
        return round(max(cores, 0.0), 3)


def measure_host(quick: bool = True, progress: bool | None = None) -> HostRoofline:
    """Measure this machine's roofline.

    Parameters
    ----------
    quick
        True: a coarse grid, a few seconds. False: a grid twice as fine, larger
        arrays, longer samples, up to a minute.
    progress
        A bar on stderr: True always, False never, by default on a terminal.

    Returns
    -------
    HostRoofline
        Streams count bytes as STREAM does: 24 B for each fp64 element of a triad
        (two reads, one write). Where a store first reads the line it overwrites
        (write-allocate), memory moves 32 B, so a triad then shows 3/4 of what
        the wires carry. The read stream is there because a matrix-vector product
        writes next to nothing: its matrix is a pure read, 8 B an element.

    Notes
    -----
    BLAS uses as many threads as its environment variable allowed when NumPy was
    imported, else every usable core; the result states the number and, beside
    it, how many cores were busy during a large GEMM.
    """
    effort = QUICK if quick else FULL
    machine = read_machine()
    jobs = [*_stream_jobs(effort, machine, kernels()), *_blas_jobs(effort)]
    watch = Watch()
    points = _merged(job() for job in _bar(jobs * effort.passes, progress))
    # The most of three, as others may interrupt.
    busy = max(_busy_in_gemm() for _ in range(3))
    blas = blas_threads() | {"cores_busy": round(busy, 2)}
    return HostRoofline(
        device=machine.text(),
        driver=f"{blas_name()}, {blas['threads']} threads",
        clocks=machine.read_from.get("clock_hz", "unknown") + ", not controlled",
        versions=versions(),
        date=datetime.date.today().isoformat(),
        mode=effort.mode,
        kernel=kernels().name,
        blas=blas,
        others=watch.others(),
        machine=machine.as_dict(),
        points=points,
    )


def _merged(points: Iterable[Point]) -> tuple[Point, ...]:
    """One point for each id, with the samples of all passes."""
    found: dict[str, Point] = {}
    for point in points:
        before = found.get(point.id)
        times = (*before.times_s, *point.times_s) if before else point.times_s
        found[point.id] = replace(point, times_s=times)
    return tuple(found.values())


def working_sets(effort: Effort, machine: Machine) -> list[int]:
    """Bytes from first-level cache to memory, in equal ratios.

    The last is four times the largest cache or more, as far as a quarter of the
    machine's memory and the effort's most allow: a stream that a cache could hold says
    nothing of DRAM.
    """
    cache = max((c.bytes for c in machine.caches), default=0)
    memory = machine.memory_bytes or 4 * effort.largest
    largest = min(max(effort.largest, 4 * cache), effort.most, memory // 4)
    sizes, size = [], float(SMALLEST)
    while size < largest * 0.99:
        sizes.append(int(size) // 192 * 192)
        size *= effort.step
    return [*sizes, largest // 192 * 192]


def _stream_jobs(
    effort: Effort, machine: Machine, k: Kernels
) -> Iterator[Callable[[], Point]]:
    sizes = working_sets(effort, machine)
    buffer = aligned(sizes[-1] // 8 + 2**16)
    for threads in sorted({1, usable_cores()}):
        for size in sizes:
            for op in ("triad", "read"):
                yield _stream_job(effort, buffer, k, (op, threads, size))


def _stream_job(
    effort: Effort, buffer: Any, k: Kernels, what: tuple[str, int, int]
) -> Callable[[], Point]:
    op, threads, size = what
    operands, kernel = (3, k.triad) if op == "triad" else (1, k.read)
    parts = slices(buffer, operands, threads, size // 8 // operands)
    work = 8 * sum(view.size for part in parts for view in part)

    def job() -> Point:
        with ThreadPoolExecutor(threads) as pool:
            run = run_stream(kernel, parts, pool)
            times = time_calls(run, effort.samples, effort.sample_s)
        return Point(op, "fp64", threads, size, work, times)

    return job


def _blas_jobs(effort: Effort) -> Iterator[Callable[[], Point]]:
    threads = blas_threads()["threads"]

    def gemm(n: int, dtype: str) -> Callable[[], Point]:
        def job() -> Point:
            times = run_gemm(n, n, n, dtype, effort.samples, effort.sample_s)
            return Point("gemm", dtype, threads, n, 2 * n**3, times)

        return job

    yield from (gemm(n, dtype) for dtype in ("fp32", "fp64") for n in effort.gemm)
    yield lambda: Point("gemv_call", "fp32", threads, 2, 8, run_gemv(2, 2, "fp32"))
    yield lambda: Point("gemm_call", "fp32", threads, 2, 16, run_gemm(2, 2, 2, "fp32"))


def blas_threads() -> dict[str, Any]:
    """How many threads BLAS may use, and where that number is from."""
    for name in THREAD_VARIABLES:
        value = os.environ.get(name, "")
        if value.isdigit() and int(value) > 0:
            return {"threads": int(value), "from": name}
    return {"threads": usable_cores(), "from": "usable cores, the library's default"}


def _busy_in_gemm() -> float:
    wall, cpu = time.perf_counter(), time.process_time()
    run_gemm(1024, 1024, 1024, "fp64", samples=2, sample_s=0.02)
    return (time.process_time() - cpu) / (time.perf_counter() - wall)


def blas_name() -> str:
    import numpy

    config: Any = numpy.show_config(mode="dicts")
    blas = config.get("Build Dependencies", {}).get("blas", {})
    return f"{blas.get('name', 'unknown BLAS')} {blas.get('version', '')}".strip()


def versions() -> dict[str, str]:
    """Versions that a CPU measurement depends on."""
    import numpy

    found = {"python": platform.python_version(), "numpy": numpy.__version__}
    try:
        import numba
    except ImportError:
        return found
    return found | {"numba": numba.__version__}


def _bar(jobs: list[Any], progress: bool | None) -> Iterator[Any]:
    shown = sys.stderr.isatty() if progress is None else progress
    for done, job in enumerate(jobs):
        if shown:
            filled = "#" * (30 * done // len(jobs))
            print(f"\r[{filled:<30}] {done}/{len(jobs)}", end="", file=sys.stderr)
        yield job
    if shown:
        print(f"\r[{'#' * 30}] {len(jobs)}/{len(jobs)}", file=sys.stderr)
