"""Ranges that a claim states: ``28-39 cycles``.

A claim of two ends is held to both. Which numbers those are is read from its own
words: the pair, joined by *to* or a dash, that has the claim's value as an end. "From
50 to 126" is a step between states and no range; nor is what stands in brackets.
"""

from __future__ import annotations

import re

SPELLED = "one two three four five six seven eight nine ten".split()
NUMBER = rf"(\d[\d,]*(?:\.\d+)?(?:e-?\d+)?|\b(?:{'|'.join(SPELLED)})\b)"
PAIR = re.compile(rf"(?<![\d.,/-]){NUMBER}\s*(?:-|–|to)\s*{NUMBER}(?![\d/])")
BRACKETS = re.compile(r"\([^()]*\)")
STEP = re.compile(r"\bfrom\s+$", re.IGNORECASE)


def number(text: str) -> float:
    """A number as a sentence writes it: in digits, or in a word up to ten."""
    word = text.lower()
    return float(SPELLED.index(word) + 1 if word in SPELLED else text.replace(",", ""))


def stated(text: str, value: float) -> tuple[float, float] | None:
    """The two ends that a text gives, of which a value is one; None where none is."""
    text = BRACKETS.sub("", text)
    pairs = [
        (number(found[1]), number(found[2]))
        for found in PAIR.finditer(text)
        if not STEP.search(text[: found.start()])
    ]
    held = (pair for pair in pairs if pair[0] < pair[1] and value in pair)
    return next(held, None)
