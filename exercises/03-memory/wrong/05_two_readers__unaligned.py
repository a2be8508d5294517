# diagnosis: no lane can start there
def column_padding():
    return 4


def matrix_padding():
    return 4


def matrix_swizzle():
    return 3, 4, 3


def least_column_ways():
    return 4
