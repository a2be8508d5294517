# diagnosis: bank conflicts: 31
def column_padding():
    return 0


def matrix_padding():
    return 16


def matrix_swizzle():
    return 3, 4, 3


def least_column_ways():
    return 4
