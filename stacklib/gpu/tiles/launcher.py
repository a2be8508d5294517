"""``launch_tiles``: run a program over blocks of data on a grid, and report it."""

from __future__ import annotations

import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.quantity.bounds import is_whole

from ..chip.placement import check_launch
from ..issue.occupancy import Occupancy, limits_of, occupancy
from ..issue.replay import replay
from ..issue.waves import blocks_to_replay, extrapolate
from ..lang.builder import KernelError
from ..simt.cache_hits import through
from ..simt.times import Times
from .arguments import Arguments, bound
from .clock.estimate import BASE, GRAIN, Build, Resources, larger, resources
from .clock.record import answers, record
from .clock.tensor_work import total
from .machine import Batch, Parting, ours, run
from .memory import Memory
from .report import TileReport
from .rewrite import built, source_of

AT_ONCE = 1 << 18  # elements of the largest tile of programs that run together
LONG = 60  # seconds that a launch may take without a word
FIRST = 8  # programs that run together before any tile is known
MOST_WARPS = 32
Grid = int | Sequence[int] | Callable[[dict[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class TileLaunch:
    """What a launch of tiles returns."""

    results: dict[str, Any]  # parameter name -> the array as the programs left it
    report: TileReport


def launch_tiles(
    program: Callable[..., Any],
    grid: Grid,
    *args: Any,
    device: str | Accelerator = "h100-sxm",
    num_warps: int = 4,
    num_stages: int = 3,
    check: bool = True,
    **constexprs: Any,
) -> TileLaunch:
    """Run a program written with Triton's names on every place of a grid.

    Parameters
    ----------
    program : function
        It says what happens to blocks of data, with ``from stacklib.gpu import tiles as
        tl``; with ``import triton.language as tl`` the same text is Triton's.
    grid : int, tuple of int, or function
        Programs along one to three axes; a function is given the arguments by name.
    *args
        NumPy arrays, arrays still `empty` and, of formats NumPy lacks, ``tl.array``:
        they become pointers to copies, in which views overlap as they do here;
        numbers; values of ``tl.constexpr`` parameters.
    device : str or Accelerator
        An NVIDIA GPU of compute capability 7.0 or later.
    num_warps : int
        Of a program: a power of two up to 32.
    num_stages : int
        How many tiles a loop has under way; it decides the shared memory.
    check : bool
        Whether reads of nothing, races and sums that wrap are looked for. Bounds are
        always.
    **constexprs
        Arguments by name, such as block sizes.

    Returns
    -------
    TileLaunch
        ``.results`` by parameter name, and ``.report``.

    Raises
    ------
    KernelError
        When a program does what it may not; it names the line, the program and the
        element.
    ValueError, TypeError
        For sizes and arguments that make no sense; for shared memory that no unit has.
    UnknownName, UnknownSpec
        For a device that is unknown or no such GPU.

    Examples
    --------
    >>> import numpy as np
    >>> from stacklib import gpu
    >>> from stacklib.gpu import tiles as tl
    >>> def double(x, y, n, BLOCK: tl.constexpr):
    ...     at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ...     tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)
    >>> x = np.arange(1024, dtype=np.float32)
    >>> ran = gpu.launch_tiles(double, 8, x, gpu.empty(1024), 1024, BLOCK=128)
    >>> ran.results["y"][-2:].tolist(), ran.report.sectors_per_request
    ([2044.0, 2046.0], 4.0)
    """
    found = hardware.get(device) if isinstance(device, str) else device
    limits_of(found)
    _warps(num_warps, num_stages)
    function = source_of(program)
    names = {"num_warps": num_warps, "num_stages": num_stages}
    memory = Memory(check)
    arguments = bound(function, args, constexprs, names, memory)
    size = _grid(grid, arguments.meta)
    check_launch(size, (32 * num_warps, 1, 1))
    ran = _Run(function, arguments, size, memory, found, num_warps, num_stages, check)
    ran.everything()
    return TileLaunch(arguments.results(), ran.report())


def _warps(num_warps: Any, num_stages: Any) -> None:
    power = is_whole(num_warps) and num_warps > 0 and num_warps & (num_warps - 1) == 0
    if not power or num_warps > MOST_WARPS:
        raise ValueError(f"num_warps = {num_warps!r}: a power of two up to 32")
    if not is_whole(num_stages) or num_stages < 1:
        raise ValueError(f"num_stages = {num_stages!r}: a whole number from 1")


def _grid(grid: Grid, meta: dict[str, Any]) -> tuple[int, int, int]:
    asked: Any = grid(meta) if callable(grid) else grid
    given = list(asked) if isinstance(asked, tuple | list) else [asked]
    good = all(is_whole(n) and n > 0 for n in given)
    if not good or not 1 <= len(given) <= 3:
        raise ValueError(f"grid = {asked!r}: one to three whole numbers from 1")
    x, y, z = (*map(int, given), 1, 1)[:3]
    return x, y, z


class _Run:
    """A launch while it runs."""

    def __init__(
        self,
        function: Any,
        arguments: Arguments,
        grid: tuple[int, int, int],
        memory: Memory,
        device: Accelerator,
        warps: int,
        stages: int,
        check: bool,
    ) -> None:
        self.function, self.arguments, self.grid = function, arguments, grid
        self.memory, self.device, self.check = memory, device, check
        self.warps, self.stages = warps, stages
        self.tensor: Counter[str] = Counter()
        self.resources = Resources(BASE, 0, 0)
        self.run = built(function)
        self.batches: list[Batch] = []
        capability = float(device.compute_capability or 0)
        self.build = Build(32 * warps, stages, capability)

    def everything(self) -> None:
        """Run all programs, as many together as tiles of their size allow."""
        first, programs = 0, int(np.prod(self.grid))
        at_once, begin, said = FIRST, time.perf_counter(), False
        while first < programs:
            here = np.arange(first, min(programs, first + at_once))
            largest = self._together(here)
            first += len(here)
            at_once = max(1, AT_ONCE // max(1, largest))
            seconds = (time.perf_counter() - begin) / first * programs
            if not said and seconds > LONG:
                said = True
                warnings.warn(self._long(seconds, programs), stacklevel=4)

    def _long(self, seconds: float, programs: int) -> str:
        return (
            f"{self.function.__name__}: {programs:,} programs would take about "
            f"{seconds / 60:.1f} minutes here; a smaller grid is a sample of them, and "
            "its counts grow with the grid"
        )

    def _together(self, programs: Any) -> int:
        """Run some programs, apart where they part; elements of the largest tile."""
        now = Batch(
            *(self.function.__name__, programs, self.grid, self.check),
            32 * self.warps,
            self.memory,
            self.device,
        )
        before = self.memory.tally.mark()
        try:
            run(now, lambda: self._go())
        except Parting as parting:
            now.take_back()
            self.memory.tally.back_to(before)
            ways = np.unique(parting.ways)
            return max(self._together(programs[parting.ways == way]) for way in ways)
        self.batches.append(now)
        self._add_up(now)
        return max((op.elements for op in now.ops), default=1)

    def _go(self) -> None:
        try:
            self.run(**self.arguments.tiles)
        except (KernelError, Parting):
            raise
        except _PLAIN as wrong:
            frames = traceback.extract_tb(wrong.__traceback__)
            own = self.function.__code__.co_filename
            at = [f.lineno for f in frames if not ours(f.filename) or f.filename == own]
            line = (at[-1] if at else None) or 0
            name = self.function.__name__
            says = f"{type(wrong).__name__}: {wrong}"
            raise KernelError(f"{name}, line {line}: {says}") from wrong

    def _add_up(self, now: Batch) -> None:
        self.tensor += total(now.ops, self.device, self.warps, len(now))
        here = resources(now.ops, self.build)
        self.resources = larger(self.resources, here)

    def report(self) -> TileReport:
        """What all programs did."""
        resident, infeasible = self._resident()
        limits, blocks = limits_of(self.device), int(np.prod(self.grid))
        units = int(self.device.compute_units.si)
        here = min(max(1, resident.blocks), -(-blocks // units))
        shared = here * (self.resources.shared_bytes + limits.reserve)
        l1 = max(0, limits.l1_bytes - shared)
        traffic, at_once = self.memory.tally.finished(), max(1, resident.blocks)
        levels = through(traffic, self.device, self.warps, at_once, l1)
        times, timeless = None, infeasible
        if not infeasible:
            times, timeless = self._times(levels.answered, resident.blocks)
        return TileReport(
            self.function.__name__,
            self.device,
            self.grid,
            self.warps,
            self.stages,
            traffic,
            levels,
            dict(self.tensor),
            self.resources,
            resident,
            blocks / (resident.blocks * units) if resident.blocks else 0.0,
            infeasible,
            times,
            timeless,
        )

    def _times(self, answered: Any, resident: int) -> tuple[Times | None, str]:
        """The busiest unit's programs through its sub-cores; why not, if not."""
        units, blocks = int(self.device.compute_units.si), int(np.prod(self.grid))
        answers(self.batches, answered)
        most = blocks_to_replay(blocks, units, resident)
        try:
            streams = record(self.batches, self.build, self.device, units, most)
            here = min(resident, streams.blocks)
            done = replay(
                streams, self.device, resident=here, active=min(units, blocks)
            )
        except UnknownSpec as wrong:
            return None, str(wrong)
        return Times(extrapolate(done, blocks, units)), ""

    def _resident(self) -> tuple[Occupancy, str]:
        """Programs on a unit; what does not fit, where none does."""
        needs, threads = self.resources, 32 * self.warps
        most = min(255, 65536 // threads // GRAIN * GRAIN)
        asks = {"threads": threads, "shared_bytes": needs.shared_bytes}
        given = min(needs.registers, most)
        found = occupancy(registers=given, device=self.device, **asks)
        if not found.blocks:
            raise ValueError(
                f"no program fits a unit of {self.device.short}: {found.reason}; "
                "take smaller tiles or num_stages"
            )
        if needs.registers <= most:
            return found, ""
        says = (
            f"{needs.registers} registers a thread > {most} (line "
            f"{needs.alive_line}; estimate): values would spill to memory"
        )
        return Occupancy(0, 0, 0.0, "registers", says), says


_PLAIN = (
    ArithmeticError,
    AttributeError,
    LookupError,
    NameError,
    TypeError,
    ValueError,
)
