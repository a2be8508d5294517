# diagnosis: A multiply-add is two operations.
def gpu_time(n, gpu, link, width):
    return n**3 / gpu + 3 * n**2 * width / link


def crossover(cpu, gpu, link, width):
    if gpu <= cpu:
        return None
    return 3 * width / link / (1 / cpu - 1 / gpu)
