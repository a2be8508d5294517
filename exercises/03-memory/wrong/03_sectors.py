# ---- aligned: Both ends stick out of a sector now.
def shifted():
    return (31 * 4) // 32 + 1


# ---- lines: You counted lines of 128 bytes.
def one_field():
    return (31 * 24) // 128 + 1


def used():
    return 32 * 4 / (32 * 24)


# ---- no_sharing: Lanes 24 bytes apart are less than a sector apart: some share one.
def one_field():
    return len(range(0, 32 * 24, 24))


# ---- reciprocal: the share is the other way round.
def used():
    return (32 * one_field()) / (32 * 4)
