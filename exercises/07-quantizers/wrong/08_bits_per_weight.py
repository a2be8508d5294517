# ---- no_minima: A group has a minimum too
def q4_k():
    return bits_per_weight(4, [(6, 32), (16, 256)])


# ---- no_scales: the bits of the elements alone
def bits_per_weight(element, shared):
    return element


# ---- normal_float: That is NF4 with double quantization
def nvfp4():
    return nf4_double()


# ---- not_twice: That is NF4 whose scales are FP32 still
def nf4_double():
    return bits_per_weight(4, [(32, 64)])


# ---- second_level: not behind 256 weights
def nf4_double():
    return bits_per_weight(4, [(8, 64), (32, 256)])


# ---- in_bytes: an eighth of the answer; a byte is eight bits
def bits_per_weight(element, shared):
    return element / 8 + sum(bits / 8 / weights for bits, weights in shared)
