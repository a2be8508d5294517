# diagnosis: has the highest
def sketch(peak, bandwidth, low, high):
    """Three points of the roof: (intensity, rate) at low, at the ridge, at high."""
    return [(low, low * bandwidth), (peak / bandwidth, peak), (high, peak)]


def waits_for(flop, moved, peak, bandwidth):
    """ "memory" or "compute": which takes longer."""
    return "memory" if moved / bandwidth > flop / peak else "compute"


def quickest(flop, moved, devices, dtype):
    """The device of the list on which this work takes least time."""

    able = [d for d in devices if dtype in d.formats]
    return max(able, key=lambda device: device.peak(dtype).si)
