# diagnosis: You took the GPU's product to take no time.
def gpu_time(n, gpu, link, width):
    return 2 * n**3 / gpu + 3 * n**2 * width / link


def crossover(cpu, gpu, link, width):
    if gpu <= cpu:
        return None
    return 1.5 * width * cpu / link
