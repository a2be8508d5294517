"""What a wrong number says about the way to it, told by its ratio to the right one.

A ratio is a fact, and stated as one; what may have led to it is put as a question, and
only where the unit of the answer admits it. Bits are taken for bytes in a number of
bytes, a MAC for two FLOP in a number of FLOP; a count of misses is just twice as large.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from stacklib.quantity.units import Unit, parse

# Units that nobody writes with a prefix.
BY_ITSELF = re.compile(r"(USD|cycle|token|min|h|day|year|%|[mµ]?m2)(/.*)?")
LADDER = {1: "one step", 2: "two steps", 3: "three steps", 4: "four steps"}
# The step from a decimal to a binary prefix, by the prefix.
BINARY = {"k": 1, "M": 2, "G": 3, "T": 4, "P": 5}
MAC = "a MAC is two FLOP: is each counted so, once?"
WAYS = "is one direction asked for, or both?"


def slip(value: float, expected: float, unit: str = "", rel: float = 0.01) -> str:
    """The slip that leads from ``expected`` to ``value``; empty where none is known.

    ``rel`` is how exact an answer has to be: a ratio is read no finer and, above
    a fiftieth, no coarser.
    """
    if not value or not expected:
        return ""
    ratio, reach = value / expected, max(1e-9, min(rel, 0.02))
    if math.isclose(ratio, -1, rel_tol=reach):
        return "the sign is turned round"
    for factor, sentence in admitted(parse(unit), expected):
        if math.isclose(ratio, factor, rel_tol=reach):
            return sentence
    if math.isclose(ratio, between_prefixes(unit), rel_tol=min(0.01, 2 * reach)):
        return binary_slip(ratio, unit)
    if math.isclose(1 / ratio, between_prefixes(unit), rel_tol=min(0.01, 2 * reach)):
        return binary_slip(ratio, unit)
    return upside_down(value * expected, expected, reach) if not whole(expected) else ""


def admitted(unit: Unit, expected: float) -> Iterator[tuple[float, str]]:
    """The factors that an answer of this unit may be off by, and what is said."""
    data = unit.dimension("B") or unit.dimension("bit")
    if unit.dimension("FLOP"):
        yield 2.0, f"twice the answer; {MAC}"
        yield 0.5, f"half the answer; {MAC}"
    elif data and unit.dimension("s") == -1:
        yield 2.0, f"twice the answer; {WAYS}"
        yield 0.5, f"half the answer; {WAYS}"
    if data:
        yield 8.0, "8 times the answer; a byte is eight bits"
        yield 1 / 8, "an eighth of the answer; a byte is eight bits"
    if unit.symbol == "%":
        yield 0.01, "a hundredth of the answer; is that a fraction, not a percentage?"
    elif not unit.dims and 0 < expected < 1:
        yield 100.0, "100 times the answer; a percentage where a fraction is asked for?"
    if unit.dims and not BY_ITSELF.fullmatch(unit.symbol):
        yield from prefixes()


def prefixes() -> Iterator[tuple[float, str]]:
    """Steps of the ladder k, M, G, T, too many and too few."""
    for steps, words in LADDER.items():
        ladder = f"{words} of the prefix ladder (k, M, G, T)"
        yield 1e3**steps, f"1e{3 * steps} times the answer; {ladder} too many?"
        yield 1e-3**steps, f"1e-{3 * steps} of the answer; {ladder} too few?"


def between_prefixes(unit: str) -> float:
    """GiB over GB, for a unit with a prefix before bytes or bits; else nothing."""
    prefixed = len(unit) > 1 and unit[0] in BINARY and unit[1:4] in ("B", "B/s", "bit")
    return 1.024 ** BINARY[unit[0]] if prefixed else math.nan


def binary_slip(ratio: float, unit: str) -> str:
    """What is said of a number that was divided by the other prefix's bytes."""
    how, other = apart(ratio), f"{unit[0]}i{unit[1:]}"
    return f"{how}, as {other} and {unit} are apart; a {unit[:2]} is a power of ten"


def upside_down(product: float, expected: float, reach: float) -> str:
    """What is said of the reciprocal, where that is another number."""
    if math.isclose(product, 1, rel_tol=reach) and not math.isclose(
        abs(expected), 1, rel_tol=3 * reach
    ):
        return "the reciprocal of the answer; is the division upside down?"
    return ""


def whole(value: float) -> bool:
    """Whether a number is whole, as a count is."""
    return float(value).is_integer()


def distance(value: float, expected: float, rel: float = 0.01) -> str:
    """How far off a number is that no known slip explains."""
    off = abs(value - expected)
    if whole(value) and whole(expected) and off == 1 and 2 <= expected < 1e6:
        return "one too many" if value > expected else "one too few"
    if value == 0 or expected == 0 or value * expected < 0:
        return f"not the answer: off by {off:.3g}"
    ratio = value / expected
    for factor, words in ((2, "twice the answer"), (0.5, "half the answer")):
        if math.isclose(ratio, factor, rel_tol=min(rel, 0.02)):
            exact = math.isclose(ratio, factor, rel_tol=1e-9)
            return words if exact else f"about {words}"
    if 0.5 < ratio < 2:
        return apart(ratio)
    word = "large" if ratio > 1 else "small"
    ratio = max(ratio, 1 / ratio)
    if ratio >= 1e4:
        return f"too {word} by a factor of about 1e{math.log10(ratio):.0f}"
    number = f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"
    return f"too {word} by a factor of about {number}"


def apart(ratio: float) -> str:
    """A ratio near one as a percentage."""
    percent = 100 * abs(ratio - 1)
    number = f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"
    return f"{number} % too {'large' if ratio > 1 else 'small'}"
