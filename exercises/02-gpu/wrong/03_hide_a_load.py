# ---- chains: Two chains in a warp do the work of two warps.
def warps_for_arithmetic():
    cycles_to_wait = 4
    return cycles_to_wait / 1


# ---- more_loads_more_warps: fewer warps, not more
def warps_of_four_loads():
    return warps_of_one_load() * 4


# ---- nanoseconds: takes the 670 for nanoseconds
def bytes_under_way():
    return 3.35e12 * 670e-9 / 132


# ---- whole_unit: a scheduler has a quarter
def warps_of_one_load():
    return bytes_under_way() / 128


def warps_of_four_loads():
    return bytes_under_way() / 512 / 4
