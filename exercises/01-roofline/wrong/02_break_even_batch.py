# ---- bits: an eighth of the answer; a byte is eight bits
def intensity(batch, dtype):
    return 2 * batch / (8 * bytes_per_element(dtype).si)


def break_even_batch(device, dtype):
    ridge = device.peak(dtype).si / device.memory_bandwidth.si
    return ridge / (8 * intensity(1, dtype))


# ---- mac: half the answer; a MAC is two FLOP
def intensity(batch, dtype):
    return batch / bytes_per_element(dtype).si


def break_even_batch(device, dtype):
    ridge = device.peak(dtype).si / device.memory_bandwidth.si
    return ridge / (2 * intensity(1, dtype))


# ---- one_sequence: Each sequence of the batch computes with each weight.
def intensity(batch, dtype):
    return 2 / bytes_per_element(dtype).si


# ---- ridge: That is the ridge, in FLOP a byte.
def break_even_batch(device, dtype):
    return device.peak(dtype).si / device.memory_bandwidth.si
