# diagnosis: That is the link at its maximum; look at what is current.
def memory():
    return 24564 * 2**20 / 1e9


def bandwidth():
    return 384 * 2 * 10251e6 / 8 / 1e9


def copy_rate():
    return 16 * 16e9 * 128 / 130 / 8 / 1e9


def ridge():
    return 330e12 / 2 / (bandwidth() * 1e9)
