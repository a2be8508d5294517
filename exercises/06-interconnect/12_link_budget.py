"""Spend the light.

level: derive

Light comes from a laser, passes a modulator, connectors and a fibre, and falls on a
photodiode. Powers are in dBm: suppose 0 dBm for 1 mW, so 10 dBm is 10 mW. Losses are in
dB.

- `received(sent, losses)`: the power that arrives, in dBm. `sent` is in dBm, `losses`
  a list of dB.
- `lane_oma(mean, extinction)`: the optical modulation amplitude in **mW**: the power
  of the highest level less that of the lowest. `mean` is the mean power in mW of
  levels that lie equally far apart and are sent equally often; `extinction` is the
  highest over the lowest, a ratio and not dB.
- `needed(noise, responsivity, reach, levels)`: the least OMA in **mW**. Suppose that
  the receiver's noise is `noise` microamperes (rms), that the photodiode makes
  `responsivity` amperes of a watt, and that a threshold has to lie `reach` deviations
  of the noise from the levels at both sides of it. `levels` is 2 for NRZ, 4 for PAM-4.

hint: Between four levels lie three distances, with a threshold in the middle of each.
"""

import math

from stacklib.grading import expect

# ---- your answer ----


def received(sent, losses):
    """dBm at the end of the way."""
    return sent - sum(losses)


def lane_oma(mean, extinction):
    """OMA in mW of a mean power in mW."""
    lowest = 2 * mean / (1 + extinction)
    return (extinction - 1) * lowest


def needed(noise, responsivity, reach, levels):
    """The least OMA in mW."""
    return 2 * (levels - 1) * reach * noise / responsivity / 1000


# ---- tests ----

WAYS = [
    {"sent": 1.2, "losses": [3.0]},
    {"sent": 10.0, "losses": [1.5, 5.0, 1.5, 0.5, 0.5, 0.25]},
    {"sent": -2.0, "losses": []},
    {"sent": 0.0, "losses": [10.0]},
]
SENT = [
    {"mean": 1.0, "extinction": 3.0},
    {"mean": 0.5, "extinction": 2.0},
    {"mean": 2.0, "extinction": 10.0},
    {"mean": 1.0, "extinction": 1.25},
]
TAKEN = [
    {"noise": 3.0, "responsivity": 0.8, "reach": 3.5, "levels": 4},
    {"noise": 3.0, "responsivity": 0.8, "reach": 3.5, "levels": 2},
    {"noise": 1.5, "responsivity": 1.0, "reach": 7.0, "levels": 2},
    {"noise": 5.0, "responsivity": 0.5, "reach": 2.0, "levels": 4},
]


def product(sent, losses):
    """In milliwatts, part after part."""
    power = 10 ** (sent / 10)
    for loss in losses:
        power *= 10 ** (-loss / 10)
    return 10 * math.log10(power)


def of_levels(mean, extinction, levels=4):
    """By the levels themselves: the lowest is one unit."""
    each = [1 + (extinction - 1) * n / (levels - 1) for n in range(levels)]
    unit = mean * levels / sum(each)
    return unit * (each[-1] - each[0])


def by_steps(noise, responsivity, reach, levels):
    """From the current of one step to the power of all."""
    step = 2 * reach * noise * 1e-6
    return step * (levels - 1) / responsivity * 1e3


def test_received():
    # Moved up, so that a relative comparison has no number near zero.
    expect.function_matches(
        lambda sent, losses: 100 + expect.read(received(sent, losses)),
        lambda sent, losses: 100 + product(sent, losses),
        WAYS,
        rel=1e-6,
        mistakes={
            "Losses take away: subtract them.": (
                lambda sent, losses: 100 + sent + sum(losses)
            ),
            "Decibels add up; what is multiplied are the shares they stand for.": (
                lambda sent, losses: 100 + sent - math.prod(losses)
            ),
            "Of several losses all count, not the largest.": (
                lambda sent, losses: 100 + sent - max(losses, default=0)
            ),
        },
    )


def test_lane_oma():
    expect.function_matches(
        lane_oma,
        of_levels,
        SENT,
        rel=1e-6,
        mistakes={
            "That is half of it. The mean lies in the middle between highest and "
            "lowest.": lambda mean, extinction: of_levels(mean, extinction) / 2,
            "You took the mean for the highest level.": (
                lambda mean, extinction: mean * (1 - 1 / extinction)
            ),
            "You took the mean for the lowest level.": (
                lambda mean, extinction: mean * (extinction - 1)
            ),
            "That is all the light there is: the lowest level is not dark.": (
                lambda mean, extinction: 2 * mean
            ),
        },
    )


def test_needed():
    expect.function_matches(
        needed,
        by_steps,
        TAKEN,
        rel=1e-6,
        mistakes={
            "A threshold lies in the middle between two levels: they are twice its "
            "reach apart.": lambda **case: by_steps(**case) / 2,
            "That is one step. The OMA goes from the lowest level to the highest.": (
                lambda **case: by_steps(**{**case, "levels": 2})
            ),
            "Four levels have three steps between them, not four.": (
                lambda **case: by_steps(**{**case, "levels": case["levels"] + 1})
            ),
            "The responsivity makes a current of a power: for the power, divide by "
            "it.": lambda **case: by_steps(**case) * case["responsivity"] ** 2,
        },
    )


def test_put_together():
    """A laser of 10 dBm, 9 dB to the fibre, 3 dB of way: is there enough light?"""
    arrives = lane_oma(10 ** (expect.read(received(10, [9, 3])) / 10), 3.0)
    least = needed(3.0, 0.8, 3.41, 4)
    left = 10 * math.log10(expect.read(arrives) / expect.read(least))
    expect.reading("left over at the receiver", f"{left:.2f} dB")
    told = 10 * math.log10(
        of_levels(10**-0.2, 3.0) / by_steps(3.0, 0.8, 3.41, 4),
    )
    expect.number(left, told, rel=1e-4)
