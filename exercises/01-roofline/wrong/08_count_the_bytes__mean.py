# diagnosis: That is the mean
def counted(loop, n, element):
    """Bytes of one pass by STREAM's rule."""
    arrays = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
    return arrays[loop] * n * element


def moved(loop, n, element):
    """Bytes of one pass between memory and cache, the lines read for a store too."""
    return counted(loop, n, element) + n * element


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
    return size / (sum(times) / len(times)) / 1e9
