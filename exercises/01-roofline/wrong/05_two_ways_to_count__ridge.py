# diagnosis: That is the ridge. How many bytes has a number
def softmax_fused(size):
    return 5 / (2 * size)


def softmax_steps(size):
    return 5 / (8 * size)


def side(device, dtype):
    return device.peak(dtype).si / device.memory_bandwidth.si
