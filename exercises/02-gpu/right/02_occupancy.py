# ---- placed: blocks are placed one by one until something is full
def resident(threads, registers, shared_bytes, shared_of_unit):
    warps = (threads + 31) // 32
    pieces = (registers * 32 + 255) // 256
    free = [65536 // 4 // 256] * 4
    shared = shared_of_unit
    share = (shared_bytes + 1024 + 127) // 128 * 128
    blocks = 0
    while True:
        if 64 < (blocks + 1) * warps:
            return [blocks, "warps"]
        if blocks == 32:
            return [blocks, "blocks"]
        for _ in range(warps):
            free.sort()
            free[-1] -= pieces
        if min(free) < 0:
            return [blocks, "registers"]
        shared -= share
        if shared < 0:
            return [blocks, "shared memory"]
        blocks += 1


# ---- arrays: four counts in an array
import numpy as np

NAMES = np.array(["warps", "blocks", "registers", "shared memory"])


def resident(threads, registers, shared_bytes, shared_of_unit):
    warps = np.ceil(threads / 32)
    a_warp = 256 * np.ceil(registers * 32 / 256)
    shared = 128 * np.ceil((shared_bytes + 1024) / 128)
    fits = np.floor(
        [
            64 / warps,
            32,
            4 * np.floor(16384 / a_warp) / warps,
            shared_of_unit / shared,
        ]
    )
    return fits.min(), NAMES[fits.argmin()]
