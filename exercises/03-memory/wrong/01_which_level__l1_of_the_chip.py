# diagnosis: One thread runs on one unit
def level(size):
    """ "L1", "L2" or "memory": who answers one thread's chase through so many bytes."""
    if size <= 132 * 228 * 1024:
        return "L1"
    return "L2" if size <= 50 * 2**20 else "memory"


def time(size):
    """Nanoseconds of one load of that chase."""
    return {"L1": 36, "L2": 266, "memory": 670}[level(size)] / 1.98


def unit_rate():
    """GB/s from the shared memory of one unit."""
    return 32 * 4 * 1.98


def chip_rate():
    """TB/s from the shared memory of all units together."""
    return 132 * unit_rate() / 1000


def additions():
    """Dependent additions in the time of one load from memory."""
    return 670 / 4
