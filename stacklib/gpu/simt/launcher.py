"""``launch``: run a kernel on a grid of blocks, and report what it did."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from stacklib.hardware import Accelerator

from ..lang.thread import Dim
from ..vm import state as at
from ..vm.program import Program
from .contention import turns
from .counters import Counters
from .machine import Machine
from .plan import Size, Sizes, planned, prepared
from .report import Report
from .requests import Traffic
from .trace import streams_of

PATIENCE = 60.0  # seconds
SHOWN = 5.0  # seconds after which a terminal shows how far it is
LEAST = 12  # blocks that are replayed: of few at once, each begins where others end


@dataclass(frozen=True, slots=True)
class Ran:
    """What a kernel left behind, before anybody adds it up."""

    results: dict[str, Any]
    counters: Counters
    traffic: Traffic
    shared_bytes: int
    machine: Machine


@dataclass(slots=True)
class Warned:
    """Looks at a machine now and then; says once that it will take long."""

    blocks: int
    began: float = field(default_factory=time.monotonic)
    said: bool = False

    def __call__(self, machine: Machine) -> None:
        begun = int(machine.tables["G"][at.NEXT_BLOCK])
        took = time.monotonic() - self.began
        if took > SHOWN and sys.stderr.isatty():
            filled = "█" * (20 * begun // self.blocks)
            print(f"\rblocks {filled:20} {begun:,}", end="", file=sys.stderr)
        whole = took * self.blocks / max(1, begun)
        if self.said or whole < PATIENCE:
            return
        self.said = True
        warnings.warn(
            f"this launch would take about {whole:,.0f} s: {begun:,} of "
            f"{self.blocks:,} blocks in {took:.0f} s; gpu.estimate(...) with the same "
            "arguments runs only the blocks that its time needs",
            stacklevel=2,
        )


def execute(
    kernel: Callable[..., None],
    grid: Dim,
    block: Dim,
    device: Accelerator,
    args: Sequence[Any],
    check: bool,
) -> Ran:
    """Run every block of the grid, without a clock."""
    size, threads = (grid.x, grid.y, grid.z), (block.x, block.y, block.z)
    return run(prepared(kernel, grid, block, device, args), size, threads, check)


def run(program: Program, size: Sizes, threads: Sizes, check: bool, **kept: Any) -> Ran:
    """Run a program; ``kept``: what of it is recorded for the clock."""
    machine = Machine(program, size, threads, check, **kept)
    machine.run(Warned(machine.blocks))
    counted = machine.counters(), machine.traffic()
    return Ran(machine.results(), *counted, program.shared_bytes, machine)


@dataclass(frozen=True, slots=True)
class Launch:
    """What a launch returns."""

    results: dict[str, Any]  # parameter name -> the array as the kernel left it
    report: Report  # what it did


def launch(
    kernel: Callable[..., None],
    grid: Size,
    block: Size,
    device: str | Accelerator = "h100-sxm",
    *args: Any,
    registers: int = 32,
    shared_bytes: int = 0,
    cluster: int = 1,
    check: bool = True,
) -> Launch:
    """Run a kernel on every thread of a grid.

    Parameters
    ----------
    kernel : function
        Ordinary Python; its first parameter is a `Thread`, the others are ``args``.
    device : str or Accelerator
        An NVIDIA GPU of compute capability 7.0 or later.
    *args
        NumPy arrays, arrays still `empty`, in `constant` memory or brought
        `to_device` before, and numbers.
    registers : int
        A thread: what a compiler would report; it decides how many blocks are resident.
    shared_bytes : int
        Of a block, for its dynamic shared memory.
    cluster : int
        Blocks, neighbours along x, that reach each other's shared memory; 8 at most.
    check : bool
        Whether reads of nothing and races are looked for. Bounds always are.

    Returns
    -------
    Launch
        ``.results`` by parameter name, and ``.report``.

    Raises
    ------
    KernelError
        When the kernel does what it may not; it names lane, address and line.
    ValueError, TypeError
        For sizes and arguments that make no sense, or a block that fits no unit.
    UnknownName, UnknownSpec
        For a device that is unknown or no such GPU.

    Examples
    --------
    >>> import numpy as np
    >>> from stacklib import gpu
    >>> def double(t, x, y):
    ...     i = t.block.x * t.block_dim.x + t.thread.x
    ...     y[i] = 2 * x[i]
    >>> ran = gpu.launch(double, 2, 64, "h100", np.arange(128.0), gpu.empty(128, float))
    >>> ran.results["y"][:3].tolist(), ran.report.sectors_per_request
    ([0.0, 2.0, 4.0], 8.0)
    """
    plan = planned(
        *(kernel, grid, block, device, args, registers, shared_bytes, cluster),
        least=LEAST,
    )
    ran = run(
        *(plan.program, plan.grid, plan.block, check),
        units=plan.units,
        resident=plan.resident.blocks,
        kept=plan.kept,
        skipped=-(-plan.blocks // plan.units) - plan.kept,
    )
    ran.machine.write_back()
    levels = plan.levels(ran.traffic)
    times = plan.times(
        streams_of(ran.machine, levels.answered, turns(ran.machine, plan.kept))
    )
    waves = plan.blocks / (plan.resident.blocks * plan.units)
    found, resident, size, threads = plan.device, plan.resident, plan.grid, plan.block
    report = Report(
        kernel.__name__,
        found,
        size,
        threads,
        registers,
        ran.shared_bytes,
        resident,
        waves,
        ran.counters,
        ran.traffic,
        levels,
        times,
        plan.program.own(),
    )
    return Launch(ran.results, report)
