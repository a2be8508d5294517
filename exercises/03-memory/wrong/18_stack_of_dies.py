# ---- base_kept: The base die is lost with its stack
def dollars(height, die, bond, tested, die_usd, layer_usd, base_usd):
    each = die_usd / die if tested else die_usd
    spent = height * (each + layer_usd)
    return base_usd + spent / works(height, die, bond, tested)


# ---- cheapest_stack: the cheapest stack; a taller one
def cheapest(heights, die, bond, tested, die_usd, layer_usd, base_usd):
    prices = (die_usd, layer_usd, base_usd)
    return min(heights, key=lambda n: dollars(n, die, bond, tested, *prices))


# ---- dead_die_kept: a dead one must be replaced
def build(height, tested, die_works, bond_holds):
    taken, alive = 0, True
    for _ in range(height):
        fine = die_works()
        taken += 1
        alive = bond_holds() and fine and alive
    return taken, alive


# ---- free_rejects: You forgot to pay for the dies the test threw away
def dollars(height, die, bond, tested, die_usd, layer_usd, base_usd):
    each = die_usd
    spent = base_usd + height * (each + layer_usd)
    return spent / works(height, die, bond, tested)


# ---- last_layer_decides: stacks of 8 work
def build(height, tested, die_works, bond_holds):
    taken, alive = 0, True
    for _ in range(height):
        fine = die_works()
        taken += 1
        while tested and not fine:
            fine = die_works()
            taken += 1
        alive = bond_holds() and fine
    return taken, alive


# ---- losses_added: You added up the losses
def works(height, die, bond, tested):
    return 1 - height * (1 - bond * (1 if tested else die))


# ---- no_yield: Only what is in the stack
def dollars(height, die, bond, tested, die_usd, layer_usd, base_usd):
    each = die_usd / die if tested else die_usd
    spent = base_usd + height * (each + layer_usd)
    return spent


# ---- one_bond_less: One bond too few
def works(height, die, bond, tested):
    return bond ** (height - 1) * (1 if tested else die**height)


# ---- untested_dies: You let dead dies into a stack of tested ones
def works(height, die, bond, tested):
    return bond**height * die**height
