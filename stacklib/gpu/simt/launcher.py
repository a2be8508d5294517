"""``launch``: run a kernel on a grid of blocks, and report what it did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity.bounds import is_whole, whole

from ..chip.placement import check_launch
from ..issue.occupancy import Occupancy, limits_of, occupancy
from ..issue.replay import replay
from ..issue.waves import blocks_to_replay, extrapolate
from ..lang.compile_kernel import compiled, parameters
from ..lang.program import Place, Program
from ..lang.thread import Dim
from .arguments import Empty, arrays, empty
from .cache_hits import through
from .counters import Counters
from .machine import Machine
from .report import Report
from .requests import Traffic
from .times import Times
from .trace import streams_of

Size = int | Sequence[int]
MOST_CLUSTER = 8  # CUDA C++ Programming Guide, Thread Block Clusters: portable


def dimensions(size: Size, name: str) -> Dim:
    """One, two or three whole numbers as ``x, y, z``."""
    given: list[Any] = list(size) if isinstance(size, list | tuple) else [size]
    good = all(is_whole(n) and n > 0 for n in given)
    if not good or not 1 <= len(given) <= 3:
        raise ValueError(f"{name} = {size!r}: one to three whole numbers from 1")
    return Dim(*map(int, given))


@dataclass(frozen=True, slots=True)
class Ran:
    """What a kernel left behind, before anybody adds it up."""

    results: dict[str, Any]
    counters: Counters
    traffic: Traffic
    shared_bytes: int
    machine: Machine


def prepared(
    kernel: Callable[..., None],
    grid: Dim,
    block: Dim,
    device: Accelerator,
    args: Sequence[Any],
    dynamic: int = 0,
    cluster: int = 1,
) -> Program:
    """The program of a launch."""
    check_cluster(cluster, grid, device)
    names = parameters(kernel)[1:]
    if len(names) != len(args):
        raise TypeError(
            f"{kernel.__name__} takes {', '.join(names) or 'nothing'} after the "
            f"thread; {len(args)} given"
        )
    place = Place(
        limits_of(device).block_shared_bytes,
        dynamic,
        cluster,
        device.compute_capability or "",
        device.short,
    )
    return compiled(kernel, grid, block, arrays(names, args), place)


def execute(
    kernel: Callable[..., None],
    grid: Dim,
    block: Dim,
    device: Accelerator,
    args: Sequence[Any],
    check: bool,
) -> Ran:
    """Run every block of the grid, without a clock."""
    return run(prepared(kernel, grid, block, device, args), grid, block, check)


def run(program: Program, grid: Dim, block: Dim, check: bool, **kept: Any) -> Ran:
    """Run a program; ``kept``: what of it is recorded for the clock."""
    size, threads = (grid.x, grid.y, grid.z), (block.x, block.y, block.z)
    machine = Machine(program, size, threads, check, **kept)
    machine.run()
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
    found = hardware.get(device) if isinstance(device, str) else device
    limits = limits_of(found)
    size, threads = dimensions(grid, "grid"), dimensions(block, "block")
    check_launch((size.x, size.y, size.z), (threads.x, threads.y, threads.z))
    count = threads.x * threads.y * threads.z
    fits(count, registers, 0, found)
    program = prepared(kernel, size, threads, found, args, shared_bytes, cluster)
    resident = fits(count, registers, program.shared_bytes, found)
    warps, blocks = -(-count // 32), size.x * size.y * size.z
    units = int(found.compute_units.si)
    kept = blocks_to_replay(blocks, units, resident.blocks)
    ran = run(
        *(program, size, threads, check),
        units=units,
        resident=resident.blocks,
        kept=kept,
    )
    ran.machine.write_back()
    here = min(resident.blocks, -(-blocks // units))
    l1 = max(0, limits.l1_bytes - here * (ran.shared_bytes + limits.reserve))
    levels = through(ran.traffic, found, warps, resident.blocks, l1)
    streams = streams_of(ran.machine, levels.answered)
    done = replay(streams, found, resident=here, active=min(units, blocks))
    times = Times(extrapolate(done, blocks, units))
    waves = blocks / (resident.blocks * units)
    report = Report(
        kernel.__name__,
        found,
        (size.x, size.y, size.z),
        (threads.x, threads.y, threads.z),
        registers,
        ran.shared_bytes,
        resident,
        waves,
        ran.counters,
        ran.traffic,
        levels,
        times,
        program.own(),
    )
    return Launch(ran.results, report)


def check_cluster(cluster: int, grid: Dim, device: Accelerator) -> None:
    """Refuse clusters that the device or the grid has not."""
    whole(cluster=cluster)
    if cluster == 1:
        return
    if Place(0, capability=device.compute_capability or "0").older_than("9.0"):
        raise ValueError(
            f"cluster = {cluster}: clusters of blocks need compute capability 9.0; "
            f"{device.short} has {device.compute_capability}"
        )
    if cluster > MOST_CLUSTER:
        raise ValueError(
            f"cluster = {cluster}: at most {MOST_CLUSTER}; 16 is for single devices "
            "that are asked for it (non-portable) and is not modelled"
        )
    if grid.x % cluster:
        raise ValueError(
            f"cluster = {cluster}: {grid.x} blocks along x are no whole clusters"
        )


def fits(threads: int, registers: int, shared: int, device: Accelerator) -> Occupancy:
    """The occupancy of a block; ValueError where not one fits."""
    found = occupancy(
        threads=threads, registers=registers, shared_bytes=shared, device=device
    )
    if not found.blocks:
        raise ValueError(f"no block fits a unit of {device.short}: {found.reason}")
    return found


__all__ = [
    "Empty",
    "Launch",
    "Ran",
    "dimensions",
    "empty",
    "execute",
    "fits",
    "launch",
    "run",
]
