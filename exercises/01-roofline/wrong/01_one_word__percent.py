# diagnosis: a percentage where a fraction is asked for
def bytes_per_chip():
    return 2 * 70 / 2


def reading_time():
    return bytes_per_chip() / 3350 * 1e3


def arithmetic_time():
    return 70e9 / 989e12 * 1e6


def waiting_share():
    return 100 * (1 - arithmetic_time() / (1e3 * reading_time()))
