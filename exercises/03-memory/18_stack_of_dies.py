"""Twelve dies high, and all of them must work.

level: build

A stack of memory works when every die in it works and every bond holds. The base die
is bought tested; each DRAM die is bonded onto what is below it, so there are as many
bonds as DRAM dies. A finished stack that does not work is thrown away, with all that
is in it.

Dies are stacked in one of two ways. With `tested` false, whatever the wafer gives is
stacked. With `tested` true each die is tested first and dead ones are thrown away: a
good die then costs what all the dies cost that were tried for it.

- `works(height, die, bond, tested)`: share of finished stacks that work, when the
  share `die` of dies and the share `bond` of bonds do.
- `dollars(height, die, bond, tested, die_usd, layer_usd, base_usd)`: what a working
  stack costs on average. `die_usd` is the price of one die as it comes, `layer_usd`
  what bonding one costs.
- `cheapest(heights, die, bond, tested, die_usd, layer_usd, base_usd)`: of those
  heights the one at which a die's worth of memory is cheapest.
- `build(height, tested, die_works, bond_holds)`: build one stack. Each call of
  `die_works()` takes the next die off the wafer and says whether it works; each call
  of `bond_holds()` bonds it. Return the number of dies taken and whether the stack
  works. Nothing is tested after the first bond, so every stack is finished.

hint: Chances of independent things multiply. Write down what is spent on one stack
begun, then divide by the share that works. A tall stack spreads its base die over
more memory, and fails more often: somewhere between lies the cheapest.
"""

import random

from stacklib.cost.stacks import Costs, stack_cost, stack_yield
from stacklib.grading import expect

# ---- your answer ----


def works(height, die, bond, tested):
    """Share of finished stacks that work."""
    return bond**height * (1 if tested else die**height)


def dollars(height, die, bond, tested, die_usd, layer_usd, base_usd):
    """USD of a working stack."""
    each = die_usd / die if tested else die_usd
    spent = base_usd + height * (each + layer_usd)
    return spent / works(height, die, bond, tested)


def cheapest(heights, die, bond, tested, die_usd, layer_usd, base_usd):
    """The height at which a die's worth of memory is cheapest."""
    prices = (die_usd, layer_usd, base_usd)
    return min(heights, key=lambda n: dollars(n, die, bond, tested, *prices) / n)


def build(height, tested, die_works, bond_holds):
    """Dies taken, and whether the stack works."""
    taken, alive = 0, True
    for _ in range(height):
        fine = die_works()
        taken += 1
        while tested and not fine:
            fine = die_works()
            taken += 1
        alive = bond_holds() and fine and alive
    return taken, alive


# ---- tests ----

SHARES = [(0.9, 0.98), (0.8, 0.96), (0.99, 0.995), (0.6, 0.97)]
HEIGHTS = (1, 4, 8, 12, 16)
PRICES = {"die_usd": 5.0, "layer_usd": 3.0, "base_usd": 30.0}


def flow(tested):
    return "known good dies" if tested else "blind"


def cases(**more):
    return [
        {"height": n, "die": d, "bond": b, "tested": tested, **more}
        for tested in (True, False)
        for d, b in SHARES
        for n in HEIGHTS[1:]
    ]


def right_works(height, die, bond, tested):
    return stack_yield(height, die=die, bond=bond, flow=flow(tested))


def test_works():
    expect.function_matches(
        works,
        right_works,
        cases(),
        rel=1e-3,
        mistakes={
            "One bond too few: the first die is bonded too, onto the base die.": (
                lambda height, die, bond, tested: (
                    right_works(height, die, bond, tested) / bond
                )
            ),
            "You let dead dies into a stack of tested ones (or the other way round).": (
                lambda height, die, bond, tested: right_works(
                    height, die, bond, not tested
                )
            ),
            "You added up the losses; each layer only loses from what is left.": (
                lambda height, die, bond, tested: (
                    1 - height * (1 - bond * (1 if tested else die))
                )
            ),
        },
    )


def right_dollars(height, die, bond, tested, die_usd, layer_usd, base_usd):
    costs = Costs(die_usd, layer_usd, base_usd, 0.0)
    return stack_cost(height, costs, die=die, bond=bond, flow=flow(tested))


def test_dollars():
    expect.function_matches(
        dollars,
        right_dollars,
        cases(**PRICES),
        unit="USD",
        rel=1e-3,
        mistakes={
            "You forgot to pay for the dies the test threw away.": (
                lambda **c: (
                    right_dollars(**{**c, "die_usd": c["die_usd"] * c["die"]})
                    if c["tested"]
                    else 0.0
                )
            ),
            "The base die is lost with its stack, too.": (
                lambda **c: right_dollars(**{**c, "base_usd": 0.0}) + c["base_usd"]
            ),
            "Only what is in the stack, not what went into those thrown away.": (
                lambda **c: (
                    right_dollars(**c)
                    * right_works(c["height"], c["die"], c["bond"], c["tested"])
                )
            ),
        },
    )


def test_cheapest():
    for tested in (True, False):
        for die, bond in SHARES:
            case = {"die": die, "bond": bond, "tested": tested, **PRICES}
            each = {n: right_dollars(n, **case) / n for n in HEIGHTS}
            right = min(HEIGHTS, key=each.__getitem__)
            said = expect.call(cheapest, {"heights": HEIGHTS, **case})
            expect.equal(said, said, among=HEIGHTS)
            value = expect.whole(said)
            if value != right:
                whole = min(HEIGHTS, key=lambda n: right_dollars(n, **case))
                if value == whole:
                    raise expect.Mistake(
                        f"{value}: the cheapest stack; a taller one may hold its "
                        "memory for less"
                    )
                raise expect.Mistake(
                    f"{value} dies cost {each[value]:.3g} USD each, {right} only "
                    f"{each[right]:.3g}"
                )
            if tested:
                expect.reading(f"cheapest at {100 * bond:g} % a layer", value, "dies")


def test_build():
    rng = random.Random(18)
    for tested in (True, False):
        for height in (1, 8):
            taken = alive = right_taken = right_alive = 0
            for _ in range(400):
                seed = rng.random()
                pair = "a pair, dies taken and whether the stack works,"
                said = expect.sequence(run(build, height, tested, seed), pair, 2)
                value = expect.whole(said[0]), expect.truth(said[1])
                right = run(reference, height, tested, seed)
                taken, alive = taken + value[0], alive + value[1]
                right_taken, right_alive = (
                    right_taken + right[0],
                    right_alive + right[1],
                )
            expect.reading(f"{height} high, tested {tested}: dies taken", taken)
            if taken != right_taken:
                raise expect.Mistake(
                    f"{taken} dies for 400 stacks of {height}, {right_taken} are needed"
                    + ("; a dead one must be replaced" if taken < right_taken else "")
                )
            if alive != right_alive:
                raise expect.Mistake(
                    f"{alive} of 400 stacks of {height} work; {right_alive} should"
                )


def run(builder, height, tested, seed):
    """One stack from draws that depend on the seed alone."""
    dies, bonds = random.Random(seed), random.Random(seed + 1)
    return builder(
        height, tested, lambda: dies.random() < 0.8, lambda: bonds.random() < 0.96
    )


def reference(height, tested, die_works, bond_holds):
    taken, alive = 0, True
    for _ in range(height):
        fine, taken = die_works(), taken + 1
        while tested and not fine:
            fine, taken = die_works(), taken + 1
        alive = bond_holds() and fine and alive
    return taken, bool(alive)
