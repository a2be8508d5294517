"""Hours of yours, or hours of GPUs?

level: derive

A kernel takes `now` milliseconds per call and has a `share`, a fraction, of the time of
a fleet. A route to a better one makes it `new` milliseconds and costs `hours` of work
at a `wage` in USD per hour. The fleet runs for `gpu_hours` in all; one costs `price`
USD. What the kernel no longer takes is GPU time that need not be paid for; the rest of
the fleet's time stays as it is.

- `worth(share, now, new, gpu_hours, price, hours, wage)`: USD that the route brings,
  less what its hours cost. A kernel that is no faster brings nothing, and costs its
  hours all the same: nobody puts it in.
- `break_even(share, now, new, price, hours, wage)`: GPU-hours from which on it pays.
  It must raise a ValueError where it never does.
- `route(routes, share, now, gpu_hours, price, wage)`: of `routes`, a mapping from names
  to pairs of `new` and `hours`, the name of the one that is worth most, or
  "leave it" where none is worth more than nothing.

hint: First find which part of the fleet's GPU-hours is saved. The share of the kernel
alone is not it, unless the kernel vanishes.
"""

from stacklib.grading import expect

# ---- your answer ----


def worth(share, now, new, gpu_hours, price, hours, wage):
    """USD that a route brings, less what its hours cost."""
    saved = share * max(0.0, 1 - new / now)
    return saved * gpu_hours * price - hours * wage


def break_even(share, now, new, price, hours, wage):
    """GPU-hours from which on it pays."""
    saved = share * (1 - new / now)
    if saved <= 0:
        raise ValueError(f"from {now} ms to {new} ms nothing is saved")
    return hours * wage / (saved * price)


def route(routes, share, now, gpu_hours, price, wage):
    """The route that is worth most, or "leave it"."""
    values = {
        name: worth(share, now, new, gpu_hours, price, hours, wage)
        for name, (new, hours) in routes.items()
    }
    best = max(values, key=values.get)
    return best if values[best] > 0 else "leave it"


# ---- tests ----

CASES = [
    {"share": 0.15, "now": 12.0, "new": 2.0, "price": 2.5, "hours": 4, "wage": 150},
    {"share": 0.08, "now": 5.0, "new": 4.0, "price": 2.0, "hours": 320, "wage": 120},
    {"share": 0.6, "now": 3.0, "new": 2.4, "price": 3.0, "hours": 800, "wage": 180},
    {"share": 1.0, "now": 7.0, "new": 0.5, "price": 1.5, "hours": 80, "wage": 100},
]
FLEETS = (0, 1_000, 70_080, 1_000_000)
ROUTES = {"compiler": (7.0, 4), "triton": (5.0, 80), "cuda": (4.0, 800)}


def saved(share, now, new):
    return share * max(0.0, 1 - new / now)


def right_worth(share, now, new, gpu_hours, price, hours, wage):
    return saved(share, now, new) * gpu_hours * price - hours * wage


def right_even(share, now, new, price, hours, wage):
    return hours * wage / (saved(share, now, new) * price)


def right_route(routes, share, now, gpu_hours, price, wage, free=False):
    values = {
        name: right_worth(share, now, new, gpu_hours, price, 0 if free else hours, wage)
        for name, (new, hours) in routes.items()
    }
    best = max(values, key=lambda name: values[name])
    return best if values[best] > 0 else "leave it"


def test_worth():
    expect.function_matches(
        worth,
        right_worth,
        [case | {"gpu_hours": fleet} for case in CASES for fleet in FLEETS],
        unit="USD",
        mistakes={
            "The whole share is saved only if the kernel takes no time at all.": (
                lambda share, now, new, gpu_hours, price, hours, wage: (
                    share * gpu_hours * price - hours * wage
                )
            ),
            "The rest of the fleet's time stays: the share is missing.": (
                lambda share, now, new, gpu_hours, price, hours, wage: (
                    saved(1, now, new) * gpu_hours * price - hours * wage
                )
            ),
            "Work is not free: its hours are missing.": (
                lambda share, now, new, gpu_hours, price, hours, wage: (
                    saved(share, now, new) * gpu_hours * price
                )
            ),
            "That takes the speedup for the saving, which is one less new over now.": (
                lambda share, now, new, gpu_hours, price, hours, wage: (
                    share * (now / new - 1) * gpu_hours * price - hours * wage
                )
            ),
        },
    )


def test_worth_of_a_slower_kernel():
    case = CASES[0] | {"new": 15.0, "gpu_hours": 10_000}
    mine = expect.read(expect.call(worth, case), "USD")
    if abs(mine + case["hours"] * case["wage"]) > 1e-6 * case["hours"] * case["wage"]:
        raise expect.Mistake(
            f"a kernel slower than the old one: {mine:,.0f} USD; nobody puts it in, so "
            "it loses its hours and no more"
        )


def test_break_even():
    expect.function_matches(
        break_even,
        right_even,
        CASES,
        unit="h",
        mistakes={
            "The whole share is saved only if the kernel takes no time at all.": (
                lambda share, now, new, price, hours, wage: hours * wage / share / price
            ),
            "The rest of the fleet's time stays: the share is missing.": (
                lambda share, now, new, price, hours, wage: (
                    hours * wage / saved(1, now, new) / price
                )
            ),
            "Those are USD; a GPU-hour has a price.": (
                lambda share, now, new, price, hours, wage: (
                    hours * wage / saved(share, now, new)
                )
            ),
        },
    )
    for new in (12.0, 13.0):
        expect.refuses(
            break_even, CASES[0] | {"new": new}, because="it saves nothing, ever"
        )
    expect.refuses(break_even, CASES[0] | {"share": 0.0}, because="it saves nothing")


def test_route():
    shared = {"share": 0.2, "now": 10.0, "price": 2.5, "wage": 150}
    slow = {"cuda": (11.0, 800), "triton": (10.5, 80)}
    cases = [{"routes": ROUTES, "gpu_hours": g} | shared for g in (100, 5e3, 4e5, 1e8)]
    cases.append({"routes": slow, "gpu_hours": 1e9} | shared)
    for case in cases:
        given = case | {"routes": dict(case["routes"])}
        mine, right = expect.call(route, given), right_route(**case)
        expect.equal(mine, mine, among=[*case["routes"], "leave it"])
        if mine == right:
            continue
        fleet = f"{case['gpu_hours']:,.0f} GPU-hours"
        if right == "leave it":
            raise expect.Mistake(f"{fleet}: {mine} is worth nothing here: leave it")
        if mine == right_route(**case, free=True):
            raise expect.Mistake(f"{fleet}: {mine} saves most, but its hours cost more")
        raise expect.Mistake(f"{fleet}: {mine} is not worth most")
