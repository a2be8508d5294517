# diagnosis: bytes do it, but fewer do too
def column_padding():
    return 12


def matrix_padding():
    return 16


def matrix_swizzle():
    return 3, 4, 3


def least_column_ways():
    return 4
