# diagnosis: That is for the whole bandwidth
def needed(bandwidth, latency, share):
    return bandwidth * latency


def loads_in_flight(units, threads, width):
    return units * threads * 2 * width


def drawn(units, threads, width, bandwidth, latency, most):
    loaded = loads_in_flight(units, threads, width) / latency
    return min(most, 1.5 * loaded / bandwidth)


def tune(units, width, bandwidth, latency, most, goal, held=2048, warp=32):
    for threads in range(warp, held + 1, warp):
        if drawn(units, threads, width, bandwidth, latency, most) >= goal:
            return threads
    return 0
