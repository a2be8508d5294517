# diagnosis: Both ends stick out of a sector now.
def shifted():
    return 4


def one_field():
    return 24


def column():
    return 32


def used():
    return 32 * 4 / (32 * one_field())
