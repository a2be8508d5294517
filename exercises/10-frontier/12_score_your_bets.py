"""Follow one thread of the frontier: bet on it by a band, and score what came.

level: build
project: 10

Choose a number that the next machines will settle: terabytes a second, watts, dollars
an hour. You give `value` and a band from `low` to `high`. Its ends lie `TAIL` standard
deviations of the logarithm away, each on its own side, and the sides may differ.

- `chance(value, low, high, least)`: the probability that it is `least` or more.
- `ladder(thread, due, band, rungs)`: a CSV for `stacklib watch --file`, headed
  `id,due,statement,settles,probability`, a row a rung. `thread` is `name, words,
  settles`; ids are `name-1`, `name-2`...; `words` has `{}` where the rung goes, and may
  have commas. `band` is `value, low, high`.
- `score(probabilities, outcomes)`: mean Brier and log score as a pair, over what is
  `"true"` or `"false"`: `"open"` and `"void"` count for nobody. `math.inf` where the
  impossible came; `None` where nothing is settled.

A band that does not hold its value, or anything not above 0, is a `ValueError`. Then
write ten rungs of your own, plant outcomes in a second CSV, and let
`stacklib watch --file mine.csv --outcomes told.csv --score` check your sums.

hint: `statistics.NormalDist().cdf` of a number of deviations; the module `csv` knows
what to do with a comma.
"""

import csv
import io
import math
from functools import partial
from statistics import NormalDist

from stacklib.grading import expect

TAIL = NormalDist().inv_cdf(0.95)
HEAD = "id", "due", "statement", "settles", "probability"

# ---- your answer ----


def chance(value, low, high, least):
    """Each side has its own deviation."""
    if not (0 < low < value < high and least > 0):
        raise ValueError(f"{value}, {low} to {high}, {least}: a band about a value > 0")
    end = high if least > value else low
    away = TAIL * math.log(least / value) / abs(math.log(end / value))
    return 1 - NormalDist().cdf(away)


def ladder(thread, due, band, rungs):
    """A row a rung."""
    (name, words, settles), told = thread, io.StringIO()
    write = csv.writer(told)
    write.writerow(HEAD)
    for place, rung in enumerate(rungs, 1):
        given = chance(*band, rung)
        write.writerow([f"{name}-{place}", due, words.format(rung), settles, given])
    return told.getvalue()


def score(probabilities, outcomes):
    """What was given to that which happened."""
    had = [
        p if outcome == "true" else 1 - p
        for p, outcome in zip(probabilities, outcomes, strict=True)
        if outcome in ("true", "false")
    ]
    if not had:
        return None
    brier = math.fsum((1 - p) ** 2 for p in had) / len(had)
    return brier, math.fsum(-math.log(p) if p else math.inf for p in had) / len(had)


# ---- tests ----

BANDS = (20.0, 13.0, 33.0), (1.3, 0.8, 1.5)
STEPS = 0.6, 0.9, 1.0, 1.1, 1.4
CASES = [
    {"value": value, "low": low, "high": high, "least": step * value}
    for value, low, high in BANDS
    for step in STEPS
]


def tail(value, low, high, least, sigmas=TAIL, one=False, other=1):
    """By the error function."""
    side = high if one or least > value else low
    z = sigmas * math.log(least / value) / abs(math.log(side / value))
    return math.erfc(other * z / math.sqrt(2)) / 2


def test_chance():
    told = {
        "An end lies `TAIL` deviations out, not one.": partial(tail, sigmas=1),
        "Below the value the lower end tells the deviation.": partial(tail, one=True),
        "That is the chance of less.": partial(tail, other=-1),
    }
    expect.function_matches(chance, tail, CASES, rel=1e-6, mistakes=told)


THREAD = "hbm", "NVIDIA sells a GPU that moves {} TB/s, or more", "its data sheet"


def test_ladder():
    for band in BANDS:
        rungs = [step * band[0] for step in STEPS]
        text = ladder(THREAD, "2028-12-31", band, rungs)
        rows = list(csv.DictReader(io.StringIO(text)))
        expect.equal(text.splitlines()[0], ",".join(HEAD))
        expect.equal(len(rows), len(STEPS))
        for place, (row, rung) in enumerate(zip(rows, rungs, strict=True), 1):
            expect.equal(row["id"], f"hbm-{place}")
            told = f"{row['statement']!r}: words with a comma stand in quotes"
            assert row["statement"] == THREAD[1].format(rung), told
            expect.number(float(row["probability"]), tail(*band, rung), rel=1e-6)


SAID = [0.9, 0.2, 0.6, 0.5, 0.99]
CAME = [
    ["true", "false", "void", "open", "false"],
    ["false", "true", "true", "true", "void"],
    ["false", "void", "void", "void", "true"],
]


def lost(probabilities, outcomes, which, void=0, log=math.log):
    """Summed one by one; ``void`` counts what is void as false."""
    total, count = 0.0, 0
    for p, word in zip(probabilities, outcomes, strict=True):
        if word in ("true", "false") or (void and word == "void"):
            had = p if word == "true" else 1 - p
            total += (had - 1) ** 2 if which == 0 else -log(had)
            count += 1
    return total / count


def test_score():
    def mine(which, **case):
        return score(**case)[which]

    cases = [
        {"probabilities": SAID, "outcomes": came, "which": which}
        for came in CAME
        for which in (0, 1)
    ]
    told = {
        "What is void is neither false nor true.": partial(lost, void=1),
        "The logarithm is the natural one.": partial(lost, log=math.log2),
    }
    expect.function_matches(mine, lost, cases, rel=1e-9, mistakes=told)


def test_the_impossible_and_nothing():
    brier, log = score([0.0, 0.5], ["true", "true"])
    expect.number(brier, 0.625, rel=1e-9)
    assert log == math.inf, f"log score {log}: what was called impossible came"
    none = score([0.4, 0.5], ["open", "void"])
    assert none is None, f"{none}: nothing is settled, so there is no score"


def test_no_band():
    for band in ((20, 21, 33), (20, 13, 19), (20, -1, 33), (0, 0, 1)):
        case = {**CASES[0], **dict(zip(("value", "low", "high"), band, strict=True))}
        expect.refuses(chance, case, because="no band about a value")
