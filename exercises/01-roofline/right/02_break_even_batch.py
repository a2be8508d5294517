# ---- quantities: nothing is made plain
def intensity(batch, dtype):
    return 2 * batch / bytes_per_element(dtype)


def break_even_batch(device, dtype):
    ridge = device.peak(dtype) / device.memory_bandwidth
    return ridge / intensity(1, dtype)


# ---- halving: no formula is solved
def intensity(batch, dtype):
    weights = range(64)
    flop = sum(2 for _ in weights for _ in range(int(batch)))
    return flop / (len(weights) * bytes_per_element(dtype).si)


def break_even_batch(device, dtype):
    low, high = 0.0, 1e6
    for _ in range(60):
        batch = (low + high) / 2
        computing = 2 * batch / device.peak(dtype).si
        reading = bytes_per_element(dtype).si / device.memory_bandwidth.si
        low, high = (batch, high) if computing < reading else (low, batch)
    return high
