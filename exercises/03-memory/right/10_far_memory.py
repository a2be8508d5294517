# ---- quantities: rates and times as they come
from stacklib.quantity import Quantity, maximum, minimum


def far_rate():
    return minimum(link.per_direction, grace.memory_bandwidth)


def step(gigabytes):
    size = Quantity(gigabytes, "GB")
    near = minimum(size, gpu.memory_capacity)
    return maximum(near / gpu.memory_bandwidth, (size - near) / far_rate())


def free_share():
    return far_rate() / (far_rate() + gpu.memory_bandwidth)


# ---- plain: halves of both directions, and a share that is searched
def far_rate():
    return link.bidirectional.si / 2 / 1e9


def step(gigabytes):
    room, near = gpu.memory_capacity.si, gpu.memory_bandwidth.si
    left = gigabytes * 1e9
    times = [0.0, 0.0]
    for i, (most, rate) in enumerate([(room, near), (left, far_rate() * 1e9)]):
        part = min(left, most)
        times[i], left = part / rate, left - part
    return max(times) * 1e3


def free_share():
    near = gpu.memory_bandwidth.si / 1e9
    low, high = 0.0, 1.0
    for _ in range(50):
        share = (low + high) / 2
        quicker = share / far_rate() < (1 - share) / near
        low, high = (share, high) if quicker else (low, share)
    return share * 100
