# diagnosis: a unit needs its part
def drawn(warps, loads):
    return min(1.0, warps * 128 * loads / (7.7e12 * 437e-9))


def best(base, each, shared_bytes):
    found = []
    for threads in BLOCKS:
        for loads in LOADS:
            held = gpu.occupancy(
                threads=threads,
                registers=base + each * loads,
                shared_bytes=shared_bytes,
                device="b200-sxm",
            )
            found.append(((drawn(held.warps, loads), -loads, -threads), threads, loads))
    return max(found)[1:]
