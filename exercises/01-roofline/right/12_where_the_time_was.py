# ---- seconds: a program of one second, in fractions of it
from fractions import Fraction


def share_of_part(gain, speed_up):
    saved = 1 - 1 / Fraction(speed_up)
    kept = 1 / Fraction(gain)  # of each second of the part
    return saved / (1 - kept)


def gain_needed(share, speed_up):
    budget = 1 / Fraction(speed_up) - (1 - Fraction(share))
    if budget <= 0:
        raise ValueError(f"{float(budget)} s are left for the part")
    return Fraction(share) / budget


def serial_share(speed_up, workers):
    lost = 1 / Fraction(speed_up) - Fraction(1, workers)
    return lost / (1 - Fraction(1, workers))


# ---- halving: Amdahl's law forwards, until it gives what was seen
def faster(share, gain):
    return 1 / ((1 - share) + share / gain)


def halved(low, high, too_small):
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if too_small(middle) else (low, middle)
    return middle


def share_of_part(gain, speed_up):
    return halved(0.0, 1.0, lambda share: faster(share, gain) < speed_up)


def gain_needed(share, speed_up):
    if share < 1 and speed_up >= 1 / (1 - share):
        raise ValueError(speed_up)
    return halved(1.0, 1e6, lambda gain: faster(share, gain) < speed_up)


def serial_share(speed_up, workers):
    return halved(0.0, 1.0, lambda rest: faster(1 - rest, workers) > speed_up)
