"""How hot a machine gets behind a closed door, and what it may draw there for ever.

level: derive

Suppose a chain of parts: die, sink, case, room. Each stores `capacities` joules per
kelvin and hands heat to the next through `resistances` kelvins per watt, the last one
to what is `outside`, in °C, as all parts are at first. `watts` go into the first part.

- `settled(resistances, watts, outside)`: degrees of each part after any time, a list.
- `alone(resistance, capacity, watts, outside, hours)`: degrees of one part by itself.
- `warmed(resistances, capacities, watts, outside, hours)`: degrees of each part after
  some hours; small steps will do.
- `for_ever(resistances, outside, most)`: watts at which the die ends at `most` degrees;
  raise `ValueError` where it is as warm `outside` already.

Then compare the last but one with `stacklib.diy.heat`.

hint: At rest the same watts pass every resistance. One part moves toward its end by an
exponential of time over resistance times capacity. Small steps must be smaller than the
fastest part's resistance times its capacity.
"""

import math
from functools import partial

from stacklib.grading import expect

# ---- your answer ----


def settled(resistances, watts, outside):
    """From the outside in."""
    return [outside + watts * sum(resistances[i:]) for i in range(len(resistances))]


def alone(resistance, capacity, watts, outside, hours):
    """Toward its end."""
    gone = -math.expm1(-hours * 3600 / (resistance * capacity))
    return outside + watts * resistance * gone


def warmed(resistances, capacities, watts, outside, hours):
    """In steps of a fifth of the fastest part's time."""
    fastest = min(r * c for r, c in zip(resistances, capacities, strict=True)) / 5
    steps = math.ceil(hours * 3600 / fastest)
    at, dt = [outside] * len(resistances), hours * 3600 / steps
    for _ in range(steps):
        ways = zip(at, [*at[1:], outside], resistances, strict=True)
        flows = [(a - b) / r for a, b, r in ways]
        gains = zip(at, [watts, *flows], flows, capacities, strict=False)
        at = [t + dt * (come - go) / c for t, come, go, c in gains]
    return at


def for_ever(resistances, outside, most):
    """All that lies between the die and the outside."""
    if not outside < most < math.inf:
        raise ValueError(f"most = {most!r}: it is {outside} outside")
    return (most - outside) / sum(resistances)


# ---- tests ----

CHAIN = {"resistances": [0.01, 0.02, 0.012, 0.022], "watts": 1200, "outside": 22}
STORES = [1400, 2800, 15_000, 200_000]


def passing(resistances, watts, outside, place=0, turned=False):
    """Degrees of one part, a resistance after the other."""
    way = resistances[: place + 1] if turned else resistances[place:]
    return outside + math.fsum(watts * r for r in way)


def test_settled():
    def one(place, **case):
        return settled(**case)[place]

    told = {
        "The die has all resistances between itself and the outside.": partial(
            passing, turned=True
        ),
        "It is not 0 °C outside.": lambda outside, **case: passing(**case, outside=0),
    }
    cases = [{**CHAIN, "place": place} for place in range(4)]
    expect.function_matches(one, passing, cases, rel=1e-9, mistakes=told)


def toward(resistance, capacity, watts, outside, hours, second=3600):
    """What is left of the way falls by an exponential."""
    left = math.exp(-hours * second / resistance / capacity)
    return outside + watts * resistance * (1 - left)


def test_alone():
    case = {"resistance": 0.02, "watts": 900, "outside": 22}
    cases = [{**case, "capacity": 5e5, "hours": hours} for hours in (0.1, 1, 8)]
    told = {"A watt is a joule a second, not an hour.": partial(toward, second=1)}
    expect.function_matches(alone, toward, cases, rel=1e-6, mistakes=told)


def test_warmed():
    from stacklib.diy import heat

    exact = heat(CHAIN["resistances"], STORES, 1200, 0.5, 22).parts[-1]
    mine = warmed(capacities=STORES, hours=0.5, **CHAIN)
    for part, degrees, right in zip("ABCD", mine, exact, strict=True):
        expect.reading(f"part {part}", degrees)
        expect.number(degrees, right, rel=2e-3)


def test_for_ever():
    def bound(resistances, outside, most, parts=None):
        return (most - outside) / math.fsum(resistances[:parts])

    case = {"resistances": CHAIN["resistances"], "outside": 22}
    told = {"The room lies between die and outside as well.": partial(bound, parts=3)}
    cases = [{**case, "most": most} for most in (70, 84)]
    expect.function_matches(for_ever, bound, cases, unit="W", rel=1e-9, mistakes=told)
    for most in (20, 22, math.nan):
        why = "it is as warm outside"
        expect.refuses(for_ever, {**case, "most": most}, because=why)
