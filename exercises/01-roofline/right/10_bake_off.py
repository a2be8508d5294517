# ---- halving: the two times are compared until they meet
def gpu_time(n, gpu, link, width):
    computing = (n + n) * n * n / gpu
    there = 2 * n * n * width / link
    back = n * n * width / link
    return there + computing + back


def crossover(cpu, gpu, link, width):
    if not gpu > cpu:
        return None
    low, high = 0.0, 1e9
    while high - low > 1e-7 * high:
        n = (low + high) / 2
        if gpu_time(n, gpu, link, width) > 2 * n**3 / cpu:
            low = n
        else:
            high = n
    return low


# ---- roots: the root of a polynomial, and a quantity
import numpy as np

from stacklib.quantity import Quantity


def gpu_time(n, gpu, link, width):
    seconds = np.polyval([2 / gpu, 3 * width / link, 0, 0], n)
    return Quantity(1e3 * seconds, "ms")


def crossover(cpu, gpu, link, width):
    if gpu <= cpu:
        return
    roots = np.roots([2 / cpu - 2 / gpu, -3 * width / link, 0, 0])
    return max(roots.real)
