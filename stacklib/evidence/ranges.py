"""Ranges that a claim states, and where a value of ours lies: ``28-39 cycles``.

A claim of two ends is held to both. Which numbers those are is read from its own
words: the pair, joined by *to* or a dash, that has the claim's value as an end or
inside. "From 50 to 126" is a step between states and no range; nor is what stands in
brackets.
"""

from __future__ import annotations

import math
import re

TOLERANCE = 0.10  # beyond an end, as for a claim of one number
NUMBER = r"(\d[\d,]*(?:\.\d+)?)"
PAIR = re.compile(rf"(?<![\d.,/e-]){NUMBER}\s*(?:-|–|to)\s*{NUMBER}(?![\d/])")
BRACKETS = re.compile(r"\([^()]*\)")
STEP = re.compile(r"\bfrom\s+$", re.IGNORECASE)


def stated(text: str, value: float) -> tuple[float, float] | None:
    """The two ends that a text gives around a value; None where it gives none."""
    text = BRACKETS.sub("", text)
    pairs = [
        (float(found[1].replace(",", "")), float(found[2].replace(",", "")))
        for found in PAIR.finditer(text)
        if not STEP.search(text[: found.start()])
    ]
    pairs = [(low, high) for low, high in pairs if low < high]
    held = [pair for pair in pairs if value in pair]
    return next(iter(held or [p for p in pairs if p[0] < value < p[1]]), None)


def farthest(values: list[float], low: float, high: float) -> float:
    """The end of ours that leaves the claimed range most, over the end it leaves.

    One where every value lies inside: a single number is a range of no width.
    """
    below, above = min(values) / low, max(values) / high
    ends = min(below, 1.0), max(above, 1.0)
    return max(ends, key=lambda r: abs(math.log(r)) if r > 0 else math.inf)


def place(values: list[float], low: float, high: float) -> str:
    """``inside``, ``overlaps`` or ``outside``, a tenth beyond an end forgiven."""
    if abs(farthest(values, low, high) - 1) <= TOLERANCE + 1e-12:
        return "inside"
    met = max(values) >= low and min(values) <= high
    return "overlaps" if met else "outside"
