# diagnosis: a percentage where a fraction is asked for
def read_energy():
    return 70.6e9 * 2 * 8 * 3.9e-12


def read_power():
    return 3.35e12 * 8 * 3.9e-12


def share_of_power():
    return 100 * read_power() / 700


def mean_latency():
    return 0.5 * 15 + 0.25 * 134 + 0.25 * 338
