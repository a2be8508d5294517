"""Cut the die, or spare some units.

level: derive

A design needs `area` square centimetres of silicon. Defects fall `density` to a square
centimetre and know nothing of each other. There are two ways to lose less of it.

- `whole(area, density)`: share of dies without a defect when it is one die.
- `cut(area, density, pieces, talk, bond)`: share of the silicon that ends in a working
  design when it is cut into equal dies. Each die spends the part `talk` of its own area
  on links, so it is larger than its share of the design. Dies are tested, so only good
  ones are placed; a design works when all placements hold, each with chance `bond`.
- `spare(area, density, units, needed)`: share of dies that can be sold when the die is
  nothing but `units` equal units, and at least `needed` of them must have no defect.
- `waste(share)`: silicon paid for each useful piece of silicon, when `share` works.

hint: Begin with `whole`: the Poisson chance of no event. In `cut`, first make a piece
larger by its links, then take the yield of that. For `spare`, `math.comb` counts the
ways in which enough of them come out good.
"""

from math import comb, exp

from stacklib import cost
from stacklib.cost.packages import package_yield
from stacklib.cost.yields import harvested
from stacklib.grading import expect

# ---- your answer ----


def whole(area, density):
    """Share of dies without a defect."""
    return exp(-area * density)


def cut(area, density, pieces, talk, bond):
    """Share of the silicon that ends as useful, working silicon."""
    piece = area / pieces / (1 - talk)
    return (1 - talk) * whole(piece, density) * bond**pieces


def spare(area, density, units, needed):
    """Share of dies that can be sold."""
    works = whole(area / units, density)
    return sum(
        comb(units, k) * works**k * (1 - works) ** (units - k)
        for k in range(needed, units + 1)
    )


def waste(share):
    """Silicon paid for each useful piece."""
    return 1 / share


# ---- tests ----

AREAS = [{"area": a, "density": d} for a in (1.0, 4.29, 8.58) for d in (0.06, 0.11)]
CUTS = [
    {**case, "pieces": n, "talk": t, "bond": b}
    for case in AREAS
    for n, t, b in ((2, 0.1, 0.99), (4, 0.1, 0.98), (8, 0.2, 0.97))
]
SPARES = [
    {**case, "units": u, "needed": k}
    for case in AREAS
    for u, k in ((10, 9), (20, 17), (40, 40))
]


def right_whole(area, density):
    return cost.poisson(area * density)


def right_cut(area, density, pieces, talk, bond):
    each = right_whole(area / pieces / (1 - talk), density)
    works = package_yield(pieces, 0, die=each, bond=bond)
    return (1 - talk) * each * works


def right_spare(area, density, units, needed):
    return harvested(area * density, units=units, needed=needed, alpha=1e7)


def test_whole():
    expect.function_matches(
        whole,
        right_whole,
        AREAS,
        mistakes={
            "That is the share with a defect.": lambda **c: 1 - right_whole(**c),
            "Several defects on one die kill it once; do not subtract them.": (
                lambda area, density: 1 - area * density
            ),
        },
    )


def test_cut():
    expect.function_matches(
        cut,
        right_cut,
        CUTS,
        mistakes={
            "One placement each: all of them must hold.": lambda **c: (
                right_cut(**c) / c["bond"] ** (c["pieces"] - 1)
            ),
            "Dies were tested: a dead one is thrown away alone, not with the others.": (
                lambda **c: (
                    right_cut(**c)
                    * right_whole(
                        c["area"] / c["pieces"] / (1 - c["talk"]), c["density"]
                    )
                    ** (c["pieces"] - 1)
                )
            ),
            "Links are silicon too, and useless by themselves.": lambda **c: (
                right_cut(**c) / (1 - c["talk"])
            ),
        },
    )


def test_spare():
    expect.function_matches(
        spare,
        right_spare,
        SPARES,
        rel=1e-4,
        mistakes={
            "No fewer than needed; more of them may work.": lambda **c: (
                right_spare(**c)
                - (
                    right_spare(**{**c, "needed": c["needed"] + 1})
                    if c["needed"] < c["units"]
                    else 0
                )
            ),
            "A unit is smaller than the die.": lambda **c: right_spare(
                **{**c, "area": c["area"] * c["units"]}
            ),
        },
    )


def paid(share):
    return 1 / share


def test_waste():
    case = {"area": 8.0, "density": 0.1}
    shares = {
        "one die": right_whole(**case),
        "four pieces": right_cut(**case, pieces=4, talk=0.1, bond=0.99),
        "a tenth spare": right_spare(**case, units=40, needed=36),
    }
    for name, share in shares.items():
        expect.reading(f"silicon paid, {name}", f"{paid(share):.2f}")
    expect.function_matches(
        waste,
        paid,
        [{"share": share} for share in shares.values()],
        mistakes={"That is what is thrown away.": lambda share: 1 - share},
    )
