# diagnosis: A warp has 32 threads, and each of them loads
def drawn(warps, loads):
    return min(1.0, warps * 4 * loads / (7.7e12 * 437e-9 / 148))


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
