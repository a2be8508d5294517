# ---- by_steps: each rate a little better and a little worse
def elasticities(a, x, b, y, c, z):
    import math

    def time(rates):
        return max(a / rates[0], b / rates[1]) + c / rates[2]

    if math.isclose(a / x, b / y, rel_tol=1e-12):
        raise ValueError("a corner")
    found = []
    for place in range(3):
        up, down = [x, y, z], [x, y, z]
        up[place] *= 1 + 1e-6
        down[place] *= 1 - 1e-6
        found.append(-(math.log(time(up)) - math.log(time(down))) / 2e-6)
    return found


# ---- by_what_is_left: of the line, and of the rest
def off(share, by):
    return 1 - (share / (1 + by) + (1 - share))


def needed(share, gone):
    left = share - gone
    if left <= 0 or gone < 0:
        raise ValueError(f"{share} is all there is")
    return share / left - 1
