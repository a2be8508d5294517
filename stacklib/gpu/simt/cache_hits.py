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

from ..vm import state as at
from .requests import Traffic

PRIME, SPREAD = 65_537, 3_571  # a primitive root of it: products look like chance
PIECE = 1 << 12  # requests whose sectors are listed together
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


def in_order(log: Any, warps_of_block: int, units: int, resident: int) -> Any:
    """Numbers of the requests, in the order of the launch.

    Which unit is the first changes from one instruction to the next: no unit finds all
    that others have brought, and none brings it all.
    """
    block = log[:, at.R_WARP] // warps_of_block
    wave = block // units // resident
    turn = (block % units * SPREAD + log[:, at.R_ORDER] * SPREAD**2) % PRIME
    return np.lexsort((log[:, at.R_WARP], turn, log[:, at.R_ORDER], wave))


def sectors_of(log: Any, requests: Any) -> Any:
    """Places of the sectors that these requests touched."""
    count = log[requests, at.R_COUNT]
    first = log[requests, at.R_FIRST] - (count.cumsum() - count)
    return np.arange(count.sum()) + np.repeat(first, count)


def sums(of: Any, count: Any) -> Any:
    """Of so many neighbours each, how many hold."""
    found, some = np.zeros_like(count), np.flatnonzero(count)
    if len(some):
        starts = (count.cumsum() - count)[some]
        found[some] = np.add.reduceat(of, starts, dtype=np.int64)
    return found


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
    log = traffic.log
    if log is None or not len(log):
        return CacheHits(0, 0, 0, 0, 0, 0, 0)
    units = int(device.compute_units.si)
    order = in_order(log, warps_of_block, units, resident)
    unit = log[:, at.R_WARP] // warps_of_block % units
    hit = _near(l1, traffic, unit, order)
    kind, missed = log[:, at.R_KIND], log[:, at.R_COUNT].copy()
    addresses: Any = np.empty(missed.sum() - np.count_nonzero(hit), np.int64)
    writes: Any = np.empty(len(addresses), bool)
    end = 0
    for n in range(0, len(order), PIECE):
        part = order[n : n + PIECE]
        places = sectors_of(log, part)
        left = ~hit[places]
        missed[part] = sums(left, missed[part])
        begin, end = end, end + int(missed[part].sum())
        addresses[begin:end] = traffic.touched[places[left]] * SECTOR
        writes[begin:end] = np.repeat(kind[part] != 0, missed[part])
    if repeated:
        addresses, writes = np.tile(addresses, 2), np.tile(writes, 2)
    out = _l2(device).run(addresses, writes)
    there, end = out.hit[end if repeated else 0 :], 0
    answered: Any = np.zeros((len(log), 3), np.int64)
    for n in range(0, len(order), PIECE):
        part = order[n : n + PIECE]
        begin, end = end, end + int(missed[part].sum())
        answered[part, 1] = sums(there[begin:end], missed[part])
    answered[:, 0] = log[:, at.R_COUNT] - missed
    answered[:, 2] = missed - answered[:, 1]
    # An atomic needs what it adds to; a store brings its bytes along.
    needed = answered[kind == 2, 2].sum()
    read = answered[kind == 0, 2].sum() if repeated else out.fills
    return CacheHits(
        int(log[kind == 0, at.R_COUNT].sum()),
        int(answered[:, 0].sum()),
        len(there),
        int(np.count_nonzero(there)),
        (int(read) + int(needed)) * SECTOR,
        out.bytes_out,
        out.bytes_dirtied,
        answered,
    )


def _near(l1: int, traffic: Traffic, unit: Any, order: Any) -> Any:
    """Which sectors the L1 of their unit has; stores and atomics pass it by."""
    hit: Any = np.zeros(len(traffic.touched), bool)
    first = l1_cache(l1)
    if first is None:
        return hit
    loads = order[traffic.log[order, at.R_KIND] == 0]
    loads = loads[np.argsort(unit[loads], kind="stable")]
    ends: Any = np.nonzero(np.diff(unit[loads]))[0] + 1
    for part in np.split(loads, ends):
        places = sectors_of(traffic.log, part)
        if len(places):
            hit[places] = first.run(traffic.touched[places] * SECTOR).hit
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
