"""What a launch is before it runs: its program, who is resident, what is replayed."""

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
from ..issue.streams import Streams
from ..issue.waves import blocks_to_replay, extrapolate
from ..lang.compile_kernel import parameters
from ..lang.compile_once import compiled_once
from ..lang.program import Place, Program
from ..lang.thread import Dim
from .arguments import arrays
from .cache_hits import CacheHits, through
from .requests import Traffic
from .times import Times

Size = int | Sequence[int]
MOST_CLUSTER = 8  # CUDA C++ Programming Guide, Thread Block Clusters: portable
Sizes = tuple[int, int, int]


def dimensions(size: Size, name: str) -> Dim:
    """One, two or three whole numbers as ``x, y, z``."""
    given: list[Any] = list(size) if isinstance(size, list | tuple) else [size]
    good = all(is_whole(n) and n > 0 for n in given)
    if not good or not 1 <= len(given) <= 3:
        raise ValueError(f"{name} = {size!r}: one to three whole numbers from 1")
    return Dim(*map(int, given))


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
    return compiled_once(kernel, grid, block, arrays(names, args), place)


@dataclass(frozen=True, slots=True)
class Plan:
    """A launch that can be run."""

    name: str
    program: Program
    device: Accelerator
    grid: Sizes
    block: Sizes
    resident: Occupancy

    @property
    def threads(self) -> int:
        """Of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        """Of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def units(self) -> int:
        """Of the device."""
        return int(self.device.compute_units.si)

    @property
    def kept(self) -> int:
        """Blocks of the busiest unit that are replayed."""
        return blocks_to_replay(self.blocks, self.units, self.resident.blocks)

    @property
    def here(self) -> int:
        """Blocks that the busiest unit runs at once."""
        return min(self.resident.blocks, -(-self.blocks // self.units))

    def levels(self, traffic: Traffic, repeated: bool = False) -> CacheHits:
        """The requests of its blocks through the caches."""
        limits, warps = limits_of(self.device), -(-self.threads // 32)
        shared = self.here * (self.program.shared_bytes + limits.reserve)
        l1 = max(0, limits.l1_bytes - shared)
        resident = self.resident.blocks
        return through(traffic, self.device, warps, resident, l1, repeated)

    def times(self, streams: Streams) -> Times:
        """The busiest unit replayed, and the rest."""
        active = min(self.units, self.blocks)
        done = replay(streams, self.device, resident=self.here, active=active)
        return Times(extrapolate(done, self.blocks, self.units))


def planned(
    kernel: Callable[..., None],
    grid: Size,
    block: Size,
    device: str | Accelerator,
    args: Sequence[Any],
    registers: int,
    shared_bytes: int,
    cluster: int,
) -> Plan:
    """A launch, checked and compiled."""
    found = hardware.get(device) if isinstance(device, str) else device
    limits_of(found)
    size, threads = dimensions(grid, "grid"), dimensions(block, "block")
    sizes, sides = (size.x, size.y, size.z), (threads.x, threads.y, threads.z)
    check_launch(sizes, sides)
    count = threads.x * threads.y * threads.z
    fits(count, registers, 0, found)
    program = prepared(kernel, size, threads, found, args, shared_bytes, cluster)
    resident = fits(count, registers, program.shared_bytes, found)
    return Plan(kernel.__name__, program, found, sizes, sides, resident)


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
