# ---- part_by_part: parts are placed one after the other
from fractions import Fraction


def works(dies, stacks, bond, good, tested):
    share = Fraction(1)
    for part in ["die"] * dies + ["stack"] * stacks:
        share *= Fraction(bond)
        if part == "die" and not tested:
            share *= Fraction(good)
    return share


def each(dies, stacks, bond, good, die, stack, rest, tested):
    spent = Fraction(rest)
    for _ in range(dies):
        spent += Fraction(die) / (Fraction(good) if tested else 1)
    for _ in range(stacks):
        spent += Fraction(stack)
    return spent / works(dies, stacks, bond, good, tested)


def worth_of_test(dies, stacks, bond, good, die, stack, rest):
    case = (dies, stacks, bond, good)
    blind = each(*case, die, stack, rest, False)
    low, high = 0.0, 1e7
    for _ in range(60):
        test = (low + high) / 2
        # A tested die costs its own test and those of the dead ones.
        pays = each(*case, die + test, stack, rest, True) < blind
        low, high = (test, high) if pays else (low, test)
    return low


# ---- quantities: dollars, and the saving solved by hand
from stacklib.quantity import Quantity


def works(dies, stacks, bond, good, tested):
    return bond**dies * bond**stacks * (good**dies) ** (not tested)


def each(dies, stacks, bond, good, die, stack, rest, tested):
    paid = 1 / good if tested else 1.0
    spent = Quantity(dies * die * paid + stacks * stack + rest, "USD")
    return spent / works(dies, stacks, bond, good, tested)


def worth_of_test(dies, stacks, bond, good, die, stack, rest):
    begun = Quantity(dies * die + stacks * stack + rest, "USD") / good**dies
    tested = Quantity(dies * die / good + stacks * stack + rest, "USD")
    return (begun - tested) * good / dies
