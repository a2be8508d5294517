# ---- area_over_area: the rim cuts some of them
def dies():
    return pi / 4 * 300**2 / 800


# ---- dead_dies_free: The dead dies are paid for too
def dollars():
    return 2 * 17000 / dies()


# ---- dead_for_good: That is the share with a defect
def good_share():
    return 1 - exp(-8 * 0.1)


# ---- side_for_diagonal: over the diagonal, not over the side
def dies():
    return pi / 4 * 300**2 / 800 - pi * 300 / sqrt(800)


# ---- square_millimetres: You multiplied mm² by defects a cm²
def good_share():
    return exp(-800 * 0.1)


# ---- twice: You left out that the smaller die works more often
def half_gain():
    halves = pi / 4 * 300**2 / 400 - pi * 300 / sqrt(2 * 400)
    return halves / dies()
