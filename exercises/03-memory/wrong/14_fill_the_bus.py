# ---- no_limit: The bus gives no more than
def drawn(units, threads, width, bandwidth, latency, most):
    loaded = loads_in_flight(units, threads, width) / latency
    return 1.5 * loaded / bandwidth


def tune(units, width, bandwidth, latency, most, goal, held=2048, warp=32):
    for threads in range(warp, held + 1, warp):
        if min(most, drawn(units, threads, width, bandwidth, latency, most)) >= goal:
            return threads
    return 0


# ---- no_limit_in_tune: The bus never gives that share
def tune(units, width, bandwidth, latency, most, goal, held=2048, warp=32):
    for threads in range(warp, held + 1, warp):
        if drawn(units, threads, width, bandwidth, latency, 1.0) >= goal:
            return threads
    return 0


# ---- no_stores: Stores take their turn on the bus
def drawn(units, threads, width, bandwidth, latency, most):
    loaded = loads_in_flight(units, threads, width) / latency
    return min(most, loaded / bandwidth)


# ---- one_load: A thread loads two numbers
def loads_in_flight(units, threads, width):
    return units * threads * width


# ---- one_unit: That is one compute unit
def loads_in_flight(units, threads, width):
    return threads * 2 * width


# ---- whole_bandwidth: That is for the whole bandwidth
def needed(bandwidth, latency, share):
    return bandwidth * latency
