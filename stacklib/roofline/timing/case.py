"""The running case of the timing section: two kernels on an H100, and seven traps.

The kernels take the least time their roofline allows, or what the memory model says.
What is supposed, and not from a source, says so: it is of kind *assumption*.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from stacklib import hardware
from stacklib.quantity import Quantity, chosen, counted, stamp

from ..bound import gemm
from ..bound.hierarchy import read_rate, stream_rate
from ..work.bounds import bound_on
from ..work.work import gemv, matmul
from .queued import Kernel

DEVICE, DTYPE, SIZE = "h100-sxm", "bf16", 4096


def _suppose(value: float, unit: str, label: str) -> Quantity:
    return chosen(value, unit, label=label)


@dataclass(frozen=True)
class Case:
    """Quantities of the case; ``.si`` of a time is what the simulator takes."""

    operations: Quantity  # of a square matrix product at its roofline
    seconds: Quantity
    launch: Quantity
    warm: Quantity  # of a matrix-vector product with the matrix in the L2 cache
    cold: Quantity
    first: Quantity  # supposed: what a first call pays
    tick: Quantity  # a coarse clock's step
    others: Quantity  # what other work adds on average
    boost: Quantity  # supposed: clock of the cool chip over its lasting one
    boost_s: Quantity  # how long the chip stays cool
    depth: Quantity  # room in the queue

    @property
    def product(self) -> Kernel:
        """The matrix product."""
        return Kernel("product", self.seconds.si)

    @property
    def vector(self) -> Kernel:
        """The matrix-vector product; its first run fetches the matrix."""
        return Kernel("vector", self.warm.si, cold=self.cold.si - self.warm.si)


@cache
def case() -> Case:
    """The case, computed from the spec database and the fitted factors."""
    square = matmul(m=SIZE, n=SIZE, k=SIZE, dtype=DTYPE)
    thin = gemv(n=SIZE, k=SIZE, dtype=DTYPE)
    near = counted(
        read_rate, DEVICE, thin.bytes.si, unit="B/s", label="rate from L2", take="rate"
    )
    far = counted(
        stream_rate, DEVICE, unit="B/s", label="rate from memory", take="rate"
    )
    (call,) = gemm.launch_factors(gemm.chip_of(DEVICE, DTYPE), "stream")
    return Case(
        operations=square.operations,
        seconds=bound_on(square, DEVICE).time.named("time of the product"),
        launch=hardware.efficiency_quantity(call).named("launch"),
        warm=stamp((thin.bytes / near).named("time with the matrix in cache"), "C"),
        cold=stamp((thin.bytes / far).named("time with the matrix in memory"), "C"),
        first=_suppose(0.4, "s", "compiling and loading"),
        tick=_suppose(1, "ms", "step of a coarse clock"),
        others=_suppose(20, "µs", "other work, a call"),
        boost=_suppose(1.15, "", "clock of a cool chip over its lasting one"),
        boost_s=_suppose(50, "ms", "busy time until the chip is warm"),
        depth=_suppose(1024, "", "kernels the queue holds"),
    )
