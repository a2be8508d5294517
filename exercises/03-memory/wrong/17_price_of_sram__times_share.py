# diagnosis: You multiplied by the share that is cells
def area(cell, efficiency):
    return 8e9 * cell * 1e-6 * efficiency


def dollars(cell, efficiency, wafer, diameter):
    return area(cell, efficiency) / (pi / 4 * diameter**2) * wafer


def efficiency_of(cell, megabits, die):
    return megabits * 2**20 * cell * 1e-6 / die
