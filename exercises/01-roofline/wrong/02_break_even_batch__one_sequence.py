# diagnosis: Each sequence of the batch computes with each weight.
def intensity(batch, dtype):
    return 2 / bytes_per_element(dtype).si


def break_even_batch(device, dtype):
    ridge = device.peak(dtype).si / device.memory_bandwidth.si
    return ridge / intensity(1, dtype)
