# ---- all_ones: which is NaN in E4M3
def largest(exponent, significand, bias, special):
    field = 2**exponent - 1 - (special == "ieee")
    return (2 - 2**-significand) * 2.0 ** (field - bias)


# ---- infinity: That is infinity, taken for a number
def largest(exponent, significand, bias, special):
    if special == "ieee":
        return 2.0 ** (2**exponent - 1 - bias)
    steps = 1 + (special == "fn")
    return (2 - steps * 2**-significand) * 2.0 ** (2**exponent - 1 - bias)


# ---- ieee_everywhere: Only `ieee` gives up its highest exponent field
def largest(exponent, significand, bias, special):
    return (2 - 2**-significand) * 2.0 ** (2**exponent - 2 - bias)


# ---- normal_at_zero: normal ones begin at one
def least_normal(exponent, significand, bias, special):
    return 2.0**-bias


# ---- own_exponent: not that of field zero
def least_subnormal(exponent, significand, bias, special):
    return 2.0 ** (-bias - significand)
