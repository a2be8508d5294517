# diagnosis: the worst ldmatrix has bank conflicts: 4
def column_padding():
    return 4


def matrix_padding():
    return 16


def matrix_swizzle():
    return 2, 4, 3


def least_column_ways():
    return 4
