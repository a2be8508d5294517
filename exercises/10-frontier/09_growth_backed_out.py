"""Where did a projected market begin, and can it be true?

level: derive

A market is projected to reach `value` after `years`, growing by the part `rate` a year.
Derive where it began; then, from two values, the growth between them.

- `start(value, rate, years)`: the value at the beginning.
- `growth(first, last, years)`: the growth a year between two values, as a part.
- `holds(value, lowest, highest, years, sold)`: whether a projection that names the
  lowest and the highest growth leaves room for what some firms together `sold` at its
  beginning.

Growth that leaves nothing (`-1` or less) and no time at all are a `ValueError`. Then
ask `stacklib.frontier.growth`, and back out the last market that somebody showed you.

hint: Each year multiplies. Of the two growths, the lower one begins at the larger
market: that is the most there can have been.
"""

from stacklib.grading import expect

# ---- your answer ----


def start(value, rate, years):
    """Years of growth taken back."""
    if not (rate > -1 and years > 0):
        raise ValueError(f"rate = {rate!r}, years = {years!r}: above -1 and 0")
    return value / (1 + rate) ** years


def growth(first, last, years):
    """The years'th root of the whole."""
    if not years > 0:
        raise ValueError(f"years = {years!r}: growth takes time")
    return (last / first) ** (1 / years) - 1


def holds(value, lowest, highest, years, sold):
    """The larger start has to hold what was sold."""
    return sold <= start(value, min(lowest, highest), years)


# ---- tests ----

RATES = [{"rate": r, "years": y} for r in (0.15, 0.37, -0.05) for y in (3, 10)]
FIRST = [{"first": f, "years": y} for f in (5.6, 11.1, 40) for y in (4, 10)]


def test_start():
    def backwards(value, rate, years):
        return backwards(value / (1 + rate), rate, years - 1) if years else value

    told = {
        "Growth compounds: each year multiplies the one before.": (
            lambda value, rate, years: value / (1 + rate * years)
        ),
        "Going back divides by the growth.": (
            lambda value, rate, years: value * (1 - rate) ** years
        ),
    }
    cases = [{"value": 34.71e9, **case} for case in RATES]
    expect.function_matches(start, backwards, cases, rel=1e-6, mistakes=told)


def test_growth():
    def halved(first, last, years):
        low, high = -0.99, 10.0
        for _ in range(80):
            mid = (low + high) / 2
            low, high = (low, mid) if first * (1 + mid) ** years > last else (mid, high)
        return low

    told = {
        "The mean of the increase is no growth a year.": (
            lambda first, last, years: (last / first - 1) / years
        ),
        "That is what is left of the whole: take one off.": (
            lambda first, last, years: (last / first) ** (1 / years)
        ),
    }
    cases = [{"last": 34.71, **case} for case in FIRST]
    expect.function_matches(growth, halved, cases, rel=1e-6, mistakes=told)


def test_holds():
    two = {"value": 34.71, "lowest": 0.15, "highest": 0.20, "years": 10}
    for sold, right in ((11.1, False), (7, True), (5, True)):
        expect.equal(holds(**two, sold=sold), right)


def test_what_has_no_start_is_refused():
    lost, none = (
        {"value": 1, "rate": -1, "years": 5},
        {"first": 1, "last": 2, "years": 0},
    )
    expect.refuses(start, lost, because="nothing is left to grow")
    expect.refuses(growth, none, because="growth takes time")
