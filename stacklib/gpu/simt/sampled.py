"""``estimate``: the time of a launch from the few blocks that the clock replays.

Those blocks run in full. Of the others that the units run meanwhile, only the requests
to memory are made, since they fill the caches; the rest of the grid does not run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklib.hardware import Accelerator

from ..issue.occupancy import Occupancy
from . import state as at
from .cache_hits import CacheHits
from .contention import turns
from .machine import Machine
from .plan import Plan, Size, Sizes, planned
from .slice_of import addresses_of
from .times import Times
from .trace import streams_of


@dataclass(frozen=True, slots=True)
class Estimate:
    """The time of a launch of which only some blocks ran."""

    kernel: str
    device: Accelerator
    grid: Sizes
    block: Sizes
    occupancy: Occupancy
    ran: int  # blocks whose requests to memory were made
    replayed: int  # blocks that ran in full
    levels: CacheHits  # of those that ran
    times: Times  # of the whole launch

    @property
    def time(self) -> float:
        """Estimated seconds, without the launching."""
        return self.times.total

    @property
    def bound(self) -> str:
        """The part of the chip that the launch waits for."""
        return self.times.bound

    def __str__(self) -> str:
        blocks = self.grid[0] * self.grid[1] * self.grid[2]
        return (
            f"{self.kernel} on {self.device.short}, grid {self.grid} of blocks "
            f"{self.block}: {1e6 * self.time:,.4g} µs, bound by {self.bound}; "
            f"{self.replayed:,} of {blocks:,} blocks ran in full, {self.ran:,} "
            "filled the caches"
        )


def estimate(
    kernel: Callable[..., None],
    grid: Size,
    block: Size,
    device: str | Accelerator = "h100-sxm",
    *args: Any,
    registers: int = 32,
    shared_bytes: int = 0,
    repeated: bool = False,
) -> Estimate:
    """The time of a launch too large to run: some blocks run, the rest follows.

    Parameters
    ----------
    kernel, grid, block, device, *args, registers, shared_bytes
        As `launch` takes them; arrays may be `empty` where values decide nothing.
    repeated : bool
        Whether the same launch ran just before, so that the L2 holds its arrays if
        all of them fit.

    Returns
    -------
    Estimate
        Time and hit rates; no results, since most of the grid did not run.

    Raises
    ------
    KernelError
        When a block that runs does what it may not; reads of nothing and races are
        not looked for.
    ValueError, TypeError
        As `launch` does; for a kernel whose blocks all meet (``grid_sync``).
    UnknownName, UnknownSpec
        For a device that is unknown or no such GPU.

    Examples
    --------
    >>> from stacklib import gpu
    >>> def double(t, x, y):
    ...     i = t.block.x * t.block_dim.x + t.thread.x
    ...     y[i] = 2 * x[i]
    >>> n = 1 << 30
    >>> given = gpu.empty(n), gpu.empty(n)
    >>> found = gpu.estimate(double, n // 256, 256, "h100", *given)
    >>> found.replayed, found.bound
    (24, 'memory')
    """
    plan = planned(kernel, grid, block, device, args, registers, shared_bytes, 1)
    if "GRID_BARRIER" in plan.program.uses:
        raise ValueError(
            f"{plan.name}: all blocks meet at grid_sync(), so none can be left out; "
            "launch a smaller grid instead"
        )
    ran, recorded = _run(plan)
    levels = plan.levels(ran.traffic(), repeated and _stays(plan))
    if recorded is not ran:
        _renumber(recorded, ran)
    streams = streams_of(recorded, levels.answered, turns(ran, plan.kept))
    many = min(plan.blocks, plan.kept * plan.units)
    full = many if recorded is ran else plan.kept
    times = plan.times(streams)
    return Estimate(
        *(plan.name, plan.device, plan.grid, plan.block, plan.resident),
        *(many, full, levels, times),
    )


def _stays(plan: Plan) -> bool:
    """Whether all arrays fit the L2 together."""
    sizes = [
        use.form.size * math.prod(use.shape)
        for use in plan.program.arrays
        if use.space == "global"
    ]
    return sum(sizes) <= plan.device.l2_capacity.si


def _machine(plan: Plan, program: Any, most: int, every: int, kept: int) -> Machine:
    made = Machine(
        *(program, plan.grid, plan.block, False),
        units=plan.units,
        resident=plan.resident.blocks,
        kept=kept,
        most=most,
        every=every,
    )
    made.run()
    return made


def _run(plan: Plan) -> tuple[Machine, Machine]:
    """The machine that made all requests, and the one that recorded a unit's blocks."""
    most = min(plan.blocks, plan.kept * plan.units)
    part = addresses_of(plan.program)
    if part is None:
        both = _machine(plan, plan.program, most, 1, plan.kept)
        return both, both
    last = (plan.kept - 1) * plan.units + 1
    recorded = _machine(plan, plan.program, last, plan.units, plan.kept)
    return _machine(plan, part, most, 1, 0), recorded


def _renumber(recorded: Machine, ran: Machine) -> None:
    """Requests of the recorded blocks by their number among those of all blocks."""
    mine, all_ = (
        m.tables["Q"][: m.tables["G"][at.REQUESTS_MADE]] for m in (recorded, ran)
    )
    wide = 1 + max(int(x[:, at.R_ORDER].max(initial=0)) for x in (mine, all_))
    keys, wanted = (x[:, at.R_WARP] * wide + x[:, at.R_ORDER] for x in (all_, mine))
    order = np.argsort(keys, kind="stable")
    number: Any = order[np.searchsorted(keys, wanted, sorter=order)]
    trace = recorded.tables["TR"][: recorded.tables["G"][at.TRACED]]
    asks = trace[:, at.T_REQUEST] >= 0
    trace[asks, at.T_REQUEST] = number[trace[asks, at.T_REQUEST]]
