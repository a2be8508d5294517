# ---- at_the_end: round up level by level
def steps(kind, n, lanes):
    return -(-sum(levels(kind, n)) // lanes)


# ---- copies: A place that is only copied counts
def work(kind, n):
    if kind == "scan":
        return sum(n - 2**k for k in range(n.bit_length() - 1))
    return n - 1 if kind == "reduce" else 3 * n - 2


# ---- depth_only: it holds for as many lanes as a level has pairs
def steps(kind, n, lanes):
    return depth(kind, n)


# ---- moves: a pair costs an addition and a move
def work(kind, n):
    return sum(levels(kind, n))


# ---- one_way: It goes up and down again
def depth(kind, n):
    return n.bit_length() - 1
