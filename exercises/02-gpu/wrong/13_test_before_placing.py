# ---- always_blind: A tested die works
def works(dies, stacks, bond, good, tested):
    held = bond ** (dies + stacks)
    return held * good**dies


def each(dies, stacks, bond, good, die, stack, rest, tested):
    logic = dies * die / (good if tested else 1)
    spent = logic + stacks * stack + rest
    return spent / (bond ** (dies + stacks) * (1 if tested else good**dies))


def worth_of_test(dies, stacks, bond, good, die, stack, rest):
    case = (dies, stacks, bond, good, die, stack, rest)
    saved = each(*case, False) - each(*case, True)
    return saved * bond ** (dies + stacks) * good / dies


# ---- counted_twice: you count them twice
def each(dies, stacks, bond, good, die, stack, rest, tested):
    logic = dies * die / good
    spent = logic + stacks * stack + rest
    return spent / works(dies, stacks, bond, good, tested)


def worth_of_test(dies, stacks, bond, good, die, stack, rest):
    blind = (dies * die + stacks * stack + rest) / good**dies
    return (blind - dies * die / good - stacks * stack - rest) * good / dies


# ---- dead_dies_free: For each good die you pay for 1 / good of them.
def each(dies, stacks, bond, good, die, stack, rest, tested):
    logic = dies * die
    spent = logic + stacks * stack + rest
    return spent / works(dies, stacks, bond, good, tested)


def worth_of_test(dies, stacks, bond, good, die, stack, rest):
    blind = (dies * die + stacks * stack + rest) / good**dies
    return (blind - dies * die / good - stacks * stack - rest) * good / dies


# ---- good_ones_tested: Dies that fail are tested too
def worth_of_test(dies, stacks, bond, good, die, stack, rest):
    case = (dies, stacks, bond, good, die, stack, rest)
    saved = each(*case, False) - each(*case, True)
    return saved * works(dies, stacks, bond, good, True) / dies


# ---- one_placement: All placements have to hold, not one.
def works(dies, stacks, bond, good, tested):
    held = bond
    return held if tested else held * good**dies


def each(dies, stacks, bond, good, die, stack, rest, tested):
    logic = dies * die / (good if tested else 1)
    spent = logic + stacks * stack + rest
    return spent / (bond ** (dies + stacks) * (1 if tested else good**dies))


def worth_of_test(dies, stacks, bond, good, die, stack, rest):
    case = (dies, stacks, bond, good, die, stack, rest)
    saved = each(*case, False) - each(*case, True)
    return saved * bond ** (dies + stacks) * good / dies
