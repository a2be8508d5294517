# ---- order: Stages start with the state
def held(shapes, ranks, zero):
    total = 0
    for shape in shapes:
        whole = prod(shape)
        part = -(-shape[0] // ranks) * prod(shape[1:])
        total += 2 * (part if zero >= 1 else whole)
        total += 2 * (part if zero >= 2 else whole)
        total += 12 * (part if zero >= 3 else whole)
    return total


# ---- once: Stage 3 gathers weights twice
def sent(parameters, ranks, zero):
    return 4 * parameters * (ranks - 1) / ranks


# ---- home: One part stays at home
def sent(parameters, ranks, zero):
    return 2 * parameters * (3 if zero == 3 else 2)
