"""One output of a tensor core in fractions: slow, obvious, on the standard library.

The rule is that of ``gpu.mma``, written a second time: the test holds the two together.
"""

from __future__ import annotations

import math
from fractions import Fraction

from stacklib.quantizers import Format

from ..issue.instructions import arithmetic


def dot_exactly(
    a: list[float],  # (k,) numbers of the format
    b: list[float],
    c: float = 0.0,
    *,
    dtype: str = "bf16",
    generation: str = "hopper",
) -> float:
    """One output of ``mma`` with an FP32 accumulator, in fractions: slow, obvious."""
    rule = arithmetic(generation, dtype)
    if len(a) != len(b):
        raise ValueError(f"a has {len(a)} numbers and b {len(b)}")
    least = 1 - Format(rule.dtype).row.bias
    total = Fraction(c)
    for start in range(0, len(a), rule.terms):
        addends = [(total, _field(total, -126))]
        part = slice(start, start + rule.terms)
        for x, y in zip(map(Fraction, a[part]), map(Fraction, b[part]), strict=True):
            addends.append((x * y, _field(x, least) + _field(y, least)))
        unit = Fraction(2) ** (max(power for _, power in addends) - rule.fraction)
        total = sum((math.trunc(x / unit) * unit for x, _ in addends), Fraction(0))
        power = _field(total, -126)
        if power > 127:
            return math.copysign(math.inf, total)
        last = Fraction(2) ** (power - rule.result)
        total = math.trunc(total / last) * last
    return float(total)


def _field(x: Fraction, least: int) -> int:
    """Exponent field of a number whose format's normal numbers begin at ``least``."""
    return max(_power(x), least) if x else -126  # a zero's, whatever the format


def _power(x: Fraction) -> int:
    """Exponent of the leading bit."""
    size = abs(x)
    power = size.numerator.bit_length() - size.denominator.bit_length()
    return power if Fraction(2) ** power <= size else power - 1
