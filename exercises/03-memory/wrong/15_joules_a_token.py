# ---- bytes_for_bits: An energy a bit wants bits: a byte has eight.
def read_energy():
    return 70.6e9 * 2 * 3.9e-12


def read_power():
    return 3.35e12 * 3.9e-12


# ---- lookups_twice: which they hold already
def mean_latency():
    return 15 + 0.5 * (134 + 0.5 * 338)


# ---- one_byte: A bf16 weight has two bytes.
def read_energy():
    return 70.6e9 * 8 * 3.9e-12


# ---- percent: a percentage where a fraction is asked for
def share_of_power():
    return 100 * read_power() / 700
