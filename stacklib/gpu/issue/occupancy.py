"""Occupancy: how many blocks fit on a unit at once, and what keeps more away.

The rule equals NVIDIA's own calculator (``cuda_occupancy.h`` of CUDA 13.0), case by
case (``benchmarks/occupancy.py``): shared memory rounded up with the system's reserve,
registers handed out by the warp to four sub-partitions. The calculator also knows a
preferred split between shared memory and L1, kernels that use several barriers, and
virtual resources since capability 10.0; here the split is the one with most shared
memory, and a block has one barrier.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.quantity.bounds import is_whole

WARP, MOST_THREADS = 32, 1024
REGISTERS = 65536  # of a unit, 32 bits each, since Kepler
MOST_REGISTERS = 255  # a thread


@dataclass(frozen=True, slots=True)
class Limits:
    """What a unit of one compute capability can hold."""

    warps: int
    blocks: int
    shared_bytes: int
    block_shared_bytes: int
    granularity: int
    reserve: int
    l1_bytes: int  # shared memory and L1 together


def _limits(
    warps: int, blocks: int, unit_kb: int, block_kb: int, both_kb: int, new: bool = True
) -> Limits:
    granularity, reserve = (128, 1024) if new else (256, 0)
    unit, block, both = (kb * 1024 for kb in (unit_kb, block_kb, both_kb))
    return Limits(warps, blocks, unit, block, granularity, reserve, both)


# CUDA C++ Programming Guide, technical specifications per compute capability.
LIMITS = {
    "7.0": _limits(64, 32, 96, 96, 128, False),
    "7.2": _limits(64, 32, 96, 96, 128, False),
    "7.5": _limits(32, 16, 64, 64, 96, False),
    "8.0": _limits(64, 32, 164, 163, 192),
    "8.6": _limits(48, 16, 100, 99, 128),
    "8.7": _limits(48, 16, 164, 163, 192),
    "8.9": _limits(48, 24, 100, 99, 128),
    "9.0": _limits(64, 32, 228, 227, 256),
    "10.0": _limits(64, 32, 228, 227, 256),
    "10.3": _limits(64, 32, 228, 227, 256),
    "11.0": _limits(48, 24, 228, 227, 256),
    "12.0": _limits(48, 24, 100, 99, 128),
    "12.1": _limits(48, 24, 100, 99, 128),
}


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Blocks that are resident on one unit."""

    blocks: int  # resident at once; 0 if not even one fits
    warps: int
    occupancy: float  # those over the most the unit can hold
    limiter: str
    reason: str = ""  # for 0 blocks, the sum that does not fit


def partitions_of(device: str | Accelerator) -> int:
    """Sub-partitions of a unit, each with a scheduler and a share of the registers."""
    found = hardware.get(device) if isinstance(device, str) else device
    return int(hardware.microarchitecture(found).count("warp_schedulers").si)


def limits_of(device: str | Accelerator) -> Limits:
    """What a unit of a device can hold."""
    found = hardware.get(device) if isinstance(device, str) else device
    if not isinstance(found, Accelerator):
        raise TypeError(
            f"device: a {type(device).__name__}; a name such as 'h100-sxm' is needed"
        )
    if found.compute_capability not in LIMITS:
        said = found.compute_capability or "none"
        raise UnknownSpec(
            f"{found.key}: compute capability {said}; occupancy is known for "
            f"{', '.join(LIMITS)}"
        )
    return LIMITS[found.compute_capability]


def occupancy(
    *,
    threads: int,
    registers: int = 32,
    shared_bytes: int = 0,
    device: str | Accelerator = "h100-sxm",
) -> Occupancy:
    """Blocks of a kernel that are resident on one unit at once.

    Parameters
    ----------
    threads : int
        Of a block, 1 to 1,024.
    registers : int
        A thread, 1 to 255.
    shared_bytes : int
        A block, without the system's reserve.
    device : str or Accelerator
        Whose unit it is.

    Raises
    ------
    ValueError
        For numbers outside these ranges.
    UnknownName, UnknownSpec
        See `limits_of`.

    Examples
    --------
    >>> found = occupancy(threads=256, registers=40, device="h100-sxm")
    >>> found.blocks, found.occupancy, found.limiter
    (6, 0.75, 'registers')
    """
    for name, value, low, high in (
        ("threads", threads, 1, MOST_THREADS),
        ("registers", registers, 1, MOST_REGISTERS),
        ("shared_bytes", shared_bytes, 0, None),
    ):
        if not is_whole(value) or value < low or (high is not None and value > high):
            least = f"{low} to {high:,}" if high else f"{low} or more"
            raise ValueError(f"{name} = {value!r}: a whole number of {least}")
    has = limits_of(device)
    warps = -(-threads // WARP)
    shared = _up(shared_bytes + has.reserve, has.granularity)
    per_warp = _up(WARP * registers, 256)
    parts = partitions_of(device)
    block_registers = _up(warps, parts) * per_warp
    if shared_bytes > has.block_shared_bytes:
        reason = f"{shared_bytes:,} B of shared memory > {has.block_shared_bytes:,} B"
        return Occupancy(0, 0, 0.0, "shared memory", f"{reason} a block may have")
    if block_registers > REGISTERS:
        reason = f"{block_registers:,} registers a block > {REGISTERS:,} of a unit"
        return Occupancy(0, 0, 0.0, "registers", reason)
    by_registers = parts * (REGISTERS // parts // per_warp) // warps
    allowed = {
        "warps": has.warps // warps,
        "blocks": has.blocks,
        "registers": by_registers,
        "shared memory": has.shared_bytes // shared if shared else has.blocks,
    }
    limiter = min(allowed, key=lambda name: allowed[name])
    blocks = allowed[limiter]
    return Occupancy(blocks, blocks * warps, blocks * warps / has.warps, limiter)


def _up(value: int, to: int) -> int:
    return -(-value // to) * to
