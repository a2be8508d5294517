# diagnosis: That is the share that parts.
def active_lanes(takes):
    return [sum(takes[at : at + 32]) for at in range(0, len(takes), 32)]


def efficiency(takes):
    counts = active_lanes(takes)
    ends = [len(takes[at : at + 32]) for at in range(0, len(takes), 32)]
    parted = [0 < n < m for n, m in zip(counts, ends, strict=True)]
    return sum(parted) / len(parted)


def issued(takes, inside, otherwise):
    count = 0
    for at in range(0, len(takes), 32):
        warp = takes[at : at + 32]
        count += inside * any(warp) + otherwise * (not all(warp))
    return count
