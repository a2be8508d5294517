# diagnosis: half the answer; a MAC is two FLOP
def intensity(batch, dtype):
    return batch / bytes_per_element(dtype).si


def break_even_batch(device, dtype):
    ridge = device.peak(dtype).si / device.memory_bandwidth.si
    return ridge / (2 * intensity(1, dtype))
