# ---- rounds: It rounds in your step
def cut(x, power):
    return round(x / 2.0**power) * 2.0**power


# ---- downwards: you cut downwards
def cut(x, power):
    return math.floor(x / 2.0**power) * 2.0**power


# ---- products_only: The running sum has an exponent, too
def step(total, left, right):
    pairs = list(zip(left, right, strict=True))
    e = max(exponent(a) + exponent(b) for a, b in pairs)
    found = cut(total, e - 13) + sum(cut(a * b, e - 13) for a, b in pairs)
    return cut(found, exponent(found) - 13) if found else 0.0


# ---- one_cut: The new sum is cut once more
def step(total, left, right):
    pairs = list(zip(left, right, strict=True))
    e = max(exponent(a) + exponent(b) for a, b in pairs)
    if total:
        e = max(e, exponent(total))
    return cut(total, e - 13) + sum(cut(a * b, e - 13) for a, b in pairs)


# ---- never_out: Nothing is taken out
def promoted(left, right, every):
    total = 0.0
    for at in range(0, len(left), 32):
        total = step(total, left[at : at + 32], right[at : at + 32])
    return total


# ---- whole_unit: not all of it
def share_lost(mean, every):
    lost = 0.0
    for done in range(32, every, 32):
        lost += 32 * 2.0 ** (exponent(mean * done) - 13)
    return lost / (mean * every)
