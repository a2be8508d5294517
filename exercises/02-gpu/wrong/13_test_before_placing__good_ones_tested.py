# diagnosis: Dies that fail are tested too
def works(dies, stacks, bond, good, tested):
    held = bond ** (dies + stacks)
    return held if tested else held * good**dies


def each(dies, stacks, bond, good, die, stack, rest, tested):
    logic = dies * die / (good if tested else 1)
    spent = logic + stacks * stack + rest
    return spent / works(dies, stacks, bond, good, tested)


def worth_of_test(dies, stacks, bond, good, die, stack, rest):
    case = (dies, stacks, bond, good, die, stack, rest)
    saved = each(*case, False) - each(*case, True)
    return saved * works(dies, stacks, bond, good, True) / dies
