# ---- free_after_all: Word 0 of a chunk can only start a chunk.
def least_column_ways():
    lanes, banks = 32, 32
    return lanes / banks


# ---- none: bank conflicts: 31
def column_padding():
    return 0


# ---- one_bit_short: the worst ldmatrix has bank conflicts: 4
def matrix_swizzle():
    return 2, 4, 3


# ---- one_number: 2 bytes of padding: the worst column has bank conflicts: 1
def column_padding():
    return 2


# ---- too_much: bytes do it, but fewer do too
def column_padding():
    return 12


# ---- unaligned: no lane can start there
def matrix_padding():
    return 4


# ---- words: 16 bytes must stay together
def matrix_swizzle():
    return 5, 2, 5
