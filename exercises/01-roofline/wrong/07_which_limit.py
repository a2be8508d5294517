# ---- by_bandwidth: has the fastest memory
def quickest(flop, moved, devices, dtype):
    able = [d for d in devices if dtype in d.formats]
    return max(able, key=lambda device: device.memory_bandwidth.si)


# ---- by_peak: has the highest
def quickest(flop, moved, devices, dtype):
    able = [d for d in devices if dtype in d.formats]
    return max(able, key=lambda device: device.peak(dtype).si)


# ---- flat_everywhere: Left of the ridge the wires set the rate
def sketch(peak, bandwidth, low, high):
    return [(low, peak), (peak / bandwidth, peak), (high, peak)]


# ---- no_roof: Right of the ridge the roof is flat
def sketch(peak, bandwidth, low, high):
    return [(low, low * bandwidth), (peak / bandwidth, peak), (high, high * bandwidth)]


# ---- sides_swapped: of the ridge at
def waits_for(flop, moved, peak, bandwidth):
    return "memory" if moved / bandwidth < flop / peak else "compute"
