# diagnosis: A multiply-add is a multiplication and an addition
def flop(operation, n):
    """FLOP of one operation on an n by n array."""
    each = {"layernorm": 7, "softmax": 5, "gelu": 9, "transpose": 0}
    return n**3 if operation == "matmul" else each[operation] * n**2


def moved(operation, n):
    """Bytes it moves, in bf16."""
    arrays = 3 if operation == "matmul" else 2
    return arrays * n**2 * 2


def least_time(operation, n, peak, bandwidth):
    """Least seconds, from FLOP/s and B/s."""
    return max(flop(operation, n) / peak, moved(operation, n) / bandwidth)
