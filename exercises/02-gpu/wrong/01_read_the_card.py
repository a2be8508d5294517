# ---- best_link: That is the link at its maximum; look at what is current.
def copy_rate():
    return 16 * 16e9 * 128 / 130 / 8 / 1e9


# ---- both_ways: Those are both directions; a copy uses one.
def copy_rate():
    return 2 * 8 * 8e9 * 128 / 130 / 8 / 1e9


# ---- mib_as_mb: nvidia-smi counts in MiB; you read them as MB.
def memory():
    return 24564 / 1000


# ---- one_transfer: A pin carries two bits in a cycle of that clock.
def bandwidth():
    return 384 * 10251e6 / 8 / 1e9


def ridge():
    return 330e12 / 2 / 984.1e9


# ---- sparse: The sparse rate counts products that nobody does.
def ridge():
    return 330e12 / (bandwidth() * 1e9)
