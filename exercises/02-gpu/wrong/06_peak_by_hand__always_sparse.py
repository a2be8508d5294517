# diagnosis: Sparsity doubles the rate only where `sparse` says so.
def peak(units, cores, macs, clock, sparse):
    return units * cores * macs * 4 * clock


def macs_of_a_unit(rate, units, clock):
    return rate / 2 / units / clock


def used(blocks, units):
    return blocks / (-(-blocks // units) * units)
