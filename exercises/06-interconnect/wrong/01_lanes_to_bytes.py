# ---- no_parity: The parity is missing
def share_of_data():
    return 256 / 257


def one_direction():
    return 300.0


# ---- no_header: The header bits are missing
def share_of_data():
    return 5120 / 5420


def one_direction():
    return 300.0


# ---- both_lanes: You counted the lanes of both directions
def one_direction():
    return 600.0


def in_print():
    return 600.0


def cliff():
    return 12.0


def milliseconds():
    return 57.27


# ---- before_code: the code takes a part
def one_direction():
    return 12 * 4 * 53.125 / 8


def in_print():
    return 600.0


def cliff():
    return 12.0


def milliseconds():
    return 57.27


# ---- half_print: The data sheet adds up both directions
def in_print():
    return one_direction()


# ---- mixed: count the same on both sides
def cliff():
    return in_print() / 25


# ---- bits: The port is sold in bits
def cliff():
    return one_direction() / 200


# ---- sum_time: the sum of both does not carry it
def milliseconds():
    return 16 * 2**30 / (in_print() * 1e9) * 1e3


# ---- giga: 16 GiB are more than 16 GB
def milliseconds():
    return 16e9 / (one_direction() * 1e9) * 1e3
