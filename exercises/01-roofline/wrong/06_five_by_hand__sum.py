# diagnosis: You added the two times
def flop(operation, n):
    """FLOP of one operation on an n by n array."""
    each = {"layernorm": 7, "softmax": 5, "gelu": 9, "transpose": 0}
    return 2 * n**3 if operation == "matmul" else each[operation] * n**2


def moved(operation, n):
    """Bytes it moves, in bf16."""
    arrays = 3 if operation == "matmul" else 2
    return arrays * n**2 * 2


def least_time(operation, n, peak, bandwidth):
    """Least seconds, from FLOP/s and B/s."""
    return flop(operation, n) / peak + moved(operation, n) / bandwidth
