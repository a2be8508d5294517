# diagnosis: Links are silicon too
def whole(area, density):
    return exp(-area * density)


def cut(area, density, pieces, talk, bond):
    piece = area / pieces / (1 - talk)
    return whole(piece, density) * bond**pieces


def spare(area, density, units, needed):
    works = whole(area / units, density)
    return sum(
        comb(units, k) * works**k * (1 - works) ** (units - k)
        for k in range(needed, units + 1)
    )


def waste(share):
    return 1 / share
