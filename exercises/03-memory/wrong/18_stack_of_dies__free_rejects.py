# diagnosis: You forgot to pay for the dies the test threw away
def works(height, die, bond, tested):
    return bond**height * (1 if tested else die**height)


def dollars(height, die, bond, tested, die_usd, layer_usd, base_usd):
    each = die_usd
    spent = base_usd + height * (each + layer_usd)
    return spent / works(height, die, bond, tested)


def cheapest(heights, die, bond, tested, die_usd, layer_usd, base_usd):
    prices = (die_usd, layer_usd, base_usd)
    return min(heights, key=lambda n: dollars(n, die, bond, tested, *prices) / n)


def build(height, tested, die_works, bond_holds):
    taken, alive = 0, True
    for _ in range(height):
        fine = die_works()
        taken += 1
        while tested and not fine:
            fine = die_works()
            taken += 1
        alive = bond_holds() and fine and alive
    return taken, alive
