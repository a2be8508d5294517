# diagnosis: each load on the way takes registers
def drawn(warps, loads):
    return min(1.0, warps * 128 * loads / (7.7e12 * 437e-9 / 148))


def best(base, each, shared_bytes):
    found = []
    for threads in BLOCKS:
        for loads in LOADS:
            held = gpu.occupancy(
                threads=threads,
                registers=base + each,
                shared_bytes=shared_bytes,
                device="b200-sxm",
            )
            found.append(((drawn(held.warps, loads), -loads, -threads), threads, loads))
    return max(found)[1:]
