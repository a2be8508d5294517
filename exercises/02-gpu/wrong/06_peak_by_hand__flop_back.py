# diagnosis: That is FLOP in a cycle; a multiply-add is two of them.
def peak(units, cores, macs, clock, sparse):
    return units * cores * macs * 2 * clock * (2 if sparse else 1)


def macs_of_a_unit(rate, units, clock):
    return rate / units / clock


def used(blocks, units):
    return blocks / (-(-blocks // units) * units)
