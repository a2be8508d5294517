# ---- bits: Bytes are asked for, not bits
def unit_rate():
    return 8 * 32 * 4 * 1.98


# ---- cycles: Those are cycles
def time(size):
    return {"L1": 36, "L2": 266, "memory": 670}[level(size)]


# ---- l1_of_the_chip: One thread runs on one unit
def level(size):
    if size <= 132 * 228 * 1024:
        return "L1"
    return "L2" if size <= 50 * 2**20 else "memory"


# ---- one_cycle: takes four cycles, not one
def additions():
    return 670


# ---- unit_for_chip: That is what all units have together
def unit_rate():
    return 132 * 32 * 4 * 1.98


def chip_rate():
    return unit_rate() / 1000
