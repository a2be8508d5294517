# ---- mac: A multiply-add is a multiplication and an addition
def flop(operation, n):
    each = {"layernorm": 7, "softmax": 5, "gelu": 9, "transpose": 0}
    return n**3 if operation == "matmul" else each[operation] * n**2


# ---- no_result: The result has to go back
def moved(operation, n):
    arrays = 2 if operation == "matmul" else 1
    return arrays * n**2 * 2


# ---- pass_by_pass: You moved the array once a step
def moved(operation, n):
    arrays = {"matmul": 3, "layernorm": 12, "softmax": 8, "gelu": 21, "transpose": 2}
    return arrays[operation] * n**2 * 2


# ---- peak_only: You looked at the arithmetic alone
def least_time(operation, n, peak, bandwidth):
    return flop(operation, n) / peak


# ---- sum: You added the two times
def least_time(operation, n, peak, bandwidth):
    return flop(operation, n) / peak + moved(operation, n) / bandwidth
