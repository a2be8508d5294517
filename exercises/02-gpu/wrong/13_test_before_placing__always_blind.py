# diagnosis: A tested die works
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
