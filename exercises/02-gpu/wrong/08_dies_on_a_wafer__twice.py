# diagnosis: You left out that the smaller die works more often
def dies():
    return pi / 4 * 300**2 / 800 - pi * 300 / sqrt(2 * 800)


def good_share():
    return exp(-8 * 0.1)


def dollars():
    return 2 * 17000 / (dies() * good_share())


def half_gain():
    halves = pi / 4 * 300**2 / 400 - pi * 300 / sqrt(2 * 400)
    return halves / dies()
