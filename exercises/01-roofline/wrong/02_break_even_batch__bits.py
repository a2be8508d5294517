# diagnosis: an eighth of the answer; a byte is eight bits
def intensity(batch, dtype):
    return 2 * batch / (8 * bytes_per_element(dtype).si)


def break_even_batch(device, dtype):
    ridge = device.peak(dtype).si / device.memory_bandwidth.si
    return ridge / (8 * intensity(1, dtype))
