# ---- block: A warp decides for itself
def issued(takes, inside, otherwise):
    each = inside * any(takes) + otherwise * (not all(takes))
    return each * -(-len(takes) // 32)


# ---- lanes: You count lanes; an instruction is a warp's.
def issued(takes, inside, otherwise):
    return sum(inside if taken else otherwise for taken in takes)


# ---- longer_side: the sum, not the longer
def issued(takes, inside, otherwise):
    count = 0
    for at in range(0, len(takes), 32):
        warp = takes[at : at + 32]
        count += max(inside * any(warp), otherwise * (not all(warp)))
    return count


# ---- parted: That is the share that parts.
def efficiency(takes):
    counts = active_lanes(takes)
    ends = [len(takes[at : at + 32]) for at in range(0, len(takes), 32)]
    parted = [0 < n < m for n, m in zip(counts, ends, strict=True)]
    return sum(parted) / len(parted)
