"""Maximum or sum?

level: estimate

A core has engines that work side by side, each in the order of its own rows. A program
does the same to each of many tiles. It is a list of rows `(engine, time)`: which engine
works on the tile, and for how many microseconds. A row needs what the row before it has
made of the same tile. Suppose that there are as many places between the rows as are
wanted.

- `summed(rows, tiles)`: microseconds, if each row waits for the one before it, and a
  tile for the one before it.
- `longest(rows)`: the name of the engine with the most work per tile.
- `least(rows, tiles)`: the least number of microseconds that all tiles can take, by the
  work of one engine alone.
- `relieved(rows, engine, factor)`: how many times sooner long runs end, if this engine
  gets `factor` times as fast: the ratio of the paces before and after.
- `pieces(columns, bank)`: into how many products a tile's scores have to be cut, if
  sums of `columns` columns are wanted, and a bank holds `bank` of them per partition.

hint: A chain is as fast as its slowest link, but links of the same engine are one link.
"""

import math

from stacklib.accelerators import engines
from stacklib.accelerators.scratchpad.engines import Instruction
from stacklib.grading import expect
from stacklib.kernels import pipeline
from stacklib.kernels.schedule.pipeline import Stage, steady_state

# ---- your answer ----


def work(rows):
    """Microseconds of each engine per tile."""
    found = {}
    for engine, time in rows:
        found[engine] = found.get(engine, 0) + time
    return found


def summed(rows, tiles):
    """One row after the other."""
    return tiles * sum(time for _, time in rows)


def longest(rows):
    """The engine with the most work."""
    done = work(rows)
    return max(done, key=done.get)


def least(rows, tiles):
    """What the busiest engine needs."""
    return tiles * max(work(rows).values())


def relieved(rows, engine, factor):
    """Times sooner, with one engine so many times as fast."""
    done = work(rows)
    after = done | {engine: done[engine] / factor}
    return max(done.values()) / max(after.values())


def pieces(columns, bank):
    """Products that the scores are cut into."""
    return math.ceil(columns / bank)


# ---- tests ----

ATTENTION = (
    ("tensor", 3.2),
    ("vector", 2.1),
    ("scalar", 1.5),
    ("tensor", 0.8),
    ("scalar", 1.5),
    ("tensor", 0.8),
    ("vector", 0.1),
)
EVEN = (("dma", 2.0), ("tensor", 2.0), ("vector", 2.0))
ONE = (("vector", 1.0), ("vector", 2.5))
PROGRAMS = (ATTENTION, EVEN, ONE)


def stages(rows):
    return [
        Stage(f"row {at}", time, engine, None if at else ())
        for at, (engine, time) in enumerate(rows)
    ]


def test_summed():
    def right(rows, tiles):
        alone = [Stage(s.name, s.time, "one", s.needs) for s in stages(rows)]
        return pipeline(alone, tiles).time

    expect.function_matches(
        summed,
        right,
        [{"rows": rows, "tiles": t} for rows in PROGRAMS for t in (1, 7)],
        unit="us",
        rel=1e-6,
        mistakes={
            "Every tile passes every row.": (
                lambda rows, tiles: sum(time for _, time in rows)
            ),
            "That is the busiest engine; here nothing overlaps.": (
                lambda rows, tiles: tiles * steady_state(stages(rows))
            ),
        },
    )


def test_longest():
    expect.function_matches(
        longest,
        lambda rows: max(
            {engine for engine, _ in rows},
            key=lambda e: sum(time for engine, time in rows if engine == e),
        ),
        [
            {"rows": ATTENTION},
            {"rows": ONE},
            {"rows": (("a", 3.0), *EVEN[1:], EVEN[1])},
        ],
        among=("tensor", "vector", "scalar", "dma", "a"),
    )


def test_least():
    expect.function_matches(
        least,
        lambda rows, tiles: tiles * steady_state(stages(rows)),
        [{"rows": rows, "tiles": t} for rows in PROGRAMS for t in (1, 16)],
        unit="us",
        rel=1e-6,
        mistakes={
            "All rows of an engine are its work, not the longest alone.": (
                lambda rows, tiles: tiles * max(time for _, time in rows)
            ),
            "Engines work side by side: that is the sum.": (
                lambda rows, tiles: tiles * sum(time for _, time in rows)
            ),
        },
    )
    run = pipeline(stages(ATTENTION), 16).time
    expect.reading("side by side, 16 tiles", f"{run:.1f}", "us")


def test_relieved():
    def right(rows, engine, factor):
        after = [(e, t / factor if e == engine else t) for e, t in rows]
        return steady_state(stages(rows)) / steady_state(stages(after))

    expect.function_matches(
        relieved,
        right,
        [
            {"rows": rows, "engine": e, "factor": f}
            for rows, e in (
                (ATTENTION, "tensor"),
                (ATTENTION, "scalar"),
                (ONE, "vector"),
            )
            for f in (1.5, 4)
        ],
        rel=1e-6,
        mistakes={
            "Then another engine may be the longest.": (
                lambda rows, engine, factor: factor
            ),
            "Parts that overlap do not add up: compare maxima.": (
                lambda rows, engine, factor: (
                    sum(t for _, t in rows)
                    / sum(t / factor if e == engine else t for e, t in rows)
                )
            ),
        },
    )


def test_pieces():
    def fits(columns, bank):
        for many in range(1, columns + 1):
            part = math.ceil(columns / many)
            row = Instruction("scores", "tensor", part)
            try:
                engines([row])
            except ValueError:
                continue
            return many
        raise AssertionError

    expect.function_matches(
        pieces,
        fits,
        [{"columns": c, "bank": 512} for c in (2048, 2049, 512, 513, 100)],
        rel=1e-9,
        mistakes={
            "What is left over needs a product of its own: round up.": (
                lambda columns, bank: max(1, columns // bank)
            ),
            "One more than needed where it divides evenly.": (
                lambda columns, bank: columns // bank + 1
            ),
        },
    )
