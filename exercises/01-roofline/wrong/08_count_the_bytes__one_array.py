# diagnosis: You counted one array; the loop reads and writes.
def counted(loop, n, element):
    """Bytes of one pass by STREAM's rule."""
    return n * element


def moved(loop, n, element):
    """Bytes of one pass between memory and cache, the lines read for a store too."""
    arrays = {"copy": 3, "scale": 3, "add": 4, "triad": 4}
    return arrays[loop] * n * element


def time_copy(copy, target, source, clock, repeats):
    """Seconds of each of ``repeats`` copies, after one that is not timed."""
    copy(target, source)
    times = []
    for _ in range(repeats):
        start = clock()
        copy(target, source)
        times.append(clock() - start)
    return times


def bandwidth(size, times):
    """GB/s of the best repetition of a pass of ``size`` bytes."""
    return size / min(times) / 1e9
