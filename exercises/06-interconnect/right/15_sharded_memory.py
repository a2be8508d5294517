# ---- sums: elements first, bytes afterwards
def held(shapes, ranks, zero):
    whole = sum(prod(shape) for shape in shapes)
    part = sum((s[0] + ranks - 1) // ranks * prod(s[1:]) for s in shapes)
    split = (0, 12, 14, 16)[zero]
    return (16 - split) * whole + split * part


def sent(parameters, ranks, zero):
    return parameters * (6 if zero > 2 else 4) * (1 - 1 / ranks)


# ---- rows: the largest part of a list of ranks, and steps of rings
def held(shapes, ranks, zero):
    found = 0
    for first, *rest in shapes:
        most = max(len(range(rank, first, ranks)) for rank in range(ranks))
        for size, stage in ((12, 1), (2, 2), (2, 3)):
            found += size * prod(rest) * (most if zero >= stage else first)
    return found


def sent(parameters, ranks, zero):
    total = 0.0
    for _collective in range(2 + (zero == 3)):
        for _step in range(ranks - 1):
            total += 2 * parameters / ranks
    return total
