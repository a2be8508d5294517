"""How many GPUs does a year make, and how many does a power line feed?

level: estimate

Packaging hands out `begin` wafers a month as a year begins and `end` as it ends, and
climbs evenly between. One maker gets the share `share`; `fit` packages fit on a wafer,
and the part `works` of them works. A GPU carries eight stacks, a stack `height` dies
and a base die; HBM comes as `hbm` wafers a month for this maker, with `good` dies each.

- `by_packaging(begin, end, share, fit, works)`: GPUs of the year.
- `by_memory(hbm, good, height)`: GPUs of the year if memory is all that counts.
- `fed(watts, pue, server)`: whole GPUs behind a meter of `watts`, in servers of eight
  that draw `server` watts; a `pue` below 1 is a `ValueError`.

Then ask `stacklib.frontier.supply(2026)` and `stacklib.frontier.campus()`, and say
which of your inputs somebody has published.

hint: Count each month at the mean rate. A GPU is charged its part of the server,
cooling included.
"""

from stacklib.grading import expect

# ---- your answer ----


def by_packaging(begin, end, share, fit, works):
    """Twelve months at the mean of both ends."""
    return (begin + end) / 2 * 12 * share * fit * works


def by_memory(hbm, good, height):
    """Stacks over eight; a stack is one die more than its height."""
    return hbm * 12 * good / (height + 1) / 8


def fed(watts, pue, server):
    """Whole GPUs."""
    if not pue >= 1:
        raise ValueError(f"pue = {pue!r}: the meter counts the servers, too")
    return int(watts // (pue * server / 8))


# ---- tests ----

RAMPS = (65_000, 95_000), (35_000, 65_000), (80_000, 80_000)
YEARS = [
    {"begin": begin, "end": end, "share": 0.6, "fit": 9, "works": 0.9}
    for begin, end in RAMPS
]
STACKS = [{"hbm": 135_000, "good": d, "height": h} for d in (500, 800) for h in (8, 12)]
SITES = [{"watts": 1e9, "pue": p, "server": s} for p in (1.1, 1.58) for s in (1e4, 2e4)]


def climbing(begin, end, share, fit, works):
    """Month by month."""
    months = (begin + (end - begin) * (i + 0.5) / 12 for i in range(12))
    return sum(month * share * fit * works for month in months)


def stacked(hbm, good, height, base=1, stacks=8):
    """By the dies that a GPU takes."""
    return 12 * hbm * good / (stacks * (height + base))


def test_by_packaging():
    told = {
        "The last rate of the year is not that of every month.": (
            lambda **c: climbing(**{**c, "begin": c["end"]})
        ),
        "Some packages do not work.": lambda **c: climbing(**{**c, "works": 1}),
    }
    expect.function_matches(by_packaging, climbing, YEARS, rel=1e-9, mistakes=told)


def test_by_memory():
    told = {
        "A stack has a base die, too.": lambda **c: stacked(**c, base=0),
        "A GPU carries eight stacks.": lambda **c: stacked(**c, stacks=1),
    }
    expect.function_matches(by_memory, stacked, STACKS, rel=1e-9, mistakes=told)


def test_fed():
    def filled(watts, pue, server, seats=8):
        return int(seats * watts / pue / server + 1e-9)

    told = {
        "The meter counts the cooling, too.": lambda **c: filled(**{**c, "pue": 1}),
        "A server holds eight.": lambda **c: filled(**c, seats=1),
    }
    expect.function_matches(fed, filled, SITES, rel=1e-9, mistakes=told)
    expect.refuses(
        fed, {**SITES[0], "pue": 0.9}, because="the meter counts the servers"
    )
