"""The same work at several heights, from a Python loop to the widest vectors.

    python benchmarks/host_simd.py predict   # -> predictions/host_simd.json
    python benchmarks/host_simd.py measure   # after a commit -> results/

What is predicted comes from the stored roofline, the lanes of the reported
instruction sets, and one assumption that is named in the file: how many cycles an
addition waits for the one before it. Python's own speed is predicted by nothing.
"""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import host_common
import record

from stacklib.roofline.host import measure as host
from stacklib.roofline.host import native, simd

STEM = "host_simd"
COPY_BYTES = 2**28
ADD_CYCLES = 4  # an addition waits so long for the one before: common, not measured
AVX2_KERNELS = ("Haswell", "Zen")  # OpenBLAS kernels that use 256-bit registers


class Known:
    """What was known before: the stored roofline and what the processor reports."""

    def __init__(self, folder: Path) -> None:
        self.ceilings = host_common.stored(folder)
        self.machine = host.read_machine()
        self.isas = simd.isas(self.machine)
        self.widest = simd.LANES[self.isas[-1]] if self.isas else 1
        self.kernel = native.blas_kernel()

    def lanes(self, isa: str) -> int:
        return 1 if isa == "scalar" else simd.LANES[isa]

    def l1_read(self) -> float:
        """B/s of one thread reading as many bytes as a dot product's arrays hold."""
        size = 8 * simd.DOT_N
        points = self.ceilings.stream("read", 1)
        return min(points, key=lambda p: abs(p.size - size)).median_rate

    def triad(self, size: int) -> float:
        """B/s of one thread's triad at the working set nearest to ``size``."""
        points = self.ceilings.stream("triad", 1)
        return min(points, key=lambda p: abs(p.size - size)).median_rate

    def call(self) -> float:
        """Seconds that a call of NumPy costs."""
        return float(self.ceilings.overhead("gemv").si)

    def core_peak(self) -> float:
        """FLOP/s that BLAS reached on each of its threads."""
        return self.ceilings.peak("fp32").si / self.ceilings.blas["threads"]

    def blas_lanes(self) -> int:
        """fp32 lanes of the registers that BLAS's kernel uses."""
        return 8 if self.kernel in AVX2_KERNELS else self.widest


def seconds(case: simd.Way, known: Known) -> float | None:
    """Predicted time; None where nothing known speaks of it."""
    rule = {"dot": dot, "matmul": matmul, "peak": peak, "copy": copy}[case.op]
    return rule(case, known)


def dot(case: simd.Way, known: Known) -> float | None:
    """One sum waits for its additions; eight wait for the loads."""
    clock = known.machine.clock_hz
    reading = case.bytes / known.l1_read()
    waiting = case.n * ADD_CYCLES / clock if clock else None
    ways = {
        "numpy": 2 * reading + 2 * known.call(),  # a product array written and read
        "numba": reading,
        "blas": reading + known.call(),
        "c-plain": waiting,
        "c-o3": waiting,
        "c-fast": waiting and waiting / known.widest,
    }
    if case.how in ways or case.how == "python":
        return ways.get(case.how)
    isa, _, sums = case.how.partition("-")
    if sums == "8":
        return reading * known.widest / known.lanes(isa)
    return waiting and waiting / known.lanes(isa)


def matmul(case: simd.Way, known: Known) -> float | None:
    """The inner loop is a triad of fp32 over a matrix that the second cache holds."""
    triad = case.n**3 * 12 / known.triad(case.bytes)
    blas = [p for p in known.ceilings.points if p.op == "gemm" and p.dtype == "fp32"]
    near = min(blas, key=lambda p: abs(p.size - case.n))
    ways = {
        "numba": triad,
        "c-o3": triad,
        "c-plain": triad * known.widest,
        "blas": case.operations / near.median_rate,
    }
    return ways.get(case.how)


def peak(case: simd.Way, known: Known) -> float | None:
    """Twice the lanes, twice the rate at which BLAS runs on its own width."""
    rate = known.core_peak() * known.lanes(case.how) / known.blas_lanes()
    return case.operations / rate


def copy(case: simd.Way, known: Known) -> float | None:
    """The lines a stored triad moves a second, and the lines this copy moves.

    The C library's copy is taken to pass the cache by when it is this large.
    """
    wires = known.triad(case.bytes) * 4 / 3
    plain = case.how in known.isas
    return case.bytes * (1.5 if plain else 1) / wires


def predict(folder: Path) -> None:
    """Write the prediction; the same roofline and processor give the same bytes."""
    known = Known(folder)
    rows = []
    for case in simd.cases(known.machine, COPY_BYTES):
        told = seconds(case, known)
        shape = {k: v for k, v in asdict(case).items() if k not in ("times_s", "why")}
        rows.append(
            {"id": case.id, **shape, "predicted_s": told and float(f"{told:.6g}")}
        )
    about = {
        "kind": STEM,
        "device": known.ceilings.device,
        "reported": list(known.isas),
        "blas_kernel": known.kernel,
        "assumed": {"cycles an addition waits": ADD_CYCLES},
        "roofline": record.stamp(folder / "results" / host_common.ROOFLINE),
    }
    host_common.foretell(folder, STEM, about, rows)


@host_common.measures(STEM)
def measure(forecast: dict[str, Any], quick: bool = False) -> dict[str, Any]:
    """Run every case, unless the prediction is not committed as it stands."""
    found = simd.measure_simd(
        quick, next(r["bytes"] for r in forecast["rows"] if r["op"] == "copy")
    )
    rows = [
        {"id": c.id, **{k: v for k, v in asdict(c).items() if k != "why"}}
        for c in found
        if c.times_s
    ]
    return {
        "compiler": compiler_version(),
        "blas_kernel": native.blas_kernel(),
        "not_run": list(simd.not_run(found)),
        "rows": rows,
    }


def compiler_version() -> str:
    """First line of what the compiler says of itself."""
    import subprocess

    program = native.compiler()
    if program is None:
        return "none"
    done = subprocess.run([program, "--version"], capture_output=True, text=True)
    return done.stdout.partition("\n")[0]


if __name__ == "__main__":
    sys.exit(host_common.command(__doc__ or "", predict, measure))
