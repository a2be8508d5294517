# diagnosis: Right of the ridge the roof is flat
def sketch(peak, bandwidth, low, high):
    """Three points of the roof: (intensity, rate) at low, at the ridge, at high."""
    return [(low, low * bandwidth), (peak / bandwidth, peak), (high, high * bandwidth)]


def waits_for(flop, moved, peak, bandwidth):
    """ "memory" or "compute": which takes longer."""
    return "memory" if moved / bandwidth > flop / peak else "compute"


def quickest(flop, moved, devices, dtype):
    """The device of the list on which this work takes least time."""

    def time(device):
        rates = device.peak(dtype).si, device.memory_bandwidth.si
        return max(flop / rates[0], moved / rates[1])

    return min((d for d in devices if dtype in d.formats), key=time)
