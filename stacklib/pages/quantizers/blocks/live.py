"""A block of 32 numbers, live: its scale under four rules, and what each loses."""

from __future__ import annotations

import math
import random
from typing import Any

from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, axis, band, chart, line, places
from stacklib.plots.spec import readout
from stacklib.quantizers import Format

BLOCK = 32
ELEMENTS = ("e2m1", "e3m0", "e2m3", "e3m2", "e4m3fn", "e5m2")
RULES = ("floor", "even", "rceil", "ceil")
SHAPES = ("normal", "laplace")


def controls() -> list[dict[str, Any]]:
    """Element, rule, and the block: whose numbers, how large, which draw."""
    sizes = [round(2 ** (k / 8), 3) for k in range(9)]
    return [
        choices.select("element", "Element", [[e, e] for e in ELEMENTS], "e2m1"),
        choices.select("rounding", "Scale", [[r, r] for r in RULES], "floor"),
        choices.select("shape", "Numbers", [[s, s] for s in SHAPES], "normal"),
        choices.slider("size", "Standard deviation", sizes, 1.0),
        choices.slider("draw", "Draw", range(1, 21), 14),
    ]


def block(shape: str, size: float, draw: int) -> list[float]:
    """Numbers that share a scale."""
    seeded = random.Random(draw)
    if shape == "normal":
        return [size * seeded.gauss(0, 1) for _ in range(BLOCK)]
    ends = [seeded.random() - 0.5 for _ in range(BLOCK)]
    width = size / math.sqrt(2)
    return [-width * math.copysign(math.log(1 - 2 * abs(e)), e) for e in ends]


def power_of(largest: float, element: str, rounding: str) -> int:
    """Exponent of the scale of a block with this largest magnitude."""
    form = Format(element)
    part, power = math.frexp(largest)  # part from a half to below one
    top = math.frexp(form.largest)[1] - 1
    if rounding == "rceil":
        share, found = math.frexp(largest / form.largest)
        return found - (share == 0.5)
    if rounding == "even":
        digits = form.row.significand
        power += math.floor(part * 2 ** (digits + 1) + 0.5) >= 2 ** (digits + 1)
    elif rounding == "ceil":
        power += part > 0.5
    return power - 1 - top


def stored(
    numbers: list[float], element: str, rounding: str
) -> tuple[float, list[float]]:
    """The scale, and the numbers as they come back."""
    form = Format(element)
    scale = 2.0 ** power_of(max(map(abs, numbers)), element, rounding)
    ends = form.largest
    clipped = [max(-ends, min(ends, x / scale)) for x in numbers]
    return scale, [scale * form.decode(form.encode(x)) for x in clipped]


def error(numbers: list[float], found: list[float]) -> float:
    """Root of the squared error over that of the squares."""
    off = sum((a - b) ** 2 for a, b in zip(numbers, found, strict=True))
    return math.sqrt(off / sum(x * x for x in numbers))


def explore(*, element: str, rounding: str, shape: str, size: float, draw: int) -> Spec:
    """Magnitudes of a block, largest first, given and stored."""
    numbers = sorted(block(shape, size, draw), key=abs, reverse=True)
    scale, found = stored(numbers, element, rounding)
    lost = {r: error(numbers, stored(numbers, element, r)[1]) for r in RULES}
    best = min(lost, key=lambda r: lost[r])
    order = list(range(1, BLOCK + 1))
    end = scale * Format(element).largest
    top = 1.15 * max(abs(numbers[0]), end)
    told = "cuts off the largest" if abs(numbers[0]) > end else "reaches the largest"
    said = [
        readout(r, f"Error by {r}", counted(lost[r], r), "share", unit="%")
        for r in RULES
    ]
    return chart(
        f"A scale of {scale:g} by {rounding} {told}; {best} loses least here.",
        x=axis("Numbers of the block, largest first"),
        y=axis("Magnitude", limits=[0, top]),
        marks=[
            band(f"beyond {element}", "impossible", y=[end, top]),
            line(order, list(map(abs, numbers)), "given", "simulated", at="key"),
            places(order, list(map(abs, found)), "stored", "simulated", at="key"),
        ],
        readouts=[readout("scale", "Scale", counted(scale, "scale")), *said],
    )
