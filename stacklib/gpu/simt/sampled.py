"""``estimate``: the time of a launch from the few blocks that the clock replays.

Of the others that the units run meanwhile, only the requests to memory are made, since
they fill the caches; the rest of the grid does not run. Where loops are long, both run
with shorter ones, twice, and the time grows on as it did between the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stacklib.hardware import Accelerator

from ..issue.occupancy import Occupancy
from ..issue.waves import Launch
from ..vm import state as at
from .cache_hits import CacheHits
from .contention import turns
from .long_loops import SHORT, long_loops, shortened
from .machine import Machine
from .plan import Plan, Size, Sizes, planned
from .slice_of import addresses_of, waits_for_blocks
from .times import Times
from .trace import streams_of

FEWEST = 2  # rounds, and twice as many: how much a round adds
STEPS = 10_000_000  # instructions and sectors beyond which loops are cut


class Unmodelled(ValueError):
    """A kernel whose time the clock cannot know; the message names why."""


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
    Unmodelled
        For a kernel whose blocks meet, or wait for each other: a ValueError.
    ValueError, TypeError
        As `launch` does.
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
        raise Unmodelled(
            f"{plan.name}: all blocks meet at grid_sync(), so none can be left out; "
            "launch a smaller grid instead"
        )
    if waits_for_blocks(plan.program):
        raise Unmodelled(
            f"{plan.name}: blocks wait for values of other blocks, and one unit alone "
            "is replayed: how long they wait is not known"
        )
    found = _sampled(plan, repeated and _stays(plan))
    many = min(plan.blocks, plan.kept * plan.units)
    return Estimate(
        *(plan.name, plan.device, plan.grid, plan.block, plan.resident),
        *(many, found.recorded, found.levels, found.times),
    )


@dataclass(frozen=True, slots=True)
class _Sample:
    """What came of the blocks that ran."""

    levels: CacheHits
    times: Times
    recorded: int  # blocks


@dataclass(frozen=True, slots=True)
class _Ran:
    """Machines that ran: one made all requests, the other recorded a unit's blocks."""

    plan: Plan
    all_: Machine
    recorded: Machine

    @property
    def steps(self) -> int:
        """Instructions and sectors that were kept."""
        g, log = self.recorded.tables["G"], self.all_.tables["G"]
        return int(g[at.TRACED] + log[at.SECTORS_MADE] + log[at.ISSUED])

    def sample(self, repeated: bool) -> _Sample:
        """What caches and the clock say of them."""
        plan, ran, recorded = self.plan, self.all_, self.recorded
        levels = plan.levels(ran.traffic(), repeated)
        if recorded is not ran:
            _renumber(recorded, ran)
        times = plan.times(streams_of(recorded, levels.answered, turns(ran, plan.kept)))
        full = min(plan.blocks, plan.kept * (plan.units if recorded is ran else 1))
        return _Sample(levels, times, full)


def _sampled(plan: Plan, repeated: bool) -> _Sample:
    """The blocks with their loops, or what two launches of shorter ones say of them."""
    loops = long_loops(plan.program, plan.threads * plan.blocks)
    rounds = max((loop.rounds for loop in loops), default=0)
    if rounds <= SHORT:
        return _run(plan).sample(repeated)
    # Of a loop with far fewer rounds a share of them is none, or one always.
    loops = [loop for loop in loops if loop.rounds * FEWEST >= rounds]

    def of(some: int) -> _Ran:
        made = shortened(plan.program, loops, some / rounds)
        return _run(replace(plan, program=made))

    less, more = FEWEST, 2 * FEWEST
    ran = of(less), of(more)
    each = max(1.0, (ran[1].steps - ran[0].steps) / (more - less))
    # What is outside the loops is in every run, and hides few rounds among its own.
    most = more + int(max(STEPS - ran[1].steps, STEPS // 2) / each)
    if rounds <= most:
        return _run(plan).sample(repeated)
    if most > more:  # what the first ones asked for was only counted
        del ran
        less, more = most // 2, most
        ran = of(less), of(more)
    short, long = (one.sample(repeated) for one in ran)
    times = _longer(short.times.launch, long.times.launch, rounds, less, more)
    return replace(long, times=Times(times))


def _longer(short: Launch, long: Launch, rounds: int, less: int, more: int) -> Launch:
    """A launch of so many rounds, from two of fewer."""

    def on(before: float, then: float) -> float:
        return then + (then - before) / (more - less) * (rounds - more)

    bounds = {name: on(short.bounds[name], n) for name, n in long.bounds.items()}
    least = max(bounds.values()) / long.share
    cycles = max(on(short.cycles, long.cycles), least)
    return replace(long, cycles=cycles, bounds=bounds)


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


def _run(plan: Plan) -> _Ran:
    """Run the blocks as the program has them."""
    most = min(plan.blocks, plan.kept * plan.units)
    part = addresses_of(plan.program)
    if part is None:
        both = _machine(plan, plan.program, most, 1, plan.kept)
        return _Ran(plan, both, both)
    last = (plan.kept - 1) * plan.units + 1
    recorded = _machine(plan, plan.program, last, plan.units, plan.kept)
    return _Ran(plan, _machine(plan, part, most, 1, 0), recorded)


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
