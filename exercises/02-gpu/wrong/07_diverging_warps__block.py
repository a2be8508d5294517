# diagnosis: A warp decides for itself
def active_lanes(takes):
    return [sum(takes[at : at + 32]) for at in range(0, len(takes), 32)]


def efficiency(takes):
    warps = [takes[at : at + 32] for at in range(0, len(takes), 32)]
    return sum(all(w) or not any(w) for w in warps) / len(warps)


def issued(takes, inside, otherwise):
    each = inside * any(takes) + otherwise * (not all(takes))
    return each * -(-len(takes) // 32)
