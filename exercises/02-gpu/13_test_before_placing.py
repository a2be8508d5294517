"""Test before placing.

level: derive

A package takes `dies` dies of logic and `stacks` stacks of memory, placed one by one on
an interposer. Each placement holds with the chance `bond`, and a die works with the
chance `good`; stacks are bought working. A package works when all of it does, and one
that does not is thrown away whole. A die costs `die` dollars, good or not, a stack
`stack`, interposer and work `rest`.

- `works(dies, stacks, bond, good, tested)`: share of packages that work. With `tested`
  only good dies are placed.
- `each(dies, stacks, bond, good, die, stack, rest, tested)`: dollars for a package that
  works, all losses included. Testing costs nothing here.
- `worth_of_test(dies, stacks, bond, good, die, stack, rest)`: dollars that the test of
  one die may cost before it no longer pays. Dies that fail are tested too.

hint: For each good die `1 / good` dies are paid for. Spread what is spent on one
package over the share that works. For the last: set both costs equal, and solve.
"""

from stacklib.cost.packages import Parts, package_cost, package_yield
from stacklib.grading import expect

# ---- your answer ----


def works(dies, stacks, bond, good, tested):
    """Share of packages that work."""
    held = bond ** (dies + stacks)
    return held if tested else held * good**dies


def each(dies, stacks, bond, good, die, stack, rest, tested):
    """Dollars for a package that works."""
    logic = dies * die / (good if tested else 1)
    spent = logic + stacks * stack + rest
    return spent / works(dies, stacks, bond, good, tested)


def worth_of_test(dies, stacks, bond, good, die, stack, rest):
    """Dollars that the test of one die may cost."""
    case = {"bond": bond, "good": good, "die": die, "stack": stack, "rest": rest}
    saved = each(dies, stacks, **case, tested=False)
    saved -= each(dies, stacks, **case, tested=True)
    tests = dies / good / works(dies, stacks, bond, good, True)
    return saved / tests


# ---- tests ----

CASES = [
    {"dies": d, "stacks": s, "bond": b, "good": g, "die": 250.0, "stack": 360.0,
     "rest": r}
    for d, s in ((2, 8), (1, 6), (4, 12))
    for b, g in ((0.982, 0.48), (0.995, 0.8))
    for r in (1100.0, 400.0)
]  # fmt: skip
BOTH = [{**case, "tested": t} for case in CASES for t in (True, False)]
ORDER = {True: "known good dies", False: "blind"}
SHARES = ("dies", "stacks", "bond", "good", "tested")


def right_works(dies, stacks, bond, good, tested):
    return package_yield(dies, stacks, die=good, bond=bond, order=ORDER[tested])


def right_each(dies, stacks, bond, good, die, stack, rest, tested):
    bill = Parts(die=die, stack=stack, interposer=rest)
    return package_cost(dies, stacks, bill, die=good, bond=bond, order=ORDER[tested])


def right_worth(**c):
    saved = right_each(**c, tested=False) - right_each(**c, tested=True)
    works_of = c["bond"] ** (c["dies"] + c["stacks"])
    return saved * works_of * c["good"] / c["dies"]


def test_works():
    expect.function_matches(
        works,
        right_works,
        [{name: case[name] for name in SHARES} for case in BOTH],
        rel=1e-6,
        mistakes={
            "Every part is a placement: dies and stacks.": lambda **c: (
                right_works(**c) / c["bond"] ** c["stacks"]
            ),
            "All placements have to hold, not one.": lambda **c: (
                right_works(**c) / c["bond"] ** (c["dies"] + c["stacks"] - 1)
            ),
            "A tested die works: its yield is paid for, and takes no package along.": (
                lambda **c: right_works(**{**c, "tested": False})
            ),
            "Untested dies all have to work by chance.": (
                lambda **c: right_works(**{**c, "tested": True})
            ),
        },
    )


def test_each():
    def paid_twice(**c):
        more = c["dies"] * c["die"] / c["good"] - c["dies"] * c["die"]
        share = right_works(**{name: c[name] for name in SHARES})
        return right_each(**c) + (0 if c["tested"] else more / share)

    expect.function_matches(
        each,
        right_each,
        BOTH,
        unit="USD",
        rel=1e-6,
        mistakes={
            "For each good die you pay for 1 / good of them.": lambda **c: right_each(
                **{**c, "die": c["die"] * c["good"]}
            ),
            "Untested, the bad dies are paid for by the packages they kill; you count "
            "them twice.": paid_twice,
            "That is a package begun; those that fail are paid for too.": lambda **c: (
                right_each(**c) * right_works(**{name: c[name] for name in SHARES})
            ),
        },
    )
    case = CASES[0]
    for tested, name in ORDER.items():
        dollars = right_each(**case, tested=tested)
        expect.reading(f"a package, {name}", f"{dollars:,.0f} USD")


def test_worth():
    expect.function_matches(
        worth_of_test,
        lambda **c: right_worth(**c),
        CASES,
        unit="USD",
        rel=1e-6,
        mistakes={
            "Dies that fail are tested too: 1 / good tests for each good die.": (
                lambda **c: right_worth(**c) / c["good"]
            ),
            "That is for all tests of a package; one die's is asked for.": (
                lambda **c: right_worth(**c) * c["dies"]
            ),
            "Failed packages were full of tested dies as well.": lambda **c: (
                right_worth(**c) / c["bond"] ** (c["dies"] + c["stacks"])
            ),
        },
    )
    expect.reading("a test may cost", f"{right_worth(**CASES[0]):,.0f} USD")
