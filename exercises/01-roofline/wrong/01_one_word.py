# ---- bits_for_bytes: 8 times the answer; a byte is eight bits
def bytes_per_chip():
    return 16 * 70 / 2


# ---- one_flop_a_weight: A multiply and an add are two FLOP
def arithmetic_time():
    return 70e9 / 2 / 989e12 * 1e6


# ---- percent: a percentage where a fraction is asked for
def waiting_share():
    return 100 * (1 - arithmetic_time() / (1e3 * reading_time()))


# ---- whole_model: One chip holds and reads half of the model.
def bytes_per_chip():
    return 2 * 70


def reading_time():
    return 2 * 70 / 2 / 3350 * 1e3
