# ---- one_cache: Each sequence has a cache of its own
def step_bytes(quantized, bits, plain, cache, batch):
    return quantized * bits / 8 + plain * 2 + cache


# ---- all_narrow: still in 16 bits
def step_bytes(quantized, bits, plain, cache, batch):
    return (quantized + plain) * bits / 8 + batch * cache


# ---- narrow_peak: the rate of the narrower operand
def peak(weights, inputs, peaks):
    return peaks[min(weights, inputs)]


# ---- summed: They overlap
def step_time(moved, work, bandwidth, rate):
    return moved / bandwidth + work / rate


# ---- plain_ratio: the ratio of the bits
def gain(quantized, bits, plain, cache, batch, bandwidth, rates):
    return 16 / bits


# ---- one_rate: at the first rate
def gain(quantized, bits, plain, cache, batch, bandwidth, rates):
    work = 2 * (quantized + plain) * batch
    times = [
        step_time(
            step_bytes(quantized, width, plain, cache, batch), work, bandwidth, rates[1]
        )
        for width in (16, bits)
    ]
    return times[0] / times[1]
