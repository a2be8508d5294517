# diagnosis: The result is written too
def softmax_fused(size):
    return 5 / size


def softmax_steps(size):
    return 5 / (8 * size)


def side(device, dtype):
    ridge = device.peak(dtype).si / device.memory_bandwidth.si
    return 3 * bytes_per_element(dtype).si * ridge / 2
