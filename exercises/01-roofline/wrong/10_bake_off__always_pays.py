# diagnosis: for a GPU that is no faster than the CPU
def gpu_time(n, gpu, link, width):
    return 2 * n**3 / gpu + 3 * n**2 * width / link


def crossover(cpu, gpu, link, width):
    return 3 * width / link / abs(2 / cpu - 2 / gpu + 1e-30)
