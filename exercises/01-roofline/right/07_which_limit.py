# ---- one_roof: all three from one function of intensity
def roof(x, peak, bandwidth):
    return min(peak, x * bandwidth)


def sketch(peak, bandwidth, low, high):
    return tuple((x, roof(x, peak, bandwidth)) for x in (low, peak / bandwidth, high))


def waits_for(flop, moved, peak, bandwidth):
    return "compute" if roof(flop / moved, peak, bandwidth) == peak else "memory"


def quickest(flop, moved, devices, dtype):
    best, most = None, 0
    for device in devices:
        if dtype not in device.formats:
            continue
        peak, bandwidth = device.peak(dtype).si, device.memory_bandwidth.si
        # Something that computes nothing has no rate of computing.
        rate = 1 / max(flop / peak, moved / bandwidth)
        if rate > most:
            best, most = device, rate
    return best


# ---- arrays: columns of NumPy
import numpy as np


def sketch(peak, bandwidth, low, high):
    x = np.array([low, peak / bandwidth, high])
    return np.column_stack([x, np.minimum(peak, x * bandwidth)])


def waits_for(flop, moved, peak, bandwidth):
    seconds = np.array([flop / peak, moved / bandwidth])
    return ["compute", "memory"][seconds.argmax()]


def quickest(flop, moved, devices, dtype):
    able = [device for device in devices if dtype in device.formats]
    rates = np.array([[d.peak(dtype).si, d.memory_bandwidth.si] for d in able])
    return able[(np.array([flop, moved]) / rates).max(axis=1).argmin()]
