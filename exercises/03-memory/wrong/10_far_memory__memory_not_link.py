# diagnosis: the link in front of it is narrower
def far_rate():
    """GB/s at which the GPU reads Grace's memory."""
    one_way = link.per_direction.to("GB/s").value
    return max(one_way, grace.memory_bandwidth.to("GB/s").value)


def step(gigabytes):
    """Milliseconds of a step."""
    capacity = gpu.memory_capacity.to("GB").value
    near = min(gigabytes, capacity) / gpu.memory_bandwidth.to("GB/s").value
    far = max(0, gigabytes - capacity) / far_rate()
    return 1000 * max(near, far)


def free_share():
    """Percent of the bytes that may lie in the far memory."""
    near = gpu.memory_bandwidth.to("GB/s").value
    return 100 * far_rate() / (near + far_rate())
