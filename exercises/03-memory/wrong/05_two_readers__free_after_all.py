# diagnosis: Word 0 of a chunk can only start a chunk.
def column_padding():
    return 4


def matrix_padding():
    return 16


def matrix_swizzle():
    return 3, 4, 3


def least_column_ways():
    return 1
