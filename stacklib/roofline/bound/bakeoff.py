"""CPU against GPU for one matrix product, the way there and back included.

The CPU has the operands. The GPU computes faster, but two matrices must cross the
link first and one must come back. The product of n x n matrices is work for n^3 and
luggage for n^2, so from some n on the journey pays.

CPU time: the measured roofline of a machine (``host.predict_gemm``), or a measured
time. GPU time: ``gemm.gemm_time`` for a call from the host. Left out: transfers that
overlap with computing, and memory that both can reach.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.quantity import bytes_per_element
from stacklib.quantity.bounds import above_zero, whole

from ..work.bounds import device_of
from ..work.moving import moving_time
from ..work.products import product
from .gemm import gemm_time


@dataclass(frozen=True, slots=True)
class BakeOff:
    """Seconds of one square product in both places."""

    n: int  # rows and columns
    cpu: float  # seconds on the CPU
    gpu: float
    transfer: float  # on the link both ways

    @property
    def there_and_back(self) -> float:
        """Seconds on the GPU with the journey."""
        return self.gpu + self.transfer

    @property
    def pays(self) -> bool:
        """Whether the journey pays."""
        return self.there_and_back < self.cpu

    @property
    def speedup(self) -> float:
        """CPU time over GPU time with the journey."""
        return self.cpu / self.there_and_back

    @property
    def speedup_resident(self) -> float:
        """CPU time over GPU time with everything there already."""
        return self.cpu / self.gpu


def transfer_time(moved: Any, on: str | Accelerator) -> Any:
    """Seconds for bytes over a device's link to its host, one after the other.

    ``moved``: float, Quantity or array; in bytes
    """
    return moving_time(moved, device_of(on).host_link)


def bake_off(n: int, cpu: float, on: str | Accelerator, dtype: str = "fp32") -> BakeOff:
    """One product of n x n matrices here and there.

    ``cpu``: seconds it takes on the CPU.
    """
    whole(n=n)
    above_zero(cpu=cpu)
    moved = 3 * n * n * bytes_per_element(dtype).si
    time = gemm_time(product(m=n, n=n, k=n, dtype=dtype), on, "host").time
    return BakeOff(n, cpu, time, transfer_time(moved, on))


def crossover(
    cpu: Callable[[int], float],  # n to the seconds it takes on the CPU; must not fall
    on: str | Accelerator,
    dtype: str = "fp32",
    most: int = 16384,
) -> int | None:
    """Smallest n from which the journey pays, up to ``most``; None if it never does."""
    device = device_of(on)
    if not bake_off(most, cpu(most), device, dtype).pays:
        return None
    low, high = 0, most  # low loses (or is empty), high pays
    while high - low > 1:
        middle = (low + high) // 2
        if bake_off(middle, cpu(middle), device, dtype).pays:
            high = middle
        else:
            low = middle
    return high
