# diagnosis: One chip holds and reads half of the model.
def bytes_per_chip():
    return 2 * 70


def reading_time():
    return 2 * 70 / 2 / 3350 * 1e3


def arithmetic_time():
    return 70e9 / 989e12 * 1e6


def waiting_share():
    return 1 - arithmetic_time() / (1e3 * reading_time())
