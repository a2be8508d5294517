# diagnosis: the share is the other way round.
def shifted():
    return 5


def one_field():
    return 24


def column():
    return 32


def used():
    return (32 * one_field()) / (32 * 4)
