"""Where does greedy stop, and what do all axes together reach?

level: build

A space has `axes`, a list of lists of values; one stands at the first of each. `time`
is a mapping from a point, a tuple with a value of each axis, to its seconds.

- `multiplied(axes, time)`: the product of the single gains: each axis moved to its best
  by itself, the others where one stands.
- `joint(axes, time)`: the gain of the best of all points over the start.
- `greedy(axes, time, order)`: seconds where one stops who takes the axes in that
  order, each once, and leaves each at its best.
- `settled(axes, time)`: seconds where one stops who goes through the axes from the
  first to the last again and again, until a whole round moves nothing.

A point that `time` lacks does not fit and is never chosen; if the start is one, raise
`ValueError`. Suppose no two points take the same time. Then hold `joint` over
`multiplied` against `stacklib.frontier.codesign` on a space of your own.

hint: A helper that keeps every coordinate but one, and tries all values of that one,
serves three of the four functions.
"""

import math
from itertools import permutations, product
from random import Random

from stacklib.grading import expect

# ---- your answer ----


def moved(axes, time, at, axis):
    """The best of the points that differ along one axis."""
    line = [(*at[:axis], value, *at[axis + 1 :]) for value in axes[axis]]
    return min(line, key=lambda point: time.get(point, math.inf))


def start(axes, time):
    """Where one stands."""
    at = tuple(values[0] for values in axes)
    if at not in time:
        raise ValueError(f"{at}: the start does not fit")
    return at


def multiplied(axes, time):
    """The product of the single gains."""
    at = start(axes, time)
    return math.prod(
        time[at] / time[moved(axes, time, at, i)] for i in range(len(axes))
    )


def joint(axes, time):
    """The gain of the best point."""
    return time[start(axes, time)] / min(time.values())


def greedy(axes, time, order):
    """Seconds after each axis was moved once."""
    at = start(axes, time)
    for axis in order:
        at = moved(axes, time, at, axis)
    return time[at]


def settled(axes, time):
    """Seconds where a round moves nothing."""
    at, before = start(axes, time), None
    while at != before:
        before = at
        for axis in range(len(axes)):
            at = moved(axes, time, at, axis)
    return time[at]


# ---- tests ----


def case(seed, *sizes):
    """Random times on a grid, some points missing, the start kept."""
    dice, axes = Random(seed), [[f"{n}{i}" for i in range(n)] for n in sizes]
    points = list(product(*axes))
    times = dice.sample(range(10, 1000), len(points))
    time = dict(zip(points, times, strict=True))
    for point in dice.sample(points[1:], len(points) // 5):
        del time[point]
    return {"axes": axes, "time": time}


# The layer of that page in us: format, experts per token, network.
LAYER = [329.3, 280.2, 387.7, 185.3, 129.0, 98.3, 205.9, 77.0]
AXES = [["bf16", "fp4"], [1, 4], ["ports", "switch"]]
TIME = dict(zip(product(*AXES), LAYER, strict=True))
CASES = [{"axes": AXES, "time": TIME}, case(1, 3, 4), case(2, 2, 3, 4), case(3, 5)]


def walk(axes, time, order):
    """By filtering all points, axis after axis."""
    at = tuple(values[0] for values in axes)
    for i in order:
        fits = [p for p in time if all(p[j] == at[j] for j in range(len(at)) if j != i)]
        at = min(fits, key=time.get)
    return time[at]


def singles(axes, time):
    """The gain of each axis by itself."""
    first = time[tuple(values[0] for values in axes)]
    return [first / walk(axes, time, [i]) for i in range(len(axes))]


def over(axes, time):
    """The start over the best."""
    return next(iter(time.values())) / sorted(time.values())[0]


def multiple(axes, time):
    """The gains of all axes, each from the start."""
    return math.prod(singles(axes, time))


def rounds(axes, time, many=50):
    """More rounds than there are points."""
    return walk(axes, time, list(range(len(axes))) * many)


def test_gains():
    told = {
        "Gains multiply: they do not add up.": lambda **c: sum(singles(**c)),
        "Each axis moves alone, from where one stands.": over,
    }
    expect.function_matches(multiplied, multiple, CASES, rel=1e-9, mistakes=told)
    told = {"The best of all points, not the product of the axes.": multiple}
    expect.function_matches(joint, over, CASES, rel=1e-9, mistakes=told)
    expect.reading("together over multiplied", over(AXES, TIME) / multiple(AXES, TIME))


def test_greedy():
    orders = {n: list(permutations(range(n))) for n in range(1, 4)}
    cases = [{**c, "order": o} for c in CASES for o in orders[len(c["axes"])]]
    told = {
        "It starts where the axis before has stopped.": (
            lambda axes, time, order: walk(axes, time, order[-1:])
        ),
        "In the order that is given.": (
            lambda axes, time, order: walk(axes, time, sorted(order))
        ),
    }
    expect.function_matches(greedy, walk, cases, rel=1e-9, mistakes=told)


def test_settled():
    told = {"One round may leave what helps later.": lambda **c: rounds(**c, many=1)}
    expect.function_matches(settled, rounds, CASES, rel=1e-9, mistakes=told)


def test_a_start_that_does_not_fit_is_refused():
    axes = [[1, 2], [1, 2]]
    for f in (joint, settled):
        expect.refuses(f, {"axes": axes, "time": {(2, 2): 1}}, because="no start fits")
