# ---- counted: ranges and sets instead of formulas
def loop_bytes(n, element):
    crossings = {"x in": 1, "y in": 1, "y out": 1}
    return sum(crossings.values()) * n * element


def offset(row, column, columns, element):
    before = 0
    for r in range(row + 1):
        before += column if r == row else columns
    return before * element


def page_faults(size, page):
    return len(range(0, size, page))


def gibibytes(size):
    for _ in range(3):
        size /= 1024
    return size


def strided_bytes(size, element, stride, line):
    lines = {at // line for at in range(0, 1 << 16, element * stride)}
    return len(lines) * line * size / (1 << 16)


def access_time(hit, penalty, misses):
    loads = 1000
    slow = round(loads * misses)
    return ((loads - slow) * hit + slow * (hit + penalty)) / loads


def simd_flop(register, element, units):
    return sum(2 for _ in range(units) for _ in range(0, register, element))


def product_flop(m, k, n):
    results = m * n
    return results * (k + k)


def whole_speedup(times, which, faster):
    after = [t / faster if i == which else t for i, t in enumerate(times)]
    return sum(times) / sum(after)


def transfer_time(size, rate):
    return size / (rate / 8)


# ---- quantities: every answer with its unit
from stacklib.quantity import Quantity


def loop_bytes(n, element):
    return 3 * Quantity(n * element, "B")


def offset(row, column, columns, element):
    return Quantity(row * columns + column, "1") * Quantity(element, "B")


def page_faults(size, page):
    return Quantity(size, "B") / Quantity(page, "B")


def gibibytes(size):
    return Quantity(size, "B")


def strided_bytes(size, element, stride, line):
    share = min(1, line / (element * stride))
    return Quantity(8 * share * size, "bit")


def access_time(hit, penalty, misses):
    return Quantity(hit, "cycle") + misses * Quantity(penalty, "cycle")


def simd_flop(register, element, units):
    return Quantity(units * register // element, "MAC")


def product_flop(m, k, n):
    return Quantity(m * k * n / 1e9, "GMAC")


def transfer_time(size, rate):
    return Quantity(size, "B").to("bit") / Quantity(rate, "bit/s")
