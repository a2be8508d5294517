# ---- no_tail: The threads without a number have to rest
def vector_add(t, a, b, out, n):
    i = t.block.x * t.block_dim.x + t.thread.x
    out[i] = a[i] + b[i]


# ---- floor: the rest of the division is a block, too
def blocks(n, threads):
    return n // threads


# ---- one_more: have all the numbers
def blocks(n, threads):
    return n // threads + 1


# ---- off_by_one: is overwritten, and the last one is
def vector_add(t, a, b, out, n):
    i = t.block.x * t.block_dim.x + t.thread.x
    if i <= n:
        out[i] = a[i] + b[i]


# ---- four_each: Neighbouring threads have to take neighbouring numbers
def blocks(n, threads):
    return -(-n // threads)


def vector_add(t, a, b, out, n):
    first = 4 * (t.block.x * t.block_dim.x + t.thread.x)
    for k in range(4):
        if first + k < n:
            out[first + k] = a[first + k] + b[first + k]
