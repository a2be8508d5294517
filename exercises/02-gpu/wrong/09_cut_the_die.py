# ---- blind: a dead one is thrown away alone
def cut(area, density, pieces, talk, bond):
    piece = area / pieces / (1 - talk)
    return (1 - talk) * (whole(piece, density) * bond) ** pieces


# ---- defects_subtracted: do not subtract them
def whole(area, density):
    return 1 - area * density


# ---- exactly_needed: more of them may work
def spare(area, density, units, needed):
    works = whole(area / units, density)
    k = needed
    return comb(units, k) * works**k * (1 - works) ** (units - k)


# ---- links_useful: Links are silicon too
def cut(area, density, pieces, talk, bond):
    piece = area / pieces / (1 - talk)
    return whole(piece, density) * bond**pieces


# ---- one_placement: all of them must hold
def cut(area, density, pieces, talk, bond):
    piece = area / pieces / (1 - talk)
    return (1 - talk) * whole(piece, density) * bond


# ---- thrown_away: That is what is thrown away
def waste(share):
    return 1 - share
