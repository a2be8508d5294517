# ---- idle: That is the idle share of the workers
def serial_share(speed_up, workers):
    return 1 - speed_up / workers


# ---- no_limit: it must raise ValueError: with a part of no cost
def gain_needed(share, speed_up):
    return share / (1 / speed_up - (1 - share))


# ---- saving: That is the time the whole saved.
def share_of_part(gain, speed_up):
    return 1 - 1 / speed_up


def serial_share(speed_up, workers):
    return (1 / speed_up - 1 / workers) / (1 - 1 / workers)
