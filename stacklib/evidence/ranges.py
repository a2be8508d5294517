"""Ranges that a claim states: ``28-39 cycles``.

A claim of two ends is held to both. Which numbers those are is read from its own
words: the pair, joined by *to* or a dash, that has the claim's value as an end. "From
50 to 126" is a step between states and no range; nor is what stands in brackets.
"""

from __future__ import annotations

import re

NUMBER = r"(\d[\d,]*(?:\.\d+)?(?:e-?\d+)?)"
PAIR = re.compile(rf"(?<![\d.,/-]){NUMBER}\s*(?:-|–|to)\s*{NUMBER}(?![\d/])")
BRACKETS = re.compile(r"\([^()]*\)")
STEP = re.compile(r"\bfrom\s+$", re.IGNORECASE)


def stated(text: str, value: float) -> tuple[float, float] | None:
    """The two ends that a text gives, of which a value is one; None where none is."""
    text = BRACKETS.sub("", text)
    pairs = [
        (float(found[1].replace(",", "")), float(found[2].replace(",", "")))
        for found in PAIR.finditer(text)
        if not STEP.search(text[: found.start()])
    ]
    held = (pair for pair in pairs if pair[0] < pair[1] and value in pair)
    return next(held, None)
