"""Rounding to a format: of a number, and of a product and a sum together."""

from __future__ import annotations

import math

import numpy as np

from ._apart import apart, inner
from .formats import BF16, E4M3, E5M2, F16, F32


@inner
def to_grid(x: float, digits: int, least: int) -> float:
    """Rounded to so many digits, to even; ``least``: exponent of the smallest."""
    if x == 0.0 or x != x or math.isinf(x):
        return x
    _, e = math.frexp(x)
    step = math.ldexp(1.0, max(e - digits, least))
    return float(np.rint(x / step)) * step


@apart
def narrow(x: float, form: int) -> float:
    """A float as a format keeps it; of 8 bits the largest where it is beyond."""
    if form == F32:
        return float(np.float32(x))
    if form == F16:
        y = to_grid(x, 11, -24)
        return y if abs(y) <= 65504.0 else y * math.inf
    if form == BF16:
        y = to_grid(x, 8, -133)
        return y if abs(y) <= 3.3895313892515355e38 else y * math.inf
    if form == E4M3:
        y = to_grid(x, 4, -9)
        return math.copysign(min(abs(y), 448.0), y) if y == y else y
    if form == E5M2:
        y = to_grid(x, 3, -16)
        return math.copysign(min(abs(y), 57344.0), y) if y == y else y
    return x


@inner
def fused(a: float, b: float, c: float) -> float:
    """``a * b + c`` rounded to a float64 once.

    S. Boldo and G. Melquiond, *Emulation of FMA and correctly rounded sums*, IEEE
    Trans. Computers 2008, figure 5, with T. Dekker's product.
    """
    p = a * b
    s = p + c
    if not math.isfinite(s) or abs(p) < 1e-280 or abs(a) > 1e140 or abs(b) > 1e140:
        return s
    t = 134217729.0 * a
    ah = t - (t - a)
    al = a - ah
    t = 134217729.0 * b
    bh = t - (t - b)
    bl = b - bh
    ul = ((ah * bh - p) + ah * bl + al * bh) + al * bl
    th = c + ul
    z = th - c
    tl = (c - (th - z)) + (ul - z)
    vh = p + th
    z = vh - p
    vl = (p - (vh - z)) + (th - z)
    return vh + odd_sum(tl, vl)


@inner
def odd_sum(a: float, b: float) -> float:
    """The sum, cut, with its last bit set where something was lost."""
    s = a + b
    z = s - a
    lost = (a - (s - z)) + (b - z)
    if lost != 0.0 and math.isfinite(s):
        m, _ = math.frexp(s)
        if (int(abs(m) * 9007199254740992.0) & 1) == 0:
            away = (lost > 0.0) == (s > 0.0)
            s = float(np.nextafter(s, s * 2.0 if away else 0.0))
    return s


@apart
def fused_to(form: int, a: float, b: float, c: float) -> float:
    """``a * b + c`` rounded once, in a format."""
    if form == F32 or form == F16 or form == BF16:
        # The product of two is exact.
        return narrow(odd_sum(a * b, c), form)
    return fused(a, b, c)
