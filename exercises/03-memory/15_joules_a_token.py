"""Joules a token, by hand.

level: estimate

Two H100s hold Llama-3-70B in bf16 and decode one token after another. Work out what
reading its weights costs, in energy and in time.

From the model's card: 70.6 billion weights, two bytes each. From the data sheet of
H100 SXM: 3.35 TB/s between memory and chip, 700 W of design power. According to
O'Connor's paper a bit from HBM2 takes 3.9 pJ; suppose that HBM3 takes the same.

Then the other cost of distance. Suppose that half of the loads are served by shared
memory after 15 ns, that half of the rest are served by the L2 after 134 ns, and that
all others go to HBM and take 338 ns.

Return plain numbers in the unit that each function names. Within a twentieth of the
exact number counts as right.

hint: An energy a bit wants bits: eight to the byte. Watts are joules a second, so the
power of reading is the bits a second times the joules a bit. The times of the levels
are from the question to the answer: each load takes one of the three, so weigh them
by how many loads each serves.
"""

from stacklib import hardware, models
from stacklib.grading import expect
from stacklib.memory.ladder.energy import energy_of
from stacklib.memory.tiers.tier import average_access_time
from stacklib.quantity import Quantity

# ---- your answer ----


def read_energy():
    """Joules to read every weight from HBM once."""
    return 70.6e9 * 2 * 8 * 3.9e-12


def read_power():
    """Watts that one H100 spends on reading, at its full bandwidth."""
    return 3.35e12 * 8 * 3.9e-12


def share_of_power():
    """Share of the design power that is, from 0 to 1."""
    return read_power() / 700


def mean_latency():
    """Nanoseconds of a load on average."""
    return 0.5 * 15 + 0.25 * 134 + 0.25 * 338


# ---- tests ----

h100 = hardware.get("h100-sxm")
weights = models.get("llama-3-70b").weight_bytes("bf16")
each = hardware.memory("hbm2").energy
power = energy_of(h100.memory_bandwidth.across(1), each)


def test_read_energy():
    expect.number(
        read_energy(),
        energy_of(weights, each),
        unit="J",
        rel=0.05,
        mistakes={
            "A bf16 weight has two bytes.": energy_of(weights / 2, each),
            "An energy a bit wants bits: a byte has eight.": (
                energy_of(weights / 8, each)
            ),
        },
    )


def test_read_power():
    expect.number(
        read_power(),
        power,
        unit="W",
        rel=0.05,
        mistakes={
            "One H100 is asked for, not both.": 2 * power,
            "An energy a bit wants bits: a byte has eight.": power / 8,
        },
    )


def test_share_of_power():
    expect.number(share_of_power(), power / h100.tdp.across(1), rel=0.05)


def test_mean_latency():
    served, hits = [15.0, 134.0, 338.0], [0.5, 0.5]
    plain = average_access_time(served, hits)
    expect.number(
        mean_latency(),
        Quantity(plain, "ns"),
        unit="ns",
        rel=0.05,
        mistakes={
            "These times are from the question to the answer. You added the lookups "
            "of the nearer levels to them, which they hold already.": Quantity(
                15 + 0.5 * (134 + 0.5 * 338), "ns"
            ),
            "Half of the rest is a quarter of all.": Quantity(
                0.5 * 15 + 0.5 * 134 + 0.5 * 338, "ns"
            ),
        },
    )
