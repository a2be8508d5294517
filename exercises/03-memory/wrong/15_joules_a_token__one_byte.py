# diagnosis: A bf16 weight has two bytes.
def read_energy():
    return 70.6e9 * 8 * 3.9e-12


def read_power():
    return 3.35e12 * 8 * 3.9e-12


def share_of_power():
    return read_power() / 700


def mean_latency():
    return 0.5 * 15 + 0.25 * 134 + 0.25 * 338
