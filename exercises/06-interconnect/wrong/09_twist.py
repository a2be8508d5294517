# ---- mesh: That has no wraps
def far(shape, turn):
    x, y, z = shape
    return {(a, b, c): a + b + c for a in range(x) for b in range(y) for c in range(z)}


# ---- plain: do not move along z yet
def far(shape, turn):
    x, y, z = shape
    return {
        (a, b, c): min(a, x - a) + min(b, y - b) + min(c, z - c)
        for a in range(x)
        for b in range(y)
        for c in range(z)
    }


# ---- three_links: you count three
def messages(shape, turn):
    return sum(far(shape, turn).values()) / 3


# ---- way: the mean number of links
def messages(shape, turn):
    found = far(shape, turn)
    return sum(found.values()) / (len(found) - 1)


# ---- no_wrap: The wraps cross the cut as well
def into_half(longest, rate):
    return 2 * rate / longest


# ---- both: One direction is asked
def into_half(longest, rate):
    return 8 * rate / longest
