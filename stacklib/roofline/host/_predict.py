"""Predict a matrix product on this machine from its roofline; then run it.

    t = max(operations / peak, bytes / bandwidth(working set)) + call overhead

Each operand is counted once: a product moves X (m, k), W (n, k) and Y (m, n).
Left out: how well the library fills the peak on thin shapes, the copies it
makes of its operands, waking threads, and operands that stay in a cache while
the rest streams past them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import Quantity

from ..work.bounds import bound_time
from ..work.work import Work, gemv, matmul
from ._kernels import time_calls
from ._record import HostRoofline

DTYPES = ("fp32", "fp64")


def call_time(
    operations: Any, moved: Any, peak: Any, bandwidth: Any, overhead: Any
) -> Any:
    """Seconds of one library call: the roofline's bound and the price of calling.

    Floats in SI units, quantities or arrays.
    """
    return bound_time(operations, moved, peak, bandwidth) + overhead


@dataclass(frozen=True, slots=True)
class HostPrediction:
    """A call on this machine, predicted: its work, the two times, and their sum."""

    work: Work
    t_compute: Quantity
    t_memory: Quantity
    overhead: Quantity
    time: Quantity

    @property
    def bound(self) -> str:
        """What the call waits for most: ``memory``, ``compute`` or ``overhead``."""
        names = ("t_compute", "t_memory", "overhead")
        longest = max(names, key=lambda name: getattr(self, name).si)
        return longest.removeprefix("t_")


def predict_gemv(m: int, n: int, dtype: str, host: HostRoofline) -> HostPrediction:
    """Time of y = W x with W (m, n), all of W read once."""
    return _predict(gemv(n=m, k=n, dtype=dtype), host.overhead("gemv"), host)


def predict_gemm(
    m: int, n: int, k: int, dtype: str, host: HostRoofline
) -> HostPrediction:
    """Time of Y = X W^T with X (m, k) and W (n, k); m is the batch of a layer.

    Parameters
    ----------
    dtype : str
        ``fp32`` or ``fp64``.
    host : HostRoofline
        The measured ceilings of the machine.
    """
    work = matmul(m=m, n=n, k=k, dtype=dtype)
    return _predict(work, host.overhead("gemm"), host)


def _predict(work: Work, overhead: Quantity, host: HostRoofline) -> HostPrediction:
    peak = host.peak(work.dtype)
    # The operands are the working set: whichever cache holds them all serves them.
    bandwidth = host.bandwidth_at(work.bytes, "read")
    time = call_time(work.operations, work.bytes, peak, bandwidth, overhead)
    t_compute = (work.operations / peak).named("time to compute")
    t_memory = (work.bytes / bandwidth).named("time to move bytes")
    return HostPrediction(work, t_compute, t_memory, overhead, time.named("time"))


def run_gemv(
    m: int, n: int, dtype: str, samples: int = 7, sample_s: float = 0.005
) -> tuple[float, ...]:
    """Really run y = W x with NumPy; raw seconds a call, one for each sample."""
    import numpy

    w, x = _random((m, n), dtype), _random((n,), dtype)
    y = numpy.empty(m, w.dtype)
    return time_calls(_repeat(numpy.matmul, w, x, y), samples, sample_s)


def run_gemm(
    m: int, n: int, k: int, dtype: str, samples: int = 7, sample_s: float = 0.005
) -> tuple[float, ...]:
    """Really run Y = X W^T with NumPy; raw seconds a call, one for each sample."""
    import numpy

    x, w = _random((m, k), dtype), _random((n, k), dtype)
    y = numpy.empty((m, n), w.dtype)
    return time_calls(_repeat(numpy.matmul, x, w.T, y), samples, sample_s)


def _random(shape: tuple[int, ...], dtype: str) -> Any:
    """Random values: zeros can run faster and touch no page of memory."""
    import numpy

    if dtype not in DTYPES:
        raise ValueError(f"dtype {dtype!r}: use one of {', '.join(DTYPES)}")
    kind = numpy.float32 if dtype == "fp32" else numpy.float64
    values = numpy.random.default_rng(0).random(shape, dtype=kind)
    values -= kind(0.5)  # in place: the largest matrix fits memory once
    return values


def _repeat(
    call: Callable[..., Any], a: Any, b: Any, out: Any
) -> Callable[[int], object]:
    def run(repeats: int) -> None:
        for _ in range(repeats):
            call(a, b, out=out)

    return run
