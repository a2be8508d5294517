"""The slips that turn a right derivation into a wrong number, told by their ratio.

A wrong number that is exactly 2, 8, 1000 or 1.074 times the right one says which
step went astray. Ratios far from one are matched loosely, because an estimate is
rounded; those within a few percent of one (GB for GiB) closely.
"""

from __future__ import annotations

import math

BOTH_WAYS = "a MAC is two FLOP, a link has two directions: count which is asked for"
BITS = "a byte is eight bits"
PREFIX = "one step of the prefix ladder (k, M, G, T)"

# value / expected -> sentence
SLIPS: tuple[tuple[float, str], ...] = (
    (-1.0, "the sign is turned round"),
    (2.0, f"twice the answer; {BOTH_WAYS}"),
    (0.5, f"half the answer; {BOTH_WAYS}"),
    (8.0, f"8 times the answer; {BITS}"),
    (1 / 8, f"an eighth of the answer; {BITS}"),
    (100.0, "100 times the answer; a percentage where a fraction is asked for"),
    (0.01, "a hundredth of the answer; a fraction where a percentage is asked for"),
    (1e3, f"1000 times the answer; {PREFIX} too many"),
    (1e-3, f"a thousandth of the answer; {PREFIX} too few"),
    (1e6, "a million times the answer; two prefix steps too many"),
    (1e-6, "a millionth of the answer; two prefix steps too few"),
    (1e9, "1e9 times the answer; three prefix steps too many"),
    (1e-9, "1e-9 of the answer; three prefix steps too few"),
    (1.024, "2.4 % too large: the step from kB to KiB"),
    (1 / 1.024, "2.4 % too small: the step from KiB to kB"),
    (1.024**2, "4.9 % too large: the step from MB to MiB"),
    (1 / 1.024**2, "4.9 % too small: the step from MiB to MB"),
    (1.024**3, "7.4 % too large: the step from GB to GiB"),
    (1 / 1.024**3, "7.4 % too small: the step from GiB to GB"),
    (1.024**4, "10 % too large: the step from TB to TiB"),
    (1 / 1.024**4, "10 % too small: the step from TiB to TB"),
)


def near(ratio: float, factor: float) -> bool:
    """Whether a ratio is this factor, as far as a rounded estimate can say."""
    subtle = 0.8 < factor < 1.25
    return abs(ratio / factor - 1) < (0.002 if subtle else 0.02)


def slip(value: float, expected: float) -> str | None:
    """The known slip that leads from ``expected`` to ``value``, or None."""
    if value == 0 or expected == 0:
        return None
    for factor, sentence in SLIPS:
        if near(value / expected, factor):
            return sentence
    if near(value * expected, 1.0) and not near(expected, 1.0):
        return "the reciprocal of the answer; the division is upside down"
    return None


def distance(value: float, expected: float) -> str:
    """How far off a number is that no known slip explains."""
    if value == 0 or expected == 0 or value * expected < 0:
        return f"not the answer: off by {abs(value - expected):.3g}"
    ratio = value / expected
    if ratio < 1:
        ratio, word = 1 / ratio, "small"
    else:
        word = "large"
    if ratio < 2:
        return f"{100 * (ratio - 1):.2g} % too {word}"
    digits = max(0, 1 - math.floor(math.log10(ratio)))
    return f"too {word} by a factor of about {ratio:.{digits}f}"
