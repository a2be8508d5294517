# ---- both_ways: counts both directions of the link
def far_rate():
    one_way = link.bidirectional.to("GB/s").value
    return one_way


# ---- memory_not_link: the link in front of it is narrower
def far_rate():
    one_way = link.per_direction.to("GB/s").value
    return max(one_way, grace.memory_bandwidth.to("GB/s").value)


# ---- ratio_of_rates: That is the ratio of the rates
def free_share():
    near = gpu.memory_bandwidth.to("GB/s").value
    return 100 * far_rate() / near


# ---- seconds: 1e-3 of the answer; one step of the prefix ladder
def step(gigabytes):
    capacity = gpu.memory_capacity.to("GB").value
    near = min(gigabytes, capacity) / gpu.memory_bandwidth.to("GB/s").value
    far = max(0, gigabytes - capacity) / far_rate()
    return max(near, far)


# ---- sum: You added the two times
def step(gigabytes):
    capacity = gpu.memory_capacity.to("GB").value
    near = min(gigabytes, capacity) / gpu.memory_bandwidth.to("GB/s").value
    far = max(0, gigabytes - capacity) / far_rate()
    return 1000 * (near + far)
