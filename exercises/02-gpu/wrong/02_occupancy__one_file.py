# diagnosis: A warp lives in one partition
def resident(threads, registers, shared_bytes, shared_of_unit):
    warps = -(-threads // 32)
    a_warp = -(-registers * 32 // 256) * 256
    shared = -(-(shared_bytes + 1024) // 128) * 128
    fits = {
        "warps": 64 // warps,
        "blocks": 32,
        "registers": 65536 // a_warp // warps,
        "shared memory": shared_of_unit // shared,
    }
    limiter = min(fits, key=fits.get)
    return fits[limiter], limiter
