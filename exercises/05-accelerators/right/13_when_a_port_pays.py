# ---- bill: a bill of all years
def a_year(people, months, stay, wage, years):
    once = people * months * (wage / 12)
    return once / years + stay * wage


def fleet(effort, saved, used):
    if math.isnan(saved) or saved <= 0:
        raise ValueError(f"{saved}: nothing is saved")
    each = saved * HOURS * used
    return effort / each


# ---- search: by doubling and halving
def readers_for(ratio, weights, cache, work):
    high = 1
    while at_most(high, weights, cache, work) < ratio:
        high *= 2
        if high > 2**60:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        enough = at_most(middle, weights, cache, work) >= ratio
        low, high = (low, middle) if enough else (middle, high)
    return high
