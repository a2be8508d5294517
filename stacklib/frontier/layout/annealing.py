"""The loop of the annealing: compiled by numba where it is there, the same without.

All is whole numbers in arrays. A site is a place of a tile, ``(x * tall + y) * 8 + z``;
``occupant`` of a site is a block, -1 when it is free, -2 when there is none.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

SITES = 8  # of a tile
NEAR = 0.85  # of the swaps go beside a cell on the same net
MODULUS, FACTOR = 2147483647, 48271  # Park and Miller's minimal generator


def sweep(
    count: int,
    heat: float,
    reach: int,
    state: int,
    tall: int,
    x: Any,  # (blocks,) columns, then rows and places in the tile
    y: Any,
    z: Any,
    occupant: Any,  # (sites,)
    controls: Any,  # (blocks,) 0 without a register
    chain_of: Any,  # (blocks,) -1 without
    chain_at: Any,  # (chains + 1,)
    chain: Any,  # blocks, chain after chain
    net_at: Any,  # (nets + 1,)
    pins: Any,  # blocks, net after net
    of_at: Any,  # (blocks + 1,)
    of: Any,  # nets, block after block
    cost: Any,  # (nets,)
    seen: Any,  # (nets,) number of the swap that looked last
    who: Any,  # (blocks,) that move, to which site, and which they leave
    to: Any,
    left: Any,
    fresh: Any,  # (nets,)
    touched: Any,  # (nets,)
    stamp: int,
) -> tuple[int, int, int, float]:
    """So many swaps: how many were kept, the state, the stamp, squares of what cost."""
    blocks = len(x)
    wide = len(occupant) // SITES // tall
    kept, squares = 0, 0.0
    for _ in range(count):
        stamp += 1
        state = state * FACTOR % MODULUS
        block = state % blocks
        span = reach
        cx, cy = x[block], y[block]
        state = state * FACTOR % MODULUS
        if of_at[block + 1] > of_at[block] and state < NEAR * MODULUS:
            state = state * FACTOR % MODULUS
            net = of[of_at[block] + state % (of_at[block + 1] - of_at[block])]
            state = state * FACTOR % MODULUS
            near = pins[net_at[net] + state % (net_at[net + 1] - net_at[net])]
            cx, cy, span = x[near], y[near], 1
        state = state * FACTOR % MODULUS
        cx += state % (2 * span + 1) - span
        state = state * FACTOR % MODULUS
        cy += state % (2 * span + 1) - span
        state = state * FACTOR % MODULUS
        cz = state % SITES
        pad = x[block] in (0, wide - 1) or y[block] in (0, tall - 1)
        if pad:  # across to one of the four sides
            side = state // SITES % 4
            cz = cz % 2
            cx = 0 if side == 0 else wide - 1 if side == 1 else cx
            cy = 0 if side == 2 else tall - 1 if side == 3 else cy
        if cx < 0 or cy < 0 or cx >= wide or cy >= tall:
            continue
        rim = cx == 0 or cx == wide - 1 or cy == 0 or cy == tall - 1
        goal = (cx * tall + cy) * SITES + cz
        if pad != rim or occupant[goal] == -2 or (cx == x[block] and cy == y[block]):
            continue
        n = 0
        ok = True
        if chain_of[block] < 0:
            other = occupant[goal]
            if other >= 0 and chain_of[other] >= 0:
                continue
            who[0], to[0] = block, goal
            n = 1
            if other >= 0:
                who[1] = other
                to[1] = (x[block] * tall + y[block]) * SITES + z[block]
                n = 2
        else:
            which = chain_of[block]
            first, last = chain_at[which], chain_at[which + 1]
            start = (cx * tall + cy) * SITES
            old = (x[chain[first]] * tall + y[chain[first]]) * SITES
            length = last - first
            if cy + (length + SITES - 1) // SITES > tall - 1 or start == old:
                continue
            for i in range(length):
                who[n], to[n] = chain[first + i], start + i
                n += 1
            # Who stands in the way goes where the chain leaves.
            free = old
            for i in range(length):
                site = start + i
                other = occupant[site]
                if other == -2 or (other >= 0 and chain_of[other] not in (-1, which)):
                    ok = False
                    break
                if other >= 0 and chain_of[other] < 0:
                    while start <= free < start + length:
                        free += 1
                    who[n], to[n] = other, free
                    free += 1
                    n += 1
            if not ok:
                continue
        # Lift, then see that no tile has two clocks, enables or resets.
        for i in range(n):
            b = who[i]
            left[i] = (x[b] * tall + y[b]) * SITES + z[b]
            occupant[left[i]] = -1
        for i in range(n):
            b, site = who[i], to[i]
            mine = controls[b]
            if mine:
                base = site // SITES * SITES
                for at in range(base, base + SITES):
                    resident = occupant[at]
                    if resident >= 0 and controls[resident] not in (0, mine):
                        ok = False
            occupant[site] = b
        worse = 0
        many = 0
        if ok:
            for i in range(n):
                b = who[i]
                tile = to[i] // SITES
                x[b], y[b], z[b] = tile // tall, tile % tall, to[i] % SITES
            for i in range(n):
                b = who[i]
                for k in range(of_at[b], of_at[b + 1]):
                    net = of[k]
                    if seen[net] == stamp:
                        continue
                    seen[net] = stamp
                    p = pins[net_at[net]]
                    low_x, low_y = x[p], y[p]
                    high_x, high_y = low_x, low_y
                    for at in range(net_at[net] + 1, net_at[net + 1]):
                        p = pins[at]
                        low_x = x[p] if x[p] < low_x else low_x
                        high_x = x[p] if x[p] > high_x else high_x
                        low_y = y[p] if y[p] < low_y else low_y
                        high_y = y[p] if y[p] > high_y else high_y
                    fresh[many] = high_x - low_x + high_y - low_y
                    touched[many] = net
                    worse += fresh[many] - cost[net]
                    many += 1
            if worse > 0:
                state = state * FACTOR % MODULUS
                ok = heat > 0 and state < math.exp(-worse / heat) * MODULUS
            if not ok:
                for i in range(n):
                    b = who[i]
                    tile = left[i] // SITES
                    x[b], y[b], z[b] = tile // tall, tile % tall, left[i] % SITES
        if not ok:
            for i in range(n):
                occupant[to[i]] = -1
            for i in range(n):
                occupant[left[i]] = who[i]
            continue
        for i in range(many):
            cost[touched[i]] = fresh[i]
        kept += 1
        squares += worse * worse
    return kept, state, stamp, squares


@cache
def compiled() -> Any:
    """The loop, by numba where it is installed."""
    try:
        import numba
    except ImportError:
        return sweep
    return numba.njit(nogil=True)(sweep)
