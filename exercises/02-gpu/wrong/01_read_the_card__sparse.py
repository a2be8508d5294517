# diagnosis: The sparse rate counts products that nobody does.
def memory():
    return 24564 * 2**20 / 1e9


def bandwidth():
    return 384 * 2 * 10251e6 / 8 / 1e9


def copy_rate():
    return 8 * 8e9 * 128 / 130 / 8 / 1e9


def ridge():
    return 330e12 / (bandwidth() * 1e9)
