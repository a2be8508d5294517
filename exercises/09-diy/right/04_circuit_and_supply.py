# ---- one_by_one: watt after watt
def limit(cards, watts, other, share, volts, amps):
    hours = volts * amps * 8 / 10
    if other / share > hours:
        raise ValueError(f"{hours} W do not carry the processor and the rest")
    found = watts
    while (cards * found + other) / share > hours + 1e-9:
        found -= 1
    return found


def rating(cards, watts, other, stands):
    found = cards * watts + other
    while found * stands < (cards + 2) * watts + other:
        found += 1
    return found


# ---- halving: the limit between two ends
def limit(cards, watts, other, share, volts, amps):
    hours = 0.8 * volts * amps + 1e-9
    if other / share > hours:
        raise ValueError("no limit of the cards is low enough")
    low, high = 0, watts + 1
    while high - low > 1:
        middle = (low + high) // 2
        fits = (cards * middle + other) / share <= hours
        low, high = (middle, high) if fits else (low, middle)
    return low
