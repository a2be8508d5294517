"""Section 2.2: How do you program all those threads?"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from stacklib.quantity import Quantity, recorded

if TYPE_CHECKING:
    from stacklib.gpu.simt.report import Report

RUNS = "launch_speed"


def faster(taken: Callable[[list[Quantity]], Quantity]) -> Quantity:
    """Times as fast as numba's simulator kernels run: their ``median`` or ``min``."""
    from stacklib.evidence import results

    file = f"benchmarks/results/{RUNS}.json"
    ids = [row["id"] for row in results.need(RUNS)["rows"]]
    return taken([recorded(file, id, "ratio", label=id) for id in ids])


def first_warp(
    kernel: Callable[..., None], threads: int, *args: Any
) -> list[tuple[str, int]]:
    """What the first warp of a block issues: kinds, and masks of the lanes."""
    from stacklib import hardware
    from stacklib.gpu.lang.thread import Dim
    from stacklib.gpu.simt.machine import Machine
    from stacklib.gpu.simt.plan import prepared
    from stacklib.gpu.vm import state

    device = hardware.get("h100-sxm")
    program = prepared(kernel, Dim(1), Dim(threads), device, args)
    sizes = (1, 1, 1), (threads, 1, 1)
    machine = Machine(program, *sizes, True, units=1, resident=1, kept=1)
    machine.run()
    issued = machine.tables["TR"][: machine.tables["G"][state.TRACED]]
    mine = issued[issued[:, state.T_WARP] == 0]
    rows = ((program.kinds[r[state.T_PC]], int(r[state.T_MASK])) for r in mine)
    return [(kind, mask) for kind, mask in rows if kind]


def given(period: int) -> tuple[Any, ...]:
    """Arguments of ``kernels.two_ways``: so many lanes in a row take one path."""
    import numpy as np

    from stacklib import gpu

    return np.arange(256), gpu.empty(256, np.int64), period


def parted(period: int) -> Report:
    """What a launch of two paths reports."""
    from stacklib import gpu
    from stacklib.gpu.simt import kernels

    return gpu.launch(kernels.two_ways, 1, 256, "h100-sxm", *given(period)).report


@cache
def transposed(kernel: str, *pad: int, side: int = 256) -> Report:
    """A square of numbers transposed by one of ``gpu.simt.kernels``, and checked."""
    import numpy as np

    from stacklib import gpu
    from stacklib.gpu.simt import kernels

    src: Any = np.arange(side * side, dtype=np.float32).reshape(side, side)
    grid, args = (side // 32, side // 32), (src, gpu.empty(src.shape), *pad)
    ran = gpu.launch(getattr(kernels, kernel), grid, (32, 8), "h100-sxm", *args)
    assert (ran.results["dst"] == src.T).all()
    return ran.report
