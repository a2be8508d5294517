# diagnosis: That is the part's own speed-up
def loop_bytes(n, element):
    return 3 * n * element


def offset(row, column, columns, element):
    return (row * columns + column) * element


def page_faults(size, page):
    return size / page


def gibibytes(size):
    return size / 2**30


def strided_bytes(size, element, stride, line):
    return min(size, size / (element * stride) * line)


def access_time(hit, penalty, misses):
    return hit + misses * penalty


def simd_flop(register, element, units):
    return 2 * units * register / element


def product_flop(m, k, n):
    return 2 * m * k * n


def whole_speedup(times, which, faster):
    return faster


def transfer_time(size, rate):
    return 8 * size / rate
