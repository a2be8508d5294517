# diagnosis: A block takes 1 KiB of shared memory for the system
def resident(threads, registers, shared_bytes, shared_of_unit):
    warps = -(-threads // 32)
    a_warp = -(-registers * 32 // 256) * 256
    shared = max(1, -(-shared_bytes // 128) * 128)
    fits = {
        "warps": 64 // warps,
        "blocks": 32,
        "registers": 4 * (65536 // 4 // a_warp) // warps,
        "shared memory": shared_of_unit // shared,
    }
    limiter = min(fits, key=fits.get)
    return fits[limiter], limiter
