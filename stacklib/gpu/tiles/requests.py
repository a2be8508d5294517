"""How a tile's elements become requests of warps, and the sectors these touch.

Neighbouring elements go to neighbouring threads, as Triton's coalescing pass lays them
out: the axis along which addresses are neighbours comes first, a thread takes up to 16
bytes of it, thirty-two threads make a request, and warps take turns. How wide a
thread's access is, a compiler finds from what it can prove of addresses and masks; here
it is what holds of those that occur. So sectors are exact, requests an estimate where a
compiler can prove less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.memory.warp.coalescing import LINE, SECTOR

from .machine import Batch, line
from .traffic import distinct

if TYPE_CHECKING:
    from .access import Access

WARP = 32
WIDEST = 16  # bytes a thread moves with one instruction


def fastest(addresses: Any, size: int) -> int:
    """The axis along which neighbours are nearest in memory. ``addresses``: (p, ...)"""
    best, least = addresses.ndim - 1, None
    for axis in range(addresses.ndim - 1, 0, -1):
        if addresses.shape[axis] < 2:
            continue
        step = _step(addresses, axis)
        if step >= size and (least is None or step < least):
            best, least = axis, step
    return best


def _step(addresses: Any, axis: int) -> int:
    index = [0] * addresses.ndim
    start = int(addresses[tuple(index)])
    index[axis] = 1
    return abs(int(addresses[tuple(index)]) - start)


def width(flat: Any, mask: Any, size: int, most: int) -> int:
    """Elements a thread takes at once: neighbours, aligned, masked alike.

    ``flat``: (p, n) addresses, the nearest along the last axis.
    """
    wide = min(most, WIDEST // size)
    if wide < 2:
        return 1
    near = flat[:, 1:] - flat[:, :-1] == size
    while wide > 1:
        inner = near[:, : near.shape[1] // wide * wide + wide - 1]
        together = all(inner[:, n::wide].all() for n in range(wide - 1))
        if together and not (flat[:, ::wide] % (wide * size)).any():
            if mask is None or _alike(mask, wide):
                return wide
        wide //= 2
    return 1


def _alike(mask: Any, wide: int) -> bool:
    groups = mask.reshape(len(mask), -1, wide)
    return bool((groups == groups[:, :, :1]).all())


def _rows(values: Any, fill: Any) -> Any:
    """(p, n) values by request: (p, requests, 32)."""
    p, n = values.shape
    short = -n % WARP
    if short:
        values = np.concatenate([values, np.full((p, short), fill)], axis=1)
    return values.reshape(p, -1, WARP)


class Requests:
    """What one memory operation of a batch asks for, by program and request."""

    __slots__ = (
        *("again", "counts", "everywhere", "kind", "levels", "lines", "turns"),
        "wide",
    )

    def __init__(
        self, kind: str, wide: int, rows: Any, sectors: Any, shape: tuple[int, int]
    ) -> None:
        """``rows``: the request that each of the sectors is of."""
        self.kind, self.wide = kind, wide
        self.again = 1  # warps that ask for the same
        size = shape[0] * shape[1]
        self.counts = np.bincount(rows, minlength=size).reshape(shape)
        near = sectors * SECTOR // LINE
        fresh: Any = np.ones(len(rows), bool)
        fresh[1:] = (np.diff(rows) != 0) | (np.diff(near) != 0)
        self.lines = np.bincount(rows[fresh], minlength=size).reshape(shape)
        self.turns: Any = np.zeros(shape, np.int64)  # lanes at one word, for atomics
        self.everywhere = False  # whether all programs meet at the same words
        self.levels: Any = None  # (again, programs, requests, 3) sectors by level


def _lanes(access: Access, kind: str, threads: int) -> tuple[Any, Any, int]:
    """Addresses and mask of a request's threads, (p, requests, 32), and the width."""
    size = access.dtype.itemsize
    lead = len(access.at)
    addresses = np.broadcast_to(access.addresses, (lead, *access.shape))
    mask = access.mask
    if mask is not None:
        mask = np.broadcast_to(mask, addresses.shape)
    if access.shape:
        axis = fastest(addresses, size)
        addresses = np.moveaxis(addresses, axis, -1)
        mask = None if mask is None else np.moveaxis(mask, axis, -1)
    along = addresses.shape[-1] if access.shape else 1
    flat = addresses.reshape(lead, -1)
    mask = None if mask is None else mask.reshape(lead, -1)
    most = 1 if kind == "atomic" else min(along, max(1, flat.shape[1] // threads))
    wide = width(flat, mask, size, most)
    on = (
        np.ones((lead, flat.shape[1] // wide), bool)
        if mask is None
        else mask[:, ::wide]
    )
    return _rows(flat[:, ::wide], 0), _rows(on, False), wide


def count(now: Batch, access: Access, kind: str, needs: tuple[int, ...]) -> int:
    """Record a memory operation and what it asks for; its number."""
    lanes, on, wide = _lanes(access, kind, now.threads)
    lead, each, _ = lanes.shape
    rows, sectors = distinct(lanes.reshape(-1, WARP) // SECTOR, on.reshape(-1, WARP))
    made = Requests(kind, wide, rows, sectors, (lead, each))
    now.requests.append(made)
    if kind == "atomic":
        made.turns = _meetings(lanes, on)
        made.everywhere = _shared(lanes, on)
    _trace(now, access, made, on, sectors)
    bits = access.dtype.bits if kind != "store" else 0
    size = int(np.prod(access.shape, dtype=np.int64))
    return now.note(f"{kind}_global", size, bits, needs, request=len(now.requests) - 1)


def _shared(lanes: Any, on: Any) -> bool:
    """Whether several programs meet at the words that one of them touches."""
    every, one = np.unique(lanes[on]).size, np.unique(lanes[:1][on[:1]]).size
    return len(lanes) > 1 and every < 2 * one


def _meetings(lanes: Any, on: Any) -> Any:
    """Most lanes of each request that meet at one address."""
    ordered = np.sort(np.where(on, lanes, -1 - np.arange(WARP)), axis=2)
    run: Any = np.ones(ordered.shape[:2], np.int64)
    longest = run.copy()
    for lane in range(1, WARP):
        run = np.where(ordered[..., lane] == ordered[..., lane - 1], run + 1, 1)
        longest = np.maximum(longest, run)
    return longest


def _trace(now: Batch, access: Access, made: Requests, on: Any, sectors: Any) -> None:
    """Add the requests to the launch's traffic, in the order of the caches."""
    sums, kind = now.memory.tally.sums, made.kind
    each = made.counts.shape[1]
    warps_of_block = now.threads // WARP
    # A warp that holds no elements of its own loads what another does.
    again = max(1, warps_of_block // each) if kind == "load" else 1
    times = again * (len(now) // len(made.counts))
    live = int(np.count_nonzero(on.any(axis=2))) * times
    made.again = again
    sums.add("requests", kind, live)
    sums.add("sectors", kind, len(sectors) * times)
    sums.add("lines", kind, int(made.lines.sum()) * times)
    asked = int(np.count_nonzero(on)) * made.wide * access.dtype.itemsize
    sums.add("asked", kind, asked * times)
    seen = sums.line_sectors.setdefault(line(), [0, 0])
    seen[0], seen[1] = seen[0] + live, seen[1] + len(sectors) * times
    warps = now.programs[:, None] * warps_of_block + np.arange(each) % warps_of_block
    warps = warps + (np.arange(again) * each).reshape(-1, 1, 1)
    counts = np.broadcast_to(made.counts, warps.shape)
    order, touched = len(now.requests) - 1, np.tile(sectors, times)
    counted = counts.reshape(-1)
    now.memory.tally.add(order, kind, warps.reshape(-1), counted, touched)
