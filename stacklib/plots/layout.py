"""Where labels go so that none lies on another; which ticks an axis shows."""

from __future__ import annotations

import math
from collections.abc import Sequence

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def spread(wanted: Sequence[float], gap: float, lo: float, hi: float) -> list[float]:
    """Positions at least ``gap`` apart, as near to the wanted ones as can be.

    Labels that would touch form a block; a block sits at the mean of what its
    members want (least squares). Results lie in [lo, hi] where they fit.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[list[float]] = []  # [sum of wanted - offset, members]
    for k, i in enumerate(order):
        blocks.append([wanted[i] - k * gap, 1])
        while len(blocks) > 1 and _mean(blocks[-2]) > _mean(blocks[-1]):
            total, members = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += members
    base = [_mean(block) for block in blocks for _ in range(int(block[1]))]
    top = hi - (len(wanted) - 1) * gap
    placed = [0.0] * len(wanted)
    for k, i in enumerate(order):
        placed[i] = max(lo, min(base[k], top)) + k * gap
    return placed


def _mean(block: list[float]) -> float:
    return block[0] / block[1]


def rows(spans: Sequence[tuple[float, float]]) -> list[int]:
    """Row (0 first) for each span, so that spans of one row do not touch."""
    taken: list[float] = []  # right end of the last span in each row
    placed = [0] * len(spans)
    for i in sorted(range(len(spans)), key=lambda i: spans[i]):
        left, right = spans[i]
        free = [row for row, end in enumerate(taken) if end <= left]
        row = free[0] if free else len(taken)
        taken[row : row + 1] = [right]
        placed[i] = row
    return placed


def log_ticks(lo: float, hi: float, most: int = 7) -> list[float]:
    """Decades, ``most`` at most, or 1-2-5 steps where an axis spans less than two."""
    first, last = math.floor(math.log10(lo)), math.ceil(math.log10(hi))
    decades = math.log10(hi / lo)
    step = max(1, math.ceil(decades / (most - 1)))
    heads = (1,) if decades >= 2 else (1, 2, 5)
    ticks = [h * 10.0**e for e in range(first, last + 1, step) for h in heads]
    return [t for t in ticks if lo * (1 - 1e-9) <= t <= hi * (1 + 1e-9)]


BINARY = ("B", "KiB", "MiB", "GiB", "TiB")


def byte_ticks(lo: float, hi: float) -> list[float]:
    """Powers of two of bytes, at most six of them."""
    first, last = math.ceil(math.log2(lo) - 1e-9), math.floor(math.log2(hi) + 1e-9)
    step = next(s for s in (1, 2, 4, 5, 10, 20) if (last - first) / s <= 5)
    return [2.0**e for e in range(-(-first // step) * step, last + 1, step)]


def byte_text(value: float) -> str:
    """``16 KiB``, ``1 MiB``: bytes as caches are built."""
    step = max(0, min(int(math.log2(max(value, 1)) // 10), len(BINARY) - 1))
    return f"{value / 1024**step:.4g} {BINARY[step]}"


def raised(base: int, exponent: int) -> str:
    """``2⁻³``: a power as it is written."""
    return str(base) + str(exponent).translate(_SUPERSCRIPT)


def tick_text(value: float) -> str:
    """``0.1``, ``1,000``, ``10⁵``: no exponent where a reader needs none."""
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)) + 1e-9)
    if -3 <= exponent < 5:
        if exponent >= 2:
            return f"{value:,.0f}"
        return f"{value:,.{max(0, 2 - exponent)}f}".rstrip("0").rstrip(".")
    head = f"{value / 10.0**exponent:.3g}"
    power = raised(10, exponent)
    return power if head == "1" else f"{head}×{power}"
