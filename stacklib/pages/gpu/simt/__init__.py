"""Section 2.2: How do you program all those threads?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stacklib.quantity import Quantity, recorded

RUNS = "launch_speed"


def faster(chosen: Callable[[list[Quantity]], Quantity]) -> Quantity:
    """Times as fast as numba's simulator kernels run: their ``median`` or ``min``."""
    from stacklib.evidence import results

    file = f"benchmarks/results/{RUNS}.json"
    ids = [row["id"] for row in results.need(RUNS)["rows"]]
    return chosen([recorded(file, id, "ratio", label=id) for id in ids])


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
