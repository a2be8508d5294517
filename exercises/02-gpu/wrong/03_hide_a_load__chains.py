# diagnosis: Two chains in a warp do the work of two warps.
def bytes_under_way():
    return 3.35e12 * 670 / 1.98e9 / 132


def warps_of_one_load():
    return bytes_under_way() / 512


def warps_of_four_loads():
    return warps_of_one_load() / 4


def warps_for_arithmetic():
    return 4
