# ---- first_touch: you timed the first copy
def time_copy(copy, target, source, clock, repeats):
    times = []
    for _ in range(repeats):
        start = clock()
        copy(target, source)
        times.append(clock() - start)
    return times


# ---- gib: as GiB/s and GB/s are apart
def bandwidth(size, times):
    return size / min(times) / 2**30


# ---- mean: That is the mean
def bandwidth(size, times):
    return size / (sum(times) / len(times)) / 1e9


# ---- no_write_allocate: one array more
def moved(loop, n, element):
    return counted(loop, n, element)


# ---- one_array: You counted one array; the loop reads and writes.
def counted(loop, n, element):
    return n * element


def moved(loop, n, element):
    arrays = {"copy": 3, "scale": 3, "add": 4, "triad": 4}
    return arrays[loop] * n * element


# ---- one_time_for_all: read the clock around each
def time_copy(copy, target, source, clock, repeats):
    copy(target, source)
    start = clock()
    for _ in range(repeats):
        copy(target, source)
    return [(clock() - start) / repeats]
