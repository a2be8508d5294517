# diagnosis: it must raise ValueError: with a part of no cost
def share_of_part(gain, speed_up):
    return (1 - 1 / speed_up) / (1 - 1 / gain)


def gain_needed(share, speed_up):
    return share / (1 / speed_up - (1 - share))


def serial_share(speed_up, workers):
    return 1 - share_of_part(workers, speed_up)
