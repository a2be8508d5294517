"""Masks of a warp as bits, and how the machine says that something is wrong."""

from __future__ import annotations

from typing import Any

from ._apart import apart, inner
from .state import BAD, BAD_LANE, BAD_ONE, BAD_PC, BAD_TWO, BAD_WARP, FAILED


@inner
def count_bits(mask: int) -> int:
    """Lanes of a mask."""
    x = mask - (mask >> 1 & 0x55555555)
    x = (x & 0x33333333) + (x >> 2 & 0x33333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F
    return (x * 0x01010101 & 0xFFFFFFFF) >> 24


@apart
def bits_of(mask: int, R: Any, a: int) -> int:
    """The lanes of a mask whose value is not zero."""
    held = 0
    for lane in range(32):
        if R[a, lane] != 0:
            held |= 1 << lane
    return held & mask


@inner
def first_lane(mask: int) -> int:
    """The lowest lane of a mask."""
    for lane in range(32):
        if mask >> lane & 1:
            return lane
    return 0


@apart
def fail(G: Any, why: int, pc: int, warp: int, lane: int, one: int, two: int) -> int:
    """Note what is wrong."""
    G[BAD], G[BAD_PC], G[BAD_WARP], G[BAD_LANE] = why, pc, warp, lane
    G[BAD_ONE], G[BAD_TWO] = one, two
    return FAILED
