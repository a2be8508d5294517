"""From which batch on memory that multiplies is slower than memory that is read.

level: derive

Suppose a DRAM whose pins read `page` bytes of a row in pieces of `column` bytes, one
each `access` seconds, without a pause: other banks open their rows meanwhile. Inside,
`banks` of them multiply at once, `pace` times slower a piece, and all wait `row`
seconds whenever they go to the next row. Outside, a matrix is read once for a whole
batch of vectors; inside, once for each.

- `gain(page, column, access, banks, pace, row)`: how many times as fast a large matrix
  is read inside, for one vector.
- `loses(gain)`: the smallest batch for which the inside is no faster; a gain that is
  not above zero is a `ValueError`.
- `joules(batch, path)`: energy inside over energy outside, where bringing a bit out of
  its row costs `path[0]` in both, and the way from there to the chip, which only the
  outside goes, costs the rest of `path`.

Then ask `stacklib.frontier.in_memory(8192, 8192, 4)`.

hint: Of the time inside, which share is spent reading?
"""

import math
from functools import partial

from stacklib.grading import expect

# ---- your answer ----


def gain(page, column, access, banks, pace, row):
    """Banks at their pace, while they read."""
    reading = page / column * access * pace
    return banks / pace * reading / (reading + row)


def loses(gain):
    """A batch takes as many times as long inside."""
    if not 0 < gain < math.inf:
        raise ValueError(f"gain = {gain!r}: memory reads something")
    return math.ceil(gain)


def joules(batch, path):
    """Rows are opened for each vector."""
    return batch * path[0] / sum(path)


# ---- tests ----

NAMES = "page", "column", "access", "banks", "pace", "row"
PIM = dict(zip(NAMES, (1024, 32, 1.667e-9, 8, 2, 28e-9), strict=True))
CASES = [PIM, {**PIM, "banks": 16, "pace": 4}, {**PIM, "page": 256}]


def walked(page, column, access, banks, pace, row, slow=True):
    """A page of every bank, by the clock."""
    pieces = page // column
    inside = row + pieces * access * (pace if slow else 1)
    return banks * pieces * access / inside


def test_gain():
    told = {
        "Rows are closed and opened between.": lambda row, **c: walked(row=0, **c),
        "Inside, a piece takes longer.": partial(walked, slow=False),
    }
    expect.function_matches(gain, walked, CASES, rel=1e-9, mistakes=told)


def test_loses():
    def first(gain, fair=True):
        batch = 1
        while batch < gain if fair else batch <= gain:
            batch += 1
        return batch

    told = {
        "At a batch of just the gain both take as long.": partial(first, fair=False),
        "Below the gain the inside is still faster.": lambda gain: int(gain),
    }
    cases = [{"gain": x} for x in (0.4, 1, 3.17, 4, 8.01)]
    expect.function_matches(loses, first, cases, mistakes=told)
    for bad in (0, -1, math.nan, math.inf):
        expect.refuses(loses, {"gain": bad}, because="memory reads something")


def test_joules():
    def over(batch, path, once=False, first=0):
        return (1 if once else batch) * path[0] / math.fsum(path[first:])

    told = {
        "Each vector opens the rows again.": partial(over, once=True),
        "Outside, the row is opened, too.": partial(over, first=1),
    }
    cases = [{"batch": b, "path": p} for b in (1, 8) for p in ([1.2, 2.4, 3.0], [1, 1])]
    expect.function_matches(joules, over, cases, rel=1e-9, mistakes=told)
