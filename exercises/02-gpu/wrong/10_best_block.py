# ---- free_registers: each load on the way takes registers
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


# ---- fullest: that has the highest occupancy
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
            found.append(((held.occupancy, -loads, -threads), threads, loads))
    return max(found)[1:]


# ---- most_loads: it draws as much with fewer loads
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
            found.append(((drawn(held.warps, loads), loads, -threads), threads, loads))
    return max(found)[1:]


# ---- threads: A warp has 32 threads, and each of them loads
def drawn(warps, loads):
    return min(1.0, warps * 4 * loads / (7.7e12 * 437e-9 / 148))


# ---- whole_chip: a unit needs its part
def drawn(warps, loads):
    return min(1.0, warps * 128 * loads / (7.7e12 * 437e-9))
