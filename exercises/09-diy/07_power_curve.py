"""One card's power curve from its table, and another card's from the curve.

level: build
project: P9.3

Suppose a card's table under power limits: the clock that it held in each row, over its
boost clock, and the speed, over that without a limit. Of a step's time the share `core`
follows the clock: `1 / speed` is a straight line in `1 / clock`. The board draws `idle`
watts whatever it does and `wanted` at `TOP`, its highest clock. The rest of the draw is
steps per second times the square of the voltage, which is `1` up to the clock `FLOOR`,
then `1 + RISE * (clock / FLOOR - 1) ** 2`.

- `core_share(clocks, speeds)`: the share of a step at `TOP` that follows the clock, by
  least squares.
- `speed(limit, idle, wanted, core)`: what a limit leaves of the speed at `TOP`. Above
  `wanted` all of it; one at or below `idle` is a `ValueError`.

Then ask `stacklib.diy.power("rtx-5090", 400)`, a card that no table here has seen.

hint: Slope and height of the line at `TOP` give the whole step. The draw rises with the
clock: halve what is between until it fits the limit.
"""

import math
from functools import partial

from stacklib.grading import expect

TOP, FLOOR, RISE = 1.08, 0.773, 2.1

# ---- your answer ----


def core_share(clocks, speeds):
    """Slope and height of the line, at the top."""
    xs, ys = [1 / c for c in clocks], [1 / s for s in speeds]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    across = sum((a - x) ** 2 for a in xs)
    slope = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / across
    return slope / TOP / (y - slope * x + slope / TOP)


def rate(clock, core):
    """Steps per second over those at the top."""
    return 1 / (1 - core + core * TOP / clock)


def volts(clock):
    """Over the voltage of the floor."""
    return 1 + RISE * max(clock / FLOOR - 1, 0) ** 2


def speed(limit, idle, wanted, core):
    """At the highest clock whose draw fits."""
    if not idle < limit < math.inf:
        raise ValueError(f"limit = {limit!r} W: {idle} W are drawn without work")
    low, high = 0.001, TOP
    while high - low > 1e-9:
        at = (low + high) / 2
        moved = (wanted - idle) * rate(at, core) * (volts(at) / volts(TOP)) ** 2
        low, high = (at, high) if idle + moved <= limit else (low, at)
    return rate(low, core)


# ---- tests ----

# club-3090's table of an RTX 3090 that decodes with Qwen3.6 35B-A3B, six of its rows.
READ = {
    "clocks": [0.531, 0.761, 0.903, 1.009, 1.071, 1.124],
    "speeds": [0.669, 0.832, 0.890, 0.946, 0.973, 0.994],
}
MADE = {"clocks": [0.4, 0.7, 1.0], "speeds": [0.426, 0.719, 0.982]}
CARDS = [
    dict(zip(("idle", "wanted", "core"), row, strict=True))
    for row in ((75, 546, 0.5), (107, 333, 0.44), (58, 428, 0.2))
]


def line(clocks, speeds, top=TOP, whole=1):
    """By the normal equations."""
    n, xs, ys = len(clocks), [1 / c for c in clocks], [1 / s for s in speeds]
    both = sum(x * y for x, y in zip(xs, ys, strict=True))
    slope = n * both - sum(xs) * sum(ys)
    slope /= n * sum(x * x for x in xs) - sum(xs) ** 2
    height = (sum(ys) - slope * sum(xs)) / n
    return slope / top / (height + slope / top) ** whole


def test_core_share():
    told = {
        "A share is of the whole step, not 1 at the top.": partial(line, whole=0),
        "The step is taken at the top, not at the boost clock.": partial(line, top=1),
    }
    expect.function_matches(core_share, line, [READ, MADE], rel=1e-6, mistakes=told)


def tried(limit, idle, wanted, core, power=2):
    """Clocks from the top down."""
    clock = TOP
    while True:
        volts = [1 + RISE * (max(c, FLOOR) / FLOOR - 1) ** 2 for c in (clock, TOP)]
        steps = 1 / (1 - core + core * TOP / clock)
        if idle + (wanted - idle) * steps * (volts[0] / volts[1]) ** power <= limit:
            return steps
        clock -= 1e-4


def test_speed():
    cases = [{"limit": x * c["wanted"], **c} for x in (0.45, 0.7, 1.2) for c in CARDS]
    told = {
        "Energy goes with the square of the voltage.": partial(tried, power=1),
        "The voltage falls with the clock, too.": partial(tried, power=0),
    }
    expect.function_matches(speed, tried, cases, rel=1e-3, mistakes=told)
    expect.reading("a 5090 at 400 W", speed(400, **CARDS[0]))


def test_a_limit_below_idle_is_refused():
    for limit in (75, 20, math.nan):
        why = "no clock draws so little"
        expect.refuses(speed, {"limit": limit, **CARDS[0]}, because=why)
