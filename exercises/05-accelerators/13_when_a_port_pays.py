"""When a port pays, and when a speedup can be true.

level: derive

Suppose `people` engineers port for `months`, `stay` of them keep it running for the
`years` that it is used, and each costs `wage` dollars a year. A GPU on the other
platform saves `saved` dollars in each hour in use; a year has `8766` hours, of which it
is in use for the share `used`.

- `a_year(people, months, stay, wage, years)`: dollars of effort that fall on a year.
- `fleet(effort, saved, used)`: GPUs from which on `effort` dollars a year pay.
- `at_most(readers, weights, cache, work)`: how many times as fast a chip with the same
  memory and endless arithmetic is at most. `weights` and `cache` are milliseconds of
  reading the weights, and each reader's cache; `work` of each reader's arithmetic. A
  step takes the longer of reading and arithmetic.
- `readers_for(ratio, weights, cache, work)`: the fewest readers at which `ratio`, above
  `1`, is possible, or `None` where it is at no number.

Raise `ValueError` where nothing is saved: a fleet that loses with every hour is not
made good by more hours.

hint: Spread what is paid once over the years. For the last, write the ratio as a
fraction in the readers and ask what it comes to when they are many.
"""

import math

from stacklib.grading import expect

# ---- your answer ----

HOURS = 8766


def a_year(people, months, stay, wage, years):
    """Dollars of effort in a year."""
    return (people * months / 12 / years + stay) * wage


def fleet(effort, saved, used):
    """GPUs at which both are equal."""
    if not 0 < saved < math.inf:
        raise ValueError(f"saved = {saved!r}: no fleet is large enough")
    return effort / (saved * used * HOURS)


def at_most(readers, weights, cache, work):
    """Arithmetic over reading, where it is longer."""
    return max(1.0, readers * work / (weights + readers * cache))


def readers_for(ratio, weights, cache, work):
    """The fewest readers for a ratio, or None."""
    left = work - ratio * cache
    return math.ceil(ratio * weights / left) if left > 0 else None


# ---- tests ----

EFFORTS = [
    {"people": p, "months": m, "stay": s, "wage": 300_000, "years": y}
    for p, m, s in ((20, 12, 5), (3, 6, 0), (60, 30, 20))
    for y in (1, 3)
]
STEPS = [
    {"weights": w, "cache": c, "work": 0.0703}
    for w, c in ((20.75, 0.0001), (20.75, 0.002), (20.75, 0.1))
]


def test_a_year():
    expect.function_matches(
        a_year,
        lambda people, months, stay, wage, years: (
            people * wage * months / (12 * years) + stay * wage
        ),
        EFFORTS,
        unit="USD",
        rel=1e-6,
        mistakes={
            "Who stays is paid every year, not spread over them.": (
                lambda people, months, stay, wage, years: (
                    (people * months / 12 + stay) * wage / years
                )
            ),
            "What is paid once is spread over the years of use.": (
                lambda people, months, stay, wage, years: (
                    (people * months / 12 + stay) * wage
                )
            ),
            "A wage is of a year, and the port takes months.": (
                lambda people, months, stay, wage, years: (
                    (people * months / years + stay) * wage
                )
            ),
        },
    )


def test_fleet():
    expect.function_matches(
        fleet,
        lambda effort, saved, used: effort / 8766 / saved / used,
        [
            {"effort": e, "saved": s, "used": u}
            for e in (3.5e6, 2e5)
            for s, u in ((0.62, 0.7), (0.1, 1.0))
        ],
        rel=1e-6,
        mistakes={
            "Idle hours save nothing.": (
                lambda effort, saved, used: effort / 8766 / saved
            ),
            "That is what one GPU saves in the years, over the effort.": (
                lambda effort, saved, used: saved * used * 8766 / effort
            ),
        },
    )


def test_a_fleet_that_loses_is_refused():
    for saved in (0.0, -0.3, math.nan):
        given = {"effort": 1e6, "saved": saved, "used": 0.7}
        expect.refuses(fleet, given, because="nothing is saved, on any number of GPUs")


def test_at_most():
    expect.function_matches(
        at_most,
        lambda readers, weights, cache, work: (
            max(readers * work, weights + readers * cache) / (weights + readers * cache)
        ),
        [{"readers": n, **step} for n in (1, 300, 5000, 10**6) for step in STEPS],
        rel=1e-6,
        mistakes={
            "A chip with the same memory is not slower: at least once as fast.": (
                lambda readers, weights, cache, work: (
                    readers * work / (weights + readers * cache)
                )
            ),
            "Each reader's cache is read in the step, too.": (
                lambda readers, weights, cache, work: max(1, readers * work / weights)
            ),
        },
    )


def test_readers_for():
    for step in STEPS:
        for ratio in (1.5, 20.0, 30.0):
            found = readers_for(ratio, **step)
            possible = step["work"] / step["cache"] > ratio
            expect.equal(found is not None, possible, among=(True, False))
            if found is not None:
                expect.equal(step_ratio(found, step) >= ratio - 1e-9, True)
                expect.equal(step_ratio(found - 1, step) < ratio, True)


def step_ratio(readers, step):
    """The ratio with so many readers."""
    read = step["weights"] + readers * step["cache"]
    return readers * step["work"] / read
