# ---- always_pays: for a GPU that is no faster than the CPU
def crossover(cpu, gpu, link, width):
    return 3 * width / link / abs(2 / cpu - 2 / gpu + 1e-30)


# ---- free_product: You took the GPU's product to take no time.
def crossover(cpu, gpu, link, width):
    if gpu <= cpu:
        return None
    return 1.5 * width * cpu / link


# ---- mac: A multiply-add is two operations.
def gpu_time(n, gpu, link, width):
    return n**3 / gpu + 3 * n**2 * width / link


def crossover(cpu, gpu, link, width):
    if gpu <= cpu:
        return None
    return 3 * width / link / (1 / cpu - 1 / gpu)


# ---- one_way: The result has to come back: three matrices travel, not two.
def gpu_time(n, gpu, link, width):
    return 2 * n**3 / gpu + 2 * n**2 * width / link


def crossover(cpu, gpu, link, width):
    if gpu <= cpu:
        return None
    return 2 * width / link / (2 / cpu - 2 / gpu)
