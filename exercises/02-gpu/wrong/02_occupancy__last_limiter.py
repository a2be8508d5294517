# diagnosis: Where several bind, name the first.
def resident(threads, registers, shared_bytes, shared_of_unit):
    warps = -(-threads // 32)
    a_warp = -(-registers * 32 // 256) * 256
    shared = -(-(shared_bytes + 1024) // 128) * 128
    fits = {
        "shared memory": shared_of_unit // shared,
        "registers": 4 * (65536 // 4 // a_warp) // warps,
        "blocks": 32,
        "warps": 64 // warps,
    }
    limiter = min(fits, key=fits.get)
    return fits[limiter], limiter
