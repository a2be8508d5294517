"""Sectors of a launch through the caches: L1 of every unit, one L2, memory.

Blocks are dealt to units in turn; a unit runs as many as occupancy allows and takes the
next ones when those are done. Within such a wave, warps take turns, one memory
instruction each. Loads look in the unit's L1; stores and atomics go to the L2.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from stacklib.hardware import Accelerator
from stacklib.memory import Cache
from stacklib.memory.cache.l2 import l2_cache
from stacklib.memory.warp.coalescing import LINE, SECTOR
from stacklib.roofline.bound import hierarchy

from . import state as at
from .requests import Traffic

PRIME, SPREAD = 65_537, 3_571  # a primitive root of it: products look like chance
L1_WAYS = 64  # of the sectored cache; NVIDIA does not print it


@dataclass(frozen=True, slots=True)
class CacheHits:
    """Sectors asked of each level, and how many were there."""

    l1_sectors: int  # sectors that loads asked of an L1
    l1_hits: int
    l2_sectors: int  # sectors asked of the L2 by what missed, by stores and by atomics
    l2_hits: int
    read: int  # bytes read from memory
    written: int  # bytes of dirty sectors that were driven out to it
    dirtied: int  # bytes of sectors of the L2 that became dirty
    # (requests, 3): sectors of each that the L1, the L2 and the memory answered
    answered: Any = field(default=None, repr=False, compare=False)

    @property
    def l1_hit_rate(self) -> float:
        """Share of the sectors asked of an L1 that were there."""
        return self.l1_hits / self.l1_sectors if self.l1_sectors else 0.0

    @property
    def l2_hit_rate(self) -> float:
        """Share of the sectors asked of the L2 that were there."""
        return self.l2_hits / self.l2_sectors if self.l2_sectors else 0.0


def in_order(
    traffic: Traffic, warps_of_block: int, units: int, resident: int
) -> tuple[Any, Any, Any, Any]:
    """Unit, sector, kind and request of every sector, in the order of the launch.

    Which unit is the first changes from one instruction to the next: no unit finds all
    that others have brought, and none brings it all.
    """
    log = traffic.log
    block = log[:, at.R_WARP] // warps_of_block
    wave = block // units // resident
    turn = (block % units * SPREAD + log[:, at.R_ORDER] * SPREAD**2) % PRIME
    by = np.lexsort((log[:, at.R_WARP], turn, log[:, at.R_ORDER], wave))
    count = log[by, at.R_COUNT]
    request = np.repeat(by, count)
    within = np.arange(len(request)) - np.repeat(count.cumsum() - count, count)
    sector = traffic.touched[log[request, at.R_FIRST] + within]
    return (block % units)[request], sector, log[request, at.R_KIND], request


def through(
    traffic: Traffic,
    device: Accelerator,
    warps_of_block: int,
    resident: int,
    l1: int,
    repeated: bool = False,
) -> CacheHits:
    """What a launch asked of every level.

    ``l1``: bytes of a unit's L1: what shared memory leaves; 0 for none. ``repeated``:
    whether the L2 holds what the same launch left there.
    """
    if traffic.log is None or not len(traffic.log):
        return CacheHits(0, 0, 0, 0, 0, 0, 0)
    units = int(device.compute_units.si)
    ordered = in_order(traffic, warps_of_block, units, resident)
    unit, sector, kind, request = ordered
    loads = kind == 0
    hit = _near(l1, unit, sector, loads)
    left = ~hit
    addresses, writes = sector[left] * SECTOR, kind[left] != 0
    before = len(addresses) if repeated else 0
    if repeated:
        addresses, writes = np.tile(addresses, 2), np.tile(writes, 2)
    out = _l2(device).run(addresses, writes)
    there = out.hit[before:]
    far: Any = np.zeros(len(sector), np.int64)
    far[left] = 2 - there
    many = len(traffic.log)
    answered = np.bincount(request * 3 + far, minlength=3 * many).reshape(many, 3)
    # An atomic needs what it adds to; a store brings its bytes along.
    needed = np.count_nonzero(~there & (kind[left] == 2))
    read = np.count_nonzero(~there & (kind[left] == 0)) if repeated else out.fills
    return CacheHits(
        int(np.count_nonzero(loads)),
        int(np.count_nonzero(hit)),
        len(there),
        int(np.count_nonzero(there)),
        (int(read) + int(needed)) * SECTOR,
        out.bytes_out,
        out.bytes_dirtied,
        answered,
    )


def _near(l1: int, unit: Any, sector: Any, loads: Any) -> Any:
    """Which sectors the L1 of their unit has; stores and atomics pass it by."""
    hit: Any = np.zeros(len(sector), bool)
    first = l1_cache(l1)
    if first is None:
        return hit
    place = np.nonzero(loads)[0]
    place = place[np.argsort(unit[place], kind="stable")]
    ends: Any = np.nonzero(np.diff(unit[place]))[0] + 1
    for part in np.split(place, ends):
        if len(part):
            hit[part] = first.run(sector[part] * SECTOR).hit
    return hit


def _l2(device: Accelerator) -> Cache:
    """The part of an L2 that keeps what it is given, as measured; not strictly LRU.

    Sets read again and again fade out of a real L2 gradually: some of it is used
    otherwise (``hierarchy.kept_share``), and what is driven out is not the oldest.
    """
    whole = l2_cache(device, LINE, SECTOR)
    sets = max(1, int(whole.sets * hierarchy.kept_share(device)))
    sets -= sets % 2 == 0 and sets > 1  # odd: strides spread, see l2_cache
    size = sets * whole.ways * LINE
    return replace(whole, size=size, policy="random", on_store="validate")


def l1_cache(size: int) -> Cache | None:
    """A sectored cache of about that size; None for less than a set."""
    sets = size // (L1_WAYS * LINE)
    if sets < 1:
        return None
    return Cache(sets * L1_WAYS * LINE, L1_WAYS, line=LINE, sector=SECTOR)
