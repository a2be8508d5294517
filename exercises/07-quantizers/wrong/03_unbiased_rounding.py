# ---- adds_half: and half a step as well
def rounded(x, step, u):
    return math.floor(x / step + u + 0.5) * step


# ---- coin: A fair coin, wherever x lies
def rounded(x, step, u):
    if x / step == math.floor(x / step):
        return x
    return math.floor(x / step + (u < 0.5)) * step


# ---- mean_variance: That is a mean over all x
def variance(x, step):
    return step**2 / 12


# ---- nearest: Every draw gives the same
def rounded(x, step, u):
    return round(x / step) * step


# ---- other_side: the chance of the lower one
def chance_up(x, step):
    return (1 - (x / step - math.floor(x / step))) % 1


# ---- towards_zero: int cuts upward and floor does not
def rounded(x, step, u):
    return int(x / step + u) * step


# ---- truncated: You always round down
def rounded(x, step, u):
    return math.floor(x / step) * step
