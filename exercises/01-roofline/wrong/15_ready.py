# ---- bits_for_bytes: The rate counts bits, the size bytes
def transfer_time(size, rate):
    return size / rate


# ---- mac: half the answer; a MAC is two FLOP
def product_flop(m, k, n):
    return m * k * n


# ---- one_way: y is read before it is written: it crosses both ways
def loop_bytes(n, element):
    return 2 * n * element


# ---- part_only: That is the part's own speed-up
def whole_speedup(times, which, faster):
    return faster


# ---- used_bytes: memory gives whole lines
def strided_bytes(size, element, stride, line):
    return size / stride
