# diagnosis: 2 bytes of padding: the worst column has bank conflicts: 1
def column_padding():
    return 2


def matrix_padding():
    return 16


def matrix_swizzle():
    return 3, 4, 3


def least_column_ways():
    return 4
