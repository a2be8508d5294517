"""The box around a net, and what a swap of two cells changes.

level: build

Suppose a floor of sites in columns and rows. `at` maps a cell to its `(column, row)`, a
net is a list of the cells that it joins, `nets` a list of nets.

- `length(net, at)`: width and height of the smallest box around its cells, in tiles. A
  net of no cells is a `ValueError`.
- `change(nets, at, a, b)`: by how much the length of all nets rises when `a` and `b`
  swap their sites; below zero it falls. `at` is as before when you are done.
- `anneal(nets, at, draws)`: the length of all nets after every draw. A draw is two
  cells, a random number `u` and a temperature: a swap that makes nothing longer is
  kept, one that adds `d` if `u < exp(-d / temperature)`. At temperature 0 none is.

Then run `stacklib.frontier.place("serial_mac")` and time it.

hint: Only nets that hold one of the two cells can change. One that holds both does not.
"""

import math
import random
from functools import partial

from stacklib.grading import expect

# ---- your answer ----


def length(net, at):
    """Width and height of the box."""
    if not net:
        raise ValueError(f"net = {net!r}: it joins no cells")
    columns, rows = zip(*(at[cell] for cell in net), strict=True)
    return max(columns) - min(columns) + max(rows) - min(rows)


def change(nets, at, a, b):
    """Of the nets that hold one of the two."""
    after = {**at, a: at[b], b: at[a]}
    near = [net for net in nets if (a in net) != (b in net)]
    return sum(length(net, after) - length(net, at) for net in near)


def anneal(nets, at, draws):
    """Draw by draw; the reader's own floor stays as it was."""
    at = dict(at)
    for a, b, u, temperature in draws:
        worse = change(nets, at, a, b)
        if worse <= 0 or (temperature and u < math.exp(-worse / temperature)):
            at[a], at[b] = at[b], at[a]
    return sum(length(net, at) for net in nets)


# ---- tests ----

PICK = random.Random(7)
AT = {c: divmod(n, 4) for n, c in enumerate(PICK.sample("abcdefghijklmnop", 16))}
NETS = [PICK.sample(sorted(AT), PICK.randint(2, 5)) for _ in range(20)]
ALL = {"nets": NETS, "at": AT}
SWAPS = [dict(zip("ab", PICK.sample(sorted(AT), 2), strict=True)) for _ in range(12)]
COOL = [(*PICK.sample(sorted(AT), 2), PICK.random(), 3 * 0.99**n) for n in range(300)]


def box(net, at, times=1):
    """Sides of the box, by sorting."""
    sides = [sorted(at[cell][axis] for cell in net) for axis in (0, 1)]
    return times * sum(side[-1] - side[0] for side in sides)


def star(net, at):
    """From the first cell to each of the others."""
    return sum(abs(p - q) for c in net for p, q in zip(at[net[0]], at[c], strict=True))


def risen(nets, at, a, b, sign=1):
    """All nets, before and after."""
    after = {**at, a: at[b], b: at[a]}
    return sign * (sum(box(n, after) for n in nets) - sum(box(n, at) for n in nets))


def cooled(nets, at, draws, warm=1.0):
    """Every draw with all nets counted; ``warm``: of each draw's temperature."""
    at = dict(at)
    for a, b, u, t in draws:
        worse = risen(nets, at, a, b)
        if worse <= 0 or u < math.exp(-worse / (warm * t or 1e-9)):
            at[a], at[b] = at[b], at[a]
    return sum(box(net, at) for net in nets)


def test_length():
    told = {
        "Half the perimeter: one width and one height.": partial(box, times=2),
        "A net is one wire with branches, not one for each reader.": star,
    }
    cases = [{"net": net, "at": AT} for net in NETS]
    expect.function_matches(length, box, cases, mistakes=told)
    expect.refuses(length, {"net": [], "at": AT}, because="a box needs a cell")


def test_change():
    told = {"A rise is after less before.": partial(risen, sign=-1)}
    cases = [{**ALL, **swap} for swap in SWAPS]
    expect.function_matches(change, risen, cases, mistakes=told)


def test_anneal():
    told = {
        "While it is hot, some swaps that make it longer are kept.": partial(
            cooled, warm=0
        ),
        "Not every swap is kept.": partial(cooled, warm=1e9),
    }
    cases = [{**ALL, "draws": COOL}]
    expect.function_matches(anneal, cooled, cases, mistakes=told)
    expect.reading("tiles of wire", anneal(NETS, AT, COOL))
