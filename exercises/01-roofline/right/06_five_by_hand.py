# ---- steps: the steps are written down and counted
STEPS = {
    "layernorm": "sum subtract square sum divide scale shift",
    "softmax": "maximum subtract exponential sum divide",
    "gelu": "x*x *x *a +x *c tanh +1 *x *1/2",
    "transpose": "",
}


def flop(operation, n):
    if operation == "matmul":
        return n * n * (n + n)
    return sum(n * n for _ in STEPS[operation].split())


def moved(operation, n):
    read = 1 + (operation == "matmul")
    return (read + 1) * n * n * 2


def least_time(operation, n, peak, bandwidth):
    computing, moving = flop(operation, n) / peak, moved(operation, n) / bandwidth
    return computing if computing > moving else moving


# ---- quantities: a match, and units
from stacklib.quantity import Quantity, bytes_per_element, maximum


def flop(operation, n):
    match operation:
        case "matmul":
            return Quantity(n**3, "MAC")
        case "transpose":
            return Quantity(0, "FLOP")
        case "layernorm":
            return Quantity(7 * n * n, "FLOP")
        case "softmax":
            return Quantity(5 * n * n, "FLOP")
    return Quantity(9 * n * n, "FLOP")


def moved(operation, n):
    matrix = n * n * bytes_per_element("bf16")
    return 3 * matrix if operation == "matmul" else 2 * matrix


def least_time(operation, n, peak, bandwidth):
    return maximum(
        flop(operation, n).to("FLOP") / Quantity(peak, "FLOP/s"),
        moved(operation, n) / Quantity(bandwidth, "B/s"),
    )
