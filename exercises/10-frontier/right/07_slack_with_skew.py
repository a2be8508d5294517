# ---- one_number: a skew is one number, launch against capture
def slack(period, ways, launch, capture, setup):
    skew = capture - launch
    return min(period + skew - setup - way for way in ways)


# ---- by_search: a period is tried until no slack is below zero
def shortest(stages, clocks, setup):
    low, high = -100.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        ends = [*clocks[1:], clocks[0]]
        each = zip(stages, clocks, ends, strict=True)
        fits = all(slack(middle, ways, a, b, setup) >= 0 for ways, a, b in each)
        low, high = (low, middle) if fits else (middle, high)
    return high
