# diagnosis: Registers come in pieces of 256
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
