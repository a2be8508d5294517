"""Round by a coin.

level: derive

A gradient much smaller than the step of its format is lost to rounding to the nearest,
every time. Stochastic rounding keeps it on average: a number between two multiples of
`step` becomes one of the two by chance, and the chances are such that the mean of many
draws is the number itself.

- `chance_up(x, step)`: the chance that `x` becomes the multiple above it. A multiple
  stays what it is; its chance is zero.
- `rounded(x, step, u)`: the multiple that `x` becomes. `u` is the draw, uniform from
  zero up to, but without, one. `x` may be negative.
- `variance(x, step)`: the variance of `rounded` over all draws, which is the price.

hint: Let p be the chance of the upper one and set the mean to x; that gives p. Then the
variance is that of a coin whose sides lie a step apart. The multiple below a negative
number is the one farther from zero.
"""

import math

from stacklib.grading import expect

# ---- your answer ----


def chance_up(x, step):
    """The chance that x becomes the multiple of step above it."""
    return x / step - math.floor(x / step)


def rounded(x, step, u):
    """The multiple of step that x becomes with the draw u."""
    return math.floor(x / step + u) * step


def variance(x, step):
    """The variance of the rounded number over all draws."""
    p = chance_up(x, step)
    return p * (1 - p) * step**2


# ---- tests ----

STEPS = (1.0, 0.25, 3.0)
PLACES = (0.125, 0.3, 0.5, 0.8125, 2.4, 17.9, -0.2, -0.75, -5.35, 4.0, -2.0, 0.0)
CASES = [{"x": place * step, "step": step} for step in STEPS for place in PLACES]
DRAWS = [(2 * i + 1) / 512 for i in range(256)]


def share(x, step):
    """The place of x between the multiples around it, from 0 to 1."""
    return x / step % 1.0


def test_chance_up():
    for case in CASES:
        mine = expect.read(expect.call(chance_up, case))
        right = share(**case)
        if abs(mine - right) > 1e-9:
            if abs(mine - (1 - right)) < 1e-9:
                why = "that is the chance of the lower one: the nearer is the likelier"
            elif abs(mine - 0.5) < 1e-9:
                why = "an even chance makes every mean lie half way"
            elif abs(mine - round(right)) < 1e-9:
                why = "that is no chance, but rounding to the nearest"
            else:
                why = "with that chance the mean is not x"
            raise expect.Mistake(f"{expect.called(chance_up, case)}: {mine:g}: {why}")


def outcomes(case):
    """The reader's results over all draws, in steps."""
    found = [expect.read(expect.call(rounded, {**case, "u": u})) for u in DRAWS]
    return [value / case["step"] for value in found]


def off(case):
    """Mean of the reader's results minus the number, in steps."""
    return sum(outcomes(case)) / len(DRAWS) - case["x"] / case["step"]


def test_rounded():
    for case in CASES:
        steps, place = outcomes(case), case["x"] / case["step"]
        if any(abs(s - round(s)) > 1e-9 for s in steps):
            raise expect.Mistake(f"x={case['x']:g}: not a multiple of {case['step']:g}")
        mean = sum(steps) / len(steps)
        if abs(mean - place) > 2 / len(steps):
            raise expect.Mistake(
                f"x={case['x']:g}, step={case['step']:g}: the mean of {len(steps)} "
                f"draws is {mean * case['step']:.4g}. {explained()}"
            )
        if max(steps) > math.ceil(place) or min(steps) < math.floor(place):
            raise expect.Mistake(
                f"x={case['x']:g}: {max(steps, key=lambda s: abs(s - place)):g} steps "
                "is not next to it: only the two around a number may come"
            )
    tiny = [expect.read(rounded(0.01, 1.0, u)) for u in DRAWS]
    expect.reading(
        "mean of a hundredth of a step, rounded", f"{sum(tiny) / len(tiny):.4f}"
    )


def explained():
    """What makes the reader's means what they are."""
    between = [case for case in CASES if share(**case)]
    errors = {case["x"] / case["step"]: off(case) for case in between}
    near = 3 / len(DRAWS)

    def all_are(wrong, numbers=errors):
        return all(abs(errors[place] - wrong(place)) < near for place in numbers)

    if all_are(lambda place: math.floor(place) - place):
        return "You always round down, whatever the draw: the mean is too small."
    if all_are(lambda place: math.trunc(place) - place):
        return "You always cut towards zero, whatever the draw."
    fixed = all(len(set(outcomes(case))) == 1 for case in between)
    if fixed:
        return "Every draw gives the same: that is rounding to the nearest."
    if all_are(lambda place: 0.5):
        return "The draw and half a step as well: every mean is half a step too large."
    if all_are(lambda place: 0.5 - place % 1):
        return "A fair coin, wherever x lies: the nearer one has to be the likelier."
    if all_are(lambda place: 0.0, [place for place in errors if place > 0]):
        return "Above zero it is right. Below, int cuts upward and floor does not."
    return "It has to be x."


def test_variance():
    cases = [case for case in CASES if share(**case)]
    expect.function_matches(
        variance,
        lambda x, step: (step * (1 - share(x, step))) * (step * share(x, step)),
        cases,
        rel=1e-6,
        mistakes={
            "That is a mean over all x of rounding to the nearest; here x is given.": (
                lambda x, step: step**2 / 12
            ),
            "Steps are not ones: the variance grows with their square.": (
                lambda x, step: share(x, step) * (1 - share(x, step))
            ),
            "That is the square of the distance to the lower one, drawn or not.": (
                lambda x, step: (step * share(x, step)) ** 2
            ),
        },
    )
    for case in CASES:
        if not share(**case) and abs(expect.read(variance(**case))) > 1e-12:
            raise expect.Mistake("a multiple stays what it is: nothing varies")
