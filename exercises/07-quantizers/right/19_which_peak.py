# ---- steps: one quantity after the other
def step_bytes(quantized, bits, plain, cache, batch):
    total = quantized * bits
    total += 16 * plain
    total += 8 * cache * batch
    return total / 8


def peak(weights, inputs, peaks):
    return min(peaks[weights], peaks[inputs])


def step_time(moved, work, bandwidth, rate):
    by_bytes, by_work = moved / bandwidth, work / rate
    return by_bytes if by_bytes > by_work else by_work


def gain(quantized, bits, plain, cache, batch, bandwidth, rates):
    work = batch * 2 * (quantized + plain)
    wide = step_bytes(quantized, 16, plain, cache, batch)
    narrow = step_bytes(quantized, bits, plain, cache, batch)
    before = step_time(wide, work, bandwidth, rates[0])
    return before / step_time(narrow, work, bandwidth, rates[1])


# ---- arrays: both steps at once
import numpy as np


def step_bytes(quantized, bits, plain, cache, batch):
    return np.dot([quantized, plain, batch], [bits / 8, 2, cache])


def peak(weights, inputs, peaks):
    return np.min([peaks[weights], peaks[inputs]])


def step_time(moved, work, bandwidth, rate):
    return np.maximum(moved / bandwidth, work / rate)


def gain(quantized, bits, plain, cache, batch, bandwidth, rates):
    moved = quantized * np.array([16, bits]) / 8 + 2 * plain + batch * cache
    work = 2 * (quantized + plain) * batch
    times = np.maximum(moved / bandwidth, work / np.array(rates))
    return times[0] / times[1]
