# ---- parts: a loop over the parts
def times(device, workload):
    checked(device)
    turns, reading, computing = device["turns"], 0.0, 0.0
    rows = -(-workload["readers"] // turns)
    for _ in range(turns):
        share = workload["weights"] / turns + rows * workload["cache"] / turns
        reading += share / (device["rate"] / turns)
        computing += rows * workload["work"] / device["peak"] * 1e3
    return reading, computing


# ---- explicit: each size is asked for in words
def checked(device):
    for name, value in device.items():
        if math.isnan(value) or math.isinf(value) or value <= 0:
            raise ValueError(f"{name}: {value}")
    return device
