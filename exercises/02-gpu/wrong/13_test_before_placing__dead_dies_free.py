# diagnosis: For each good die you pay for 1 / good of them.
def works(dies, stacks, bond, good, tested):
    held = bond ** (dies + stacks)
    return held if tested else held * good**dies


def each(dies, stacks, bond, good, die, stack, rest, tested):
    logic = dies * die
    spent = logic + stacks * stack + rest
    return spent / works(dies, stacks, bond, good, tested)


def worth_of_test(dies, stacks, bond, good, die, stack, rest):
    blind = (dies * die + stacks * stack + rest) / good**dies
    return (blind - dies * die / good - stacks * stack - rest) * good / dies
