# diagnosis: The result has to come back: three matrices travel, not two.
def gpu_time(n, gpu, link, width):
    return 2 * n**3 / gpu + 2 * n**2 * width / link


def crossover(cpu, gpu, link, width):
    if gpu <= cpu:
        return None
    return 2 * width / link / (2 / cpu - 2 / gpu)
