# ---- divided: You divided the largest magnitude by the largest number
def scale_code(block, largest):
    most = max(abs(x) for x in block)
    if not most:
        return 0
    return min(max(math.floor(math.log2(most / largest)) + 127, 0), 254)


# ---- nearest: You round the exponent to the nearest
def scale_code(block, largest):
    most = max(abs(x) for x in block)
    if not most:
        return 0
    return min(max(round(math.log2(most)) - emax(largest) + 127, 0), 254)


# ---- no_emax: Without `emax`
def scale_code(block, largest):
    most = max(abs(x) for x in block)
    if not most:
        return 0
    return min(max(math.frexp(most)[1] - 1 + 127, 0), 254)


# ---- no_zeros: it has no exponent, and code 0
def scale_code(block, largest):
    most = max(abs(x) for x in block)
    return min(max(math.floor(math.log2(most)) - emax(largest) + 127, 0), 254)


# ---- one_higher: its power is one higher
def emax(largest):
    return math.frexp(largest)[1]
