# diagnosis: That is one core of each unit.
def peak(units, cores, macs, clock, sparse):
    return units * macs * 2 * clock * (2 if sparse else 1)


def macs_of_a_unit(rate, units, clock):
    return rate / 2 / units / clock


def used(blocks, units):
    return blocks / (-(-blocks // units) * units)
