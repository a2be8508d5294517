# diagnosis: The last wave takes as long as a full one
def peak(units, cores, macs, clock, sparse):
    return units * cores * macs * 2 * clock * (2 if sparse else 1)


def macs_of_a_unit(rate, units, clock):
    return rate / 2 / units / clock


def used(blocks, units):
    return min(1, blocks / units)
