# ---- always_sparse: Sparsity doubles the rate only where `sparse` says so.
def peak(units, cores, macs, clock, sparse):
    return units * cores * macs * 4 * clock


# ---- flop_back: That is FLOP in a cycle; a multiply-add is two of them.
def macs_of_a_unit(rate, units, clock):
    return rate / units / clock


# ---- mac: You counted multiply-adds; each is two FLOP.
def peak(units, cores, macs, clock, sparse):
    return units * cores * macs * clock * (2 if sparse else 1)


# ---- no_tail: The last wave takes as long as a full one
def used(blocks, units):
    return min(1, blocks / units)


# ---- one_core: That is one core of each unit.
def peak(units, cores, macs, clock, sparse):
    return units * macs * 2 * clock * (2 if sparse else 1)
