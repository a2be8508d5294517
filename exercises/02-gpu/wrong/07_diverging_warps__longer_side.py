# diagnosis: the sum, not the longer
def active_lanes(takes):
    return [sum(takes[at : at + 32]) for at in range(0, len(takes), 32)]


def efficiency(takes):
    warps = [takes[at : at + 32] for at in range(0, len(takes), 32)]
    return sum(all(w) or not any(w) for w in warps) / len(warps)


def issued(takes, inside, otherwise):
    count = 0
    for at in range(0, len(takes), 32):
        warp = takes[at : at + 32]
        count += max(inside * any(warp), otherwise * (not all(warp)))
    return count
