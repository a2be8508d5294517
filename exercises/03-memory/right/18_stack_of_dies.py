# ---- layers: a stack grows layer by layer
def works(height, die, bond, tested):
    share = 1.0
    for _ in range(height):
        share *= bond if tested else bond * die
    return share


def dollars(height, die, bond, tested, die_usd, layer_usd, base_usd):
    tried = 1 / die if tested else 1
    bill = [base_usd]
    for _ in range(height):
        bill += [tried * die_usd, layer_usd]
    return sum(bill) / works(height, die, bond, tested)


def cheapest(heights, die, bond, tested, die_usd, layer_usd, base_usd):
    best = None
    for height in heights:
        whole = dollars(height, die, bond, tested, die_usd, layer_usd, base_usd)
        if best is None or whole / height < best[0]:
            best = whole / height, height
    return best[1]


def build(height, tested, die_works, bond_holds):
    layers, taken = [], 0
    while len(layers) < height:
        taken += 1
        fine = die_works()
        if fine or not tested:
            layers.append(fine & bond_holds())
    return [taken, all(layers)]


# ---- recursion: a stack is a smaller one with a layer on it, in quantities
import numpy as np

from stacklib.quantity import Quantity


def works(height, die, bond, tested):
    if height == 0:
        return 1
    return works(height - 1, die, bond, tested) * bond * die ** (not tested)


def dollars(height, die, bond, tested, die_usd, layer_usd, base_usd):
    each = die_usd / die**tested + layer_usd
    spent = Quantity(base_usd, "USD") + height * Quantity(each, "USD")
    return spent / works(height, die, bond, tested)


def cheapest(heights, die, bond, tested, die_usd, layer_usd, base_usd):
    prices = [
        dollars(n, die, bond, tested, die_usd, layer_usd, base_usd).si / n
        for n in heights
    ]
    return np.array(heights)[np.argmin(prices)]


def build(height, tested, die_works, bond_holds):
    if height == 0:
        return np.array([0, 1])
    dies = [die_works()]
    while tested and not dies[-1]:
        dies.append(die_works())
    holds = dies[-1] and bond_holds() if dies[-1] else bond_holds() and False
    below = build(height - 1, tested, die_works, bond_holds)
    return int(below[0]) + len(dies), bool(below[1] and holds)
