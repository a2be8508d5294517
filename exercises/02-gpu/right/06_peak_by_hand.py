# ---- waves: blocks are handed out in waves, sums over cores
def peak(units, cores, macs, clock, sparse):
    a_core = macs + macs
    a_unit = sum(a_core for _ in range(cores))
    if sparse:
        a_unit += a_unit
    return a_unit * units * clock


def macs_of_a_unit(rate, units, clock):
    flop_a_cycle = rate / clock
    return flop_a_cycle / (units + units)


def used(blocks, units):
    left, time = blocks, 0
    while left > 0:
        left, time = left - units, time + 1
    return blocks / (time * units)


# ---- quantities: rates with units, and the waves from divmod
from stacklib.quantity import Quantity


def peak(units, cores, macs, clock, sparse):
    each = Quantity(units * cores * macs, "MAC/cycle").to("FLOP/cycle")
    dense = each * Quantity(clock, "Hz")
    return 2 * dense if sparse else dense


def macs_of_a_unit(rate, units, clock):
    chip = Quantity(rate, "FLOP/s") / Quantity(clock, "Hz")
    return (chip / units).si / 2


def used(blocks, units):
    full, rest = divmod(blocks, units)
    return blocks / units / (full + (rest > 0))
