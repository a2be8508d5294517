# diagnosis: which they hold already
def read_energy():
    return 70.6e9 * 2 * 8 * 3.9e-12


def read_power():
    return 3.35e12 * 8 * 3.9e-12


def share_of_power():
    return read_power() / 700


def mean_latency():
    return 15 + 0.5 * (134 + 0.5 * 338)
