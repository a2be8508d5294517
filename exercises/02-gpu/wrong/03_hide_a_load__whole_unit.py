# diagnosis: a scheduler has a quarter
def bytes_under_way():
    return 3.35e12 * 670 / 1.98e9 / 132


def warps_of_one_load():
    return bytes_under_way() / 128


def warps_of_four_loads():
    return bytes_under_way() / 512 / 4


def warps_for_arithmetic():
    return 2
