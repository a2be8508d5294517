# diagnosis: That is the idle share of the workers
def share_of_part(gain, speed_up):
    return (1 - 1 / speed_up) / (1 - 1 / gain)


def gain_needed(share, speed_up):
    left = 1 / speed_up - (1 - share)
    if left <= 0:
        raise ValueError("the rest alone takes longer")
    return share / left


def serial_share(speed_up, workers):
    return 1 - speed_up / workers
