"""Errors of a receiver: levels told apart in Gaussian noise, and what a code mends.

A lane with ``levels`` amplitudes sends log2(levels) bits a symbol: NRZ has two, PAM-4
four. The levels lie OMA / (levels - 1) apart, a photodiode makes ``responsivity``
amperes of a watt, and the amplifier behind it (a *transimpedance amplifier*) adds a
noise current. With half the distance ``d`` in units of the noise, a level is taken for
a neighbour with probability Q(d), Q being the upper tail of the normal distribution; an
inner level has two neighbours, so that 2 (1 - 1 / levels) Q(d) of the symbols are
wrong. *Gray* labels differ in one bit from level to level. ``bit_errors`` counts jumps
over more than one level, too; ``run_symbols`` draws the noise.

Left out: distortion by neighbouring symbols, which an equalizer mends in part; noise
that grows with light; timing.
"""

from __future__ import annotations

import math
import random

from stacklib.quantity.bounds import above_zero, at_least, whole

from .budget import dbm, watts

LEVELS = (2, 4, 8)
# RS(544, 514) of 10-bit symbols, as Ethernet and InfiniBand have it: IEEE 802.3,
# clause 91 and 119: 15 symbols of a codeword can be mended.
CODEWORD, MENDED, SYMBOL = 544, 15, 10


def tail(x: float) -> float:
    """Q: how likely a normal number lies more than x deviations above its mean."""
    return 0.5 * math.erfc(x / math.sqrt(2))


def reach(oma: float, noise: float, responsivity: float, levels: int = 4) -> float:
    """Half the distance of two levels, in deviations of the noise.

    - ``oma``: dBm; ``noise``: amperes, rms, at the amplifier's input;
      ``responsivity``: A/W.
    """
    above_zero(noise=noise, responsivity=responsivity)
    _levels(levels)
    return watts(oma) * responsivity / (2 * (levels - 1) * noise)


def symbol_errors(reach: float, levels: int = 4) -> float:
    """Share of symbols that are taken for another."""
    _levels(levels)
    return 2 * (1 - 1 / levels) * tail(reach)


def bit_errors(reach: float, levels: int = 4) -> float:
    """Share of bits that are wrong, Gray labels, jumps of any length counted."""
    _levels(levels)
    wrong = 0.0
    for sent in range(levels):
        for read in range(levels):
            # From the middle between read - 1 and read to that between read and next.
            low = -math.inf if read == 0 else (2 * (read - sent) - 1) * reach
            high = math.inf if read == levels - 1 else (2 * (read - sent) + 1) * reach
            share = tail(low) - tail(high)
            wrong += share * (gray(sent) ^ gray(read)).bit_count()
    return wrong / (levels * round(math.log2(levels)))


def gray(level: int) -> int:
    """The label of a level: neighbours differ in one bit."""
    return level ^ (level >> 1)


def needed_reach(errors: float, levels: int = 4) -> float:
    """Deviations at which so many bits are wrong, by halving an interval."""
    if not 0 < errors < 0.25:
        raise ValueError(f"errors = {errors!r}: a share of bits between 0 and 0.25")
    low, high = 0.0, 40.0
    for _ in range(200):
        middle = (low + high) / 2
        if bit_errors(middle, levels) > errors:
            low = middle
        else:
            high = middle
    return high


def sensitivity(
    errors: float, noise: float, responsivity: float, levels: int = 4
) -> float:
    """The least OMA, in dBm, with at most so many bits wrong before the code."""
    above_zero(noise=noise, responsivity=responsivity)
    far = needed_reach(errors, levels)
    return dbm(2 * (levels - 1) * far * noise / responsivity)


def codeword_errors(errors: float) -> float:
    """Share of codewords that the code cannot mend, errors independent.

    - ``errors``: share of bits wrong before it.
    """
    at_least(0, errors=errors)
    if errors > 1:
        raise ValueError(f"errors = {errors!r}: a share is at most one")
    bad = 1 - (1 - errors) ** SYMBOL
    if bad in (0, 1):
        return float(bad)
    return sum(
        math.exp(
            math.lgamma(CODEWORD + 1)
            - math.lgamma(n + 1)
            - math.lgamma(CODEWORD - n + 1)
            + n * math.log(bad)
            + (CODEWORD - n) * math.log1p(-bad)
        )
        for n in range(MENDED + 1, CODEWORD + 1)
    )


def run_symbols(
    symbols: int, reach: float, levels: int = 4, *, seed: int = 0
) -> tuple[int, int]:
    """Send symbols, add noise to each, decide: how many symbols and bits are wrong."""
    whole(symbols=symbols)
    _levels(levels)
    draw = random.Random(seed)
    wrong = bits = 0
    for _ in range(symbols):
        sent = draw.randrange(levels)
        seen = 2 * reach * sent + draw.gauss(0.0, 1.0)  # levels lie 2 reaches apart
        read = min(max(round(seen / (2 * reach)), 0), levels - 1)
        wrong += read != sent
        bits += (gray(sent) ^ gray(read)).bit_count()
    return wrong, bits


def _levels(levels: int) -> None:
    if levels not in LEVELS:
        raise ValueError(f"levels = {levels!r}: one of {', '.join(map(str, LEVELS))}")
