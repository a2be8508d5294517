# diagnosis: more of them may work
def whole(area, density):
    return exp(-area * density)


def cut(area, density, pieces, talk, bond):
    piece = area / pieces / (1 - talk)
    return (1 - talk) * whole(piece, density) * bond**pieces


def spare(area, density, units, needed):
    works = whole(area / units, density)
    k = needed
    return comb(units, k) * works**k * (1 - works) ** (units - k)


def waste(share):
    return 1 / share
