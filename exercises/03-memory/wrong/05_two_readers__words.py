# diagnosis: 16 bytes must stay together
def column_padding():
    return 4


def matrix_padding():
    return 16


def matrix_swizzle():
    return 5, 2, 5


def least_column_ways():
    return 4
