# ---- one_matrix: You moved one matrix; a product moves three.
def side(device, dtype):
    ridge = device.peak(dtype).si / device.memory_bandwidth.si
    return bytes_per_element(dtype).si * ridge / 2


# ---- only_read: The result is written too
def softmax_fused(size):
    return 5 / size


# ---- ridge: That is the ridge. How many bytes has a number
def side(device, dtype):
    return device.peak(dtype).si / device.memory_bandwidth.si


# ---- rows_written: write one number a row, not all of them
def softmax_steps(size):
    return 5 / (2 * 5 * size)
