# diagnosis: Lanes 24 bytes apart are less than a sector apart: some share one.
def shifted():
    return 5


def one_field():
    return 32


def column():
    return 32


def used():
    return 32 * 4 / (32 * one_field())
