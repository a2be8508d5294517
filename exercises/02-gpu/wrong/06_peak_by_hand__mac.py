# diagnosis: You counted multiply-adds; each is two FLOP.
def peak(units, cores, macs, clock, sparse):
    return units * cores * macs * clock * (2 if sparse else 1)


def macs_of_a_unit(rate, units, clock):
    return rate / 2 / units / clock


def used(blocks, units):
    return blocks / (-(-blocks // units) * units)
