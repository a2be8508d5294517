# diagnosis: You moved the array once a step
def flop(operation, n):
    """FLOP of one operation on an n by n array."""
    each = {"layernorm": 7, "softmax": 5, "gelu": 9, "transpose": 0}
    return 2 * n**3 if operation == "matmul" else each[operation] * n**2


def moved(operation, n):
    """Bytes it moves, in bf16."""
    arrays = {"matmul": 3, "layernorm": 12, "softmax": 8, "gelu": 21, "transpose": 2}
    return arrays[operation] * n**2 * 2


def least_time(operation, n, peak, bandwidth):
    """Least seconds, from FLOP/s and B/s."""
    return max(flop(operation, n) / peak, moved(operation, n) / bandwidth)
