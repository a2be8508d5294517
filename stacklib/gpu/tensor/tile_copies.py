"""Filling a tile of shared memory: by all threads, asynchronously, or by an engine.

Three ways, by what the scheduler has to issue for them. With *loads and stores* each
warp loads into registers and stores to shared memory. With *cp.async* (Ampere) a copy
is one instruction that needs no register. With the *Tensor Memory Accelerator* (TMA,
Hopper) one thread of one warp issues a single instruction for the whole tile, and the
addresses are computed outside of the unit.

``count`` walks through a tile as the warps do; ``slots`` is the same in closed form.
Where the copies take slots of the scheduler that computes, times add up; where they
take none, the longer one hides the other.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from stacklib.quantity import ceil, maximum
from stacklib.quantity.bounds import above_zero, at_least, whole

WARP, WIDEST = 32, 16  # threads; bytes that one thread copies at once
# Instructions for one warp-wide copy. The address: one addition a copy.
WAYS: dict[str, dict[str, int]] = {
    "load and store": {"address": 1, "load": 1, "store": 1},
    "cp.async": {"address": 1, "cp.async": 1},
    "TMA": {},
}
TMA = {"arrive": 1, "cp.async.bulk.tensor": 1}  # barrier told how much, then the copy


def _checked(tile_bytes: int, way: str) -> None:
    if way not in WAYS:
        raise ValueError(f"way = {way!r}: one of {', '.join(WAYS)}")
    whole(tile_bytes=tile_bytes)


def count(tile_bytes: int, way: str) -> Counter[str]:
    """Instructions that a tile takes, counted copy by copy."""
    _checked(tile_bytes, way)
    found: Counter[str] = Counter()
    if way == "TMA":
        found.update(TMA)
        return found
    left = tile_bytes
    while left > 0:
        found.update(WAYS[way])
        left -= WARP * WIDEST
    return found


def slots(tile_bytes: Any, way: str) -> Any:
    """Issue slots that a tile takes, in closed form."""
    if way not in WAYS:
        raise ValueError(f"way = {way!r}: one of {', '.join(WAYS)}")
    above_zero(tile_bytes=tile_bytes)
    if way == "TMA":
        return 1.0 * sum(TMA.values())
    return ceil(tile_bytes / (WARP * WIDEST)) * sum(WAYS[way].values())


def step_cycles(copy_slots: Any, compute_slots: Any, load_cycles: Any) -> Any:
    """Cycles of one step: issue slots add up, and hide the load if they are longer."""
    at_least(0, copy_slots=copy_slots, compute_slots=compute_slots)
    at_least(0, load_cycles=load_cycles)
    return maximum(copy_slots + compute_slots, load_cycles)
