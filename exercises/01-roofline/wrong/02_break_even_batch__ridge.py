# diagnosis: That is the ridge, in FLOP a byte.
def intensity(batch, dtype):
    return 2 * batch / bytes_per_element(dtype).si


def break_even_batch(device, dtype):
    return device.peak(dtype).si / device.memory_bandwidth.si
