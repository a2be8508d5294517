"""What a warp that runs writes down: its instructions, and whether it goes in a circle."""

from __future__ import annotations

from typing import Any

from ._apart import apart
from .basics import count_bits
from .state import (
    C_LANES,
    C_WARPS,
    EVENTS,
    FULL,
    MASK,
    PC,
    RECORD,
    SEEN_AT,
    SEEN_HASH,
    SEEN_VERSION,
    STEPS,
    STUCK,
    T_ARRIVE,
    T_MASK,
    T_PASSES,
    T_PC,
    T_REQUEST,
    T_TURNS,
    T_WAIT,
    T_WARP,
    TRACED,
    VERSION,
)


@apart
def logged(pc: int, me: int, mask: int, W: Any, G: Any, TR: Any, E: Any) -> bool:
    """Log a row of a recorded warp; False for no room."""
    at = G[TRACED]
    if at + 1 >= TR.shape[0] or G[EVENTS] + 2 >= E.shape[0]:
        return False
    TR[at, T_WARP], TR[at, T_PC], TR[at, T_MASK] = W[me, RECORD], pc, mask
    TR[at, T_REQUEST] = TR[at, T_ARRIVE] = TR[at, T_WAIT] = -1
    TR[at, T_PASSES] = TR[at, T_TURNS] = 0
    G[TRACED] += 1
    return True


@apart
def uncounted(pc: int, me: int, mask: int, W: Any, G: Any, C: Any) -> int:
    """Take back an instruction that found no room for its request."""
    C[pc, C_WARPS] -= 1
    C[pc, C_LANES] -= count_bits(mask)
    if W[me, RECORD] >= 0:
        G[TRACED] -= 1
    return FULL


@apart
def hashed(me: int, R: Any, W: Any) -> int:
    """A number for all that a warp holds."""
    h = W[me, PC] * 1000003 + W[me, MASK]
    for r in range(R.shape[0]):
        for lane in range(32):
            h = (h ^ R[r, lane]) * 1099511628211
    return h


@apart
def seen_before(me: int, R: Any, W: Any, G: Any) -> bool:
    """Whether a warp comes round to where it was, nothing having changed meanwhile.

    R. Brent, *An improved Monte Carlo factorization algorithm*, BIT 1980, section 2.
    """
    now = hashed(me, R, W)
    if W[me, SEEN_VERSION] == G[VERSION] and W[me, SEEN_HASH] == now:
        W[me, STUCK] = 1
        return True
    if W[me, SEEN_VERSION] != G[VERSION]:
        W[me, SEEN_VERSION], W[me, SEEN_HASH], W[me, SEEN_AT] = G[VERSION], now, 1
        W[me, STUCK], W[me, STEPS] = 0, 1
        return False
    if W[me, STEPS] > 2 * W[me, SEEN_AT]:
        W[me, SEEN_HASH], W[me, SEEN_AT] = now, W[me, STEPS]
    return False
