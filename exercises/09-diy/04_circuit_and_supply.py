"""The limit that a circuit allows, and the supply that a spike needs.

level: derive

A machine has `cards` cards of `watts` W each and `other` W of all else. Its supply
gives `share` of the wall's power. Suppose a circuit of `volts` V and `amps` A carries
80 % of that for hours.

- `limit(cards, watts, other, share, volts, amps)`: the highest power limit of a
  card, in whole watts and never above `watts`, with which the circuit holds for hours;
  raise `ValueError` where it would not even without cards.
- `rating(cards, watts, other, stands)`: suppose one card draws 3 times its power for
  100 us while all else goes on, and a supply stands `stands` times its rating so long.
  The smallest rating, in whole watts, that carries load and spike.

Then hold your limit against `stacklib plan --verify` of the same machine.

hint: The breaker sees what the supply takes, not what it gives. A supply has two
limits, and the larger need decides.
"""

import math

from stacklib.grading import expect

# ---- your answer ----


def limit(cards, watts, other, share, volts, amps):
    """Watts that each card may draw."""
    left = 0.8 * volts * amps * share - other
    if left < 0:
        raise ValueError(f"{other} W without cards are too much for the circuit")
    return min(watts, math.floor(left / cards + 1e-9))


def rating(cards, watts, other, stands):
    """Watts of the supply."""
    steady = cards * watts + other
    return math.ceil(max(steady, (steady + 2 * watts) / stands) - 1e-9)


# ---- tests ----

NAMES = ("cards", "watts", "other")
SIZES = ((1, 575, 380), (2, 575, 500), (4, 350, 305))
MACHINES = [dict(zip(NAMES, sizes, strict=True)) for sizes in SIZES]
OUTLETS = ({"volts": 120, "amps": 15}, {"volts": 230, "amps": 16})


def load(cards, watts, other):
    """All of it."""
    return sum([other, *[watts] * cards])


def test_limit():
    def most(volts, amps, share, hours=0.8, **m):
        most = hours * volts * amps * share + 1e-9
        return max(w for w in range(m["watts"] + 1) if load(**m | {"watts": w}) <= most)

    cases = [{**m, "share": 0.89} | o for m in MACHINES for o in OUTLETS]
    told = {
        "A breaker holds for hours at less than its rating.": (
            lambda **case: most(hours=1.0, **case)
        ),
        "The breaker sees what the supply takes.": (
            lambda **case: most(**case | {"share": 1.0})
        ),
    }
    expect.function_matches(limit, most, cases, unit="W", rel=1e-6, mistakes=told)
    case = MACHINES[2] | {"share": 0.89} | OUTLETS[0]
    expect.reading("limit of four cards on one circuit", limit(**case), "W")


def test_what_no_limit_mends_is_refused():
    case = MACHINES[0] | {"other": 1400, "share": 0.89} | OUTLETS[0]
    expect.refuses(limit, case, because="the machine trips the breaker without cards")


def test_rating():
    def need(stands, steady=1, **m):
        moment = load(**m | {"cards": m["cards"] + 2})
        least = max(steady * load(**m), moment / stands)
        return next(w for w in range(1, 9999) if w >= least)

    cases = [{**m, "stands": stands} for m in MACHINES for stands in (1.25, 2)]
    told = {
        "It has to stand the spike, too.": lambda stands, **m: load(**m),
        "It has to carry the load as well.": lambda **case: need(steady=0, **case),
    }
    expect.function_matches(rating, need, cases, unit="W", rel=1e-6, mistakes=told)
