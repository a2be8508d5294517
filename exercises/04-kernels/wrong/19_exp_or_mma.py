# ---- one_product: There are two products, not one
def cycles(rows, columns, d, tensor, exp):
    return 2 * rows * columns * d / tensor, rows * columns / exp


def binds(d, tensor, exp):
    return {1: "products", 0: "both", -1: "exponentials"}[
        (4 * d * exp > tensor) - (4 * d * exp < tensor)
    ]


def share(d, tensor, exp, groups):
    products, exponentials = 4 * d / tensor, 1 / exp
    return products / (max if groups == 2 else lambda *t: sum(t))(
        products, exponentials
    )


def software_share(d, tensor, exp):
    return max(0, 1 - 4 * d * exp / tensor)


# ---- every_number: whatever the head size
def cycles(rows, columns, d, tensor, exp):
    return 4 * rows * columns * d / tensor, rows * columns * d / exp


def binds(d, tensor, exp):
    return {1: "products", 0: "both", -1: "exponentials"}[
        (4 * d * exp > tensor) - (4 * d * exp < tensor)
    ]


def share(d, tensor, exp, groups):
    ratio = 4 * d * exp / tensor
    return min(1, ratio) if groups == 2 else ratio / (1 + ratio)


def software_share(d, tensor, exp):
    return max(0, 1 - 4 * d * exp / tensor)


# ---- never_both: which is both
def binds(d, tensor, exp):
    return "products" if 4 * d * exp >= tensor else "exponentials"


# ---- sum: the larger is the pace
def share(d, tensor, exp, groups):
    products, exponentials = cycles(1, 1, d, tensor, exp)
    return products / (products + exponentials)


# ---- stays: That is the share that stays
def software_share(d, tensor, exp):
    return min(1, 4 * d * exp / tensor)


# ---- below_zero: A share below zero
def software_share(d, tensor, exp):
    return 1 - 4 * d * exp / tensor
