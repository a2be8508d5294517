"""The corpus on numba's simulator of CUDA, in a process of its own.

``python -m corpus.cudasim`` with ``NUMBA_ENABLE_CUDASIM=1`` runs every kernel that the
simulator can and holds what it leaves to what NumPy says; it prints a line a kernel.
"""

import math
import time
from typing import Any

import numpy as np
from numba import cuda

from . import products, sorts, sums
from .case import Case

NOWHERE = "shared array"  # file of lines that only tell shared arrays apart


def _declared(number: int) -> Any:
    """Declares a shared array on a line of its own: numba tells them apart by line."""
    text = (
        "\n" * number + "def made(shape, dtype): return cuda.shared.array(shape, dtype)"
    )
    space: dict[str, Any] = {}
    # The simulator puts its own `cuda` into the globals of the kernel's module.
    exec(compile(text, NOWHERE, "exec"), globals(), space)
    return space["made"]


DECLARED = [_declared(number) for number in range(8)]


class SimThread:
    """Names of a thread here, as numba's."""

    exp, sqrt, fma = math.exp, math.sqrt, staticmethod(lambda a, b, c: a * b + c)
    min, max = min, max

    def __init__(self) -> None:
        self.thread, self.block = cuda.threadIdx, cuda.blockIdx
        self.block_dim, self.grid_dim = cuda.blockDim, cuda.gridDim
        self._shared = 0

    def shared(self, shape: Any, dtype: Any = np.float32) -> Any:
        """The next shared array of the block."""
        self._shared += 1
        return DECLARED[self._shared - 1](shape, np.dtype(dtype))

    def local(self, shape: Any, dtype: Any = np.float32) -> Any:
        """A thread's own array."""
        return np.zeros(shape, dtype)

    def sync(self) -> None:
        """A barrier of the block."""
        cuda.syncthreads()

    def fence(self) -> None:
        """Of the device."""
        cuda.threadfence()

    def atomic_add(self, array: Any, index: Any, value: Any) -> Any:
        """Add; what stood there before."""
        return cuda.atomic.add(array, index, value)

    def atomic_cas(self, array: Any, index: Any, old: Any, value: Any) -> Any:
        """Exchange where it is ``old``; what stood there before."""
        return cuda.atomic.cas(array, index, old, value)

    def rsqrt(self, value: Any) -> Any:
        """One over the root."""
        return 1.0 / math.sqrt(value)

    def popc(self, value: Any) -> int:
        """Bits that are set."""
        return int(value).bit_count()

    def clz(self, value: Any) -> int:
        """Zeros before the first bit of 32."""
        return 32 - int(value).bit_length()

    def to(self, dtype: Any, value: Any) -> Any:
        """In another format."""
        return np.dtype(dtype).type(value)


def ran(case: Case) -> dict[str, Any]:
    """What the simulator leaves, by parameter name."""
    names = case.kernel.__code__.co_varnames[1 : case.kernel.__code__.co_argcount]
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in case.args]

    def kernel(*given: Any) -> None:
        case.kernel(SimThread(), *given)

    cuda.jit(kernel)[case.grid, case.block](*args)
    return dict(zip(names, args, strict=True))


def main() -> None:
    """Every kernel without exchange between lanes."""
    for module in (sums, products, sorts):
        for case in module.cases():
            if not case.lanes:
                begun = time.process_time()
                case.check(ran(case))
                print(case.name, f"{time.process_time() - begun:.2f}", flush=True)


if __name__ == "__main__":
    main()
