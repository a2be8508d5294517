# ---- last_limiter: Where several bind, name the first.
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


# ---- no_pieces: Registers come in pieces of 256
def resident(threads, registers, shared_bytes, shared_of_unit):
    warps = -(-threads // 32)
    shared = -(-(shared_bytes + 1024) // 128) * 128
    fits = {
        "warps": 64 // warps,
        "blocks": 32,
        "registers": 4 * (65536 // 4 // (registers * 32)) // warps,
        "shared memory": shared_of_unit // shared,
    }
    limiter = min(fits, key=fits.get)
    return fits[limiter], limiter


# ---- no_system: A block takes 1 KiB of shared memory for the system
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


# ---- one_file: A warp lives in one partition
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
