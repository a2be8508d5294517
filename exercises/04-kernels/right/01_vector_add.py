# ---- strides: fewer blocks need not be, but a thread may take several numbers
def blocks(n, threads):
    return (n + threads - 1) // threads


def vector_add(t, a, b, out, n):
    i = t.block.x * t.block_dim.x + t.thread.x
    while i < n:
        out[i] = a[i] + b[i]
        i = i + t.grid_dim.x * t.block_dim.x


# ---- two_blocks: half as many blocks, each thread a number of two halves
import math


def blocks(n, threads):
    return math.ceil(n / threads / 2)


def vector_add(t, a, b, out, n):
    half = t.grid_dim.x * t.block_dim.x
    for k in range(2):
        i = t.block.x * t.block_dim.x + t.thread.x + k * half
        if i < n:
            out[i] = a[i] + b[i]
