"""Annex: log grids, and sixteen bits through bytes."""

from __future__ import annotations

from typing import Any

from stacklib import models
from stacklib.pages.quantizers.bytes import claims
from stacklib.quantity import Quantity, ceil, chosen, counted, counting
from stacklib.quantizers import LogFormat, byte_split
from stacklib.quantizers.scheme import fact

BASE, BITS = claims.BASE, claims.BITS
WIDE, NARROW = 16, 8  # bits of the operands of a product


def head() -> Quantity:
    """Numbers of a head of attention."""
    return models.get(claims.MODEL).size("head_dim", "head size")


def pairs() -> Quantity:
    """Pairs of a head that turn."""
    return (head() / 2).named("pairs of a head")


def step() -> Quantity:
    """Step of the grid whose codes reach from the fastest pair to the slowest."""
    return counted(claims.spread_step, BASE, head(), label="step between the ends")


def worst() -> Quantity:
    """Largest relative error of such a grid: half a step, from the logarithm back."""
    return counted(half_a_step, BASE, head(), label="half a step")


def half_a_step(base: float, size: int) -> float:
    """The same for a base of RoPE and a size of a head."""
    return LogFormat(BITS, claims.spread_step(base, size)).worst_ratio


def found_error() -> Quantity:
    """Largest relative error of the ladder on that grid."""
    return counted(claims.on_spread_grid, BASE, head(), label="ladder on that grid")


def own_codes() -> Quantity:
    """Codes from one pair to the next on the grid whose step divides the ladder's."""
    first, then = (counted(code, BASE, head(), pair) for pair in (0, 1))
    return (then - first).named("codes between pairs")


def last_code() -> Quantity:
    """Code of the slowest pair on that grid."""
    return counted(code, BASE, head(), -1, label="code of the slowest pair")


def code(base: float, size: int, pair: int) -> int:
    """Code of a pair's speed on the grid whose step divides the ladder's."""
    form = LogFormat(BITS, claims.dividing_step(base, size))
    return int(form.encode(claims.ladder(base, size)[pair]))


def first_turn() -> Quantity:
    """Position at which some pair is a full turn off, on the grid of the ends."""
    return counted(claims.first_turn, BASE, head(), label="position of a full turn")


def lost() -> Quantity:
    """Pairs that a linear grid of as many bits sends to zero."""
    return counted(claims.lost, BASE, head(), label="speeds that become zero")


def decades() -> Quantity:
    """Powers of ten between the fastest pair and the slowest."""
    return counted(claims.decades, BASE, head(), label="decades of RoPE's ladder")


def off_at(position: int) -> Quantity:
    """Turns by which the worst pair is off at a position."""
    turned = chosen(position, label="position") / first_turn()
    return turned.named(f"turns off at {position}")


# -- products through bytes ------------------------------------------------------------


def _domain() -> tuple[int, int]:
    """Pairs of operands, and how many of their products are those of 32 bits."""
    import numpy as np

    a: Any = np.arange(-(1 << WIDE - 1), 1 << WIDE - 1, dtype=np.int32)[:, None]
    b: Any = np.arange(-(1 << NARROW - 1), 1 << NARROW - 1, dtype=np.int32)[None]
    equal = 0
    for part in np.array_split(a, 32):
        equal += int((byte_split(part, b).product == part * b).sum())
    return a.size * b.size, equal


@counting("products compared")
def agreeing() -> int:
    """Pairs of operands, every one of which gives the product of wide arithmetic."""
    total, equal = _domain()
    if equal != total:
        raise ValueError(f"{total - equal} products differ")
    return equal


@counting("wrong with a signed low byte")
def differing() -> float:
    """Share of products that are wrong if the low byte is taken as signed."""
    # From the definition: the low byte reads 256 less wherever its top bit is set.
    top = 1 << NARROW - 1
    return (top / (1 << NARROW)) * (1 - 1 / (1 << NARROW))


def lanes() -> Quantity:
    """Passes of a multiplier of bytes that a sample of a camera needs."""
    lane = fact("int8", "bits", "bit", label="bits of a byte")
    return ceil(claims.SAMPLE / lane).named("lanes of a sample")
