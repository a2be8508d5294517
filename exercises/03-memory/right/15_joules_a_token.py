# ---- quantities: joules a bit, and units that cancel
from stacklib.quantity import Quantity

EACH = Quantity(3.9, "pJ/bit")


def read_energy():
    return Quantity(2 * 70.6e9, "B").to("bit") * EACH


def read_power():
    return Quantity(3.35, "TB/s").to("bit/s") * EACH


def share_of_power():
    return read_power() / Quantity(700, "W")


def mean_latency():
    waits = Quantity(15, "ns") * 2 + Quantity(134, "ns") + Quantity(338, "ns")
    return waits / 4


# ---- counted: four loads, and decimals
from decimal import Decimal
from statistics import fmean


def read_energy():
    bits = 16 * 70_600_000_000
    return bits * Decimal("3.9e-12")


def read_power():
    tokens_a_second = Decimal("3.35e12") / 2 / 70_600_000_000
    return read_energy() * tokens_a_second


def share_of_power():
    return read_power() / Decimal(700)


def mean_latency():
    return fmean([15, 15, 134, 338])
