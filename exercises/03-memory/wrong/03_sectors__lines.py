# diagnosis: You counted lines of 128 bytes.
def shifted():
    return 5


def one_field():
    return 6


def column():
    return 32


def used():
    return 32 * 4 / (32 * 24)
