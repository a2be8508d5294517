# ---- solved: the threads from the goal, without trying
import math

from stacklib.quantity import Quantity


def needed(bandwidth, latency, share):
    return share * Quantity(bandwidth, "B/s") * Quantity(latency, "s")


def loads_in_flight(units, threads, width):
    return Quantity(2 * units * threads * width * 8, "bit")


def drawn(units, threads, width, bandwidth, latency, most):
    moved = 3 * width * units * threads / latency
    return most if moved > most * bandwidth else moved / bandwidth


def tune(units, width, bandwidth, latency, most, goal, held=2048, warp=32):
    if goal > most:
        return 0
    threads = goal * bandwidth * latency / (3 * width * units)
    whole = warp * math.ceil(threads / warp)
    return whole if whole <= held else 0


# ---- arrays: all numbers of threads at once
import numpy as np


def needed(bandwidth, latency, share):
    return np.prod([bandwidth, latency, share])


def loads_in_flight(units, threads, width):
    a_thread = sum(width for _ in ("a", "b"))
    return np.int64(units) * threads * a_thread


def drawn(units, threads, width, bandwidth, latency, most):
    loaded = 2 * width * units * np.asarray(threads) / latency
    return np.minimum(most, (loaded + loaded / 2) / bandwidth)


def tune(units, width, bandwidth, latency, most, goal, held=2048, warp=32):
    counts = np.arange(warp, held + 1, warp)
    enough = drawn(units, counts, width, bandwidth, latency, most) >= goal
    return counts[enough.argmax()] if enough.any() else 0
