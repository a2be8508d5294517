# ---- bits: You counted a cell for each byte
def area(cell, efficiency):
    return 1e9 * cell * 1e-6 / efficiency


# ---- bytes_again: Each byte of the die counted once
def efficiency_of(cell, megabits, die):
    return 8 * megabits * 2**20 * cell * 1e-6 / die


# ---- gib: That is for a GiB
def dollars(cell, efficiency, wafer, diameter):
    bits = 8 * 2**30
    return bits * cell * 1e-6 / efficiency / (pi / 4 * diameter**2) * wafer


# ---- radius: You took the diameter for the radius
def dollars(cell, efficiency, wafer, diameter):
    return area(cell, efficiency) / (pi * diameter**2) * wafer


# ---- thousand: You took 1,000 square micrometres for a square millimetre
def area(cell, efficiency):
    return 8e9 * cell / 1e3 / efficiency


# ---- times_share: You multiplied by the share that is cells
def area(cell, efficiency):
    return 8e9 * cell * 1e-6 * efficiency
