# diagnosis: That is for a GiB
def area(cell, efficiency):
    return 8e9 * cell * 1e-6 / efficiency


def dollars(cell, efficiency, wafer, diameter):
    bits = 8 * 2**30
    return bits * cell * 1e-6 / efficiency / (pi / 4 * diameter**2) * wafer


def efficiency_of(cell, megabits, die):
    return megabits * 2**20 * cell * 1e-6 / die
