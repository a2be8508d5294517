"""How many buffers hide a load?

level: derive

A block multiplies tile after tile. A buffer of shared memory holds one tile of each
operand. Suppose that the loads of a tile keep the way to the L2 busy for `load` cycles,
one tile after the other, and that the last byte arrives `latency` cycles after that;
that the tensor cores multiply a tile in `multiply` cycles, one after the other; and
that a buffer may be filled again as soon as its tile has been multiplied. A tile is
multiplied when all of it is there. Times are above zero; the latency may be zero.

- `pace(load, latency, multiply, buffers)`: cycles from tile to tile, once the pipeline
  is full.
- `enough(load, latency, multiply)`: the fewest buffers with which more of them would
  not make it faster.
- `busy(load, latency, multiply, buffers, tiles)`: share of all cycles, from the first
  load until the last product has ended, in which the tensor cores multiply, for a loop
  of so many tiles. Either simulate it or derive it.
- `deepest(room, rows, columns, buffers, width)`: how deep a step of a tile of `rows` x
  `columns` may be if that many buffers share `room` bytes: the largest `16 * n` that
  fits. A number has `width` bytes. 0 where not even 16 fit.

hint: Follow one buffer through a whole round. In that time each of the others goes
round once, too. Little's law: what is under way is the rate times the time for which
each is under way.
"""

import math

from stacklib.grading import expect
from stacklib.kernels.schedule.pipeline import Stage, pipeline, steady_state

# ---- your answer ----


def pace(load, latency, multiply, buffers):
    """Cycles from tile to tile in steady state."""
    return max(load, multiply, (load + latency + multiply) / buffers)


def enough(load, latency, multiply):
    """The fewest buffers that reach the best pace."""
    return math.ceil((load + latency + multiply) / max(load, multiply))


def busy(load, latency, multiply, buffers, tiles):
    """Share of the cycles in which the tensor cores multiply."""
    way = cores = 0
    read = []
    for tile in range(tiles):
        room = read[tile - buffers] if tile >= buffers else 0
        way = max(way, room) + load
        cores = max(cores, way + latency) + multiply
        read.append(cores)
    return tiles * multiply / cores


def deepest(room, rows, columns, buffers, width):
    """The deepest step whose buffers fit, in steps of 16."""
    return room // (buffers * (rows + columns) * width * 16) * 16


# ---- tests ----

STEPS = (
    {"load": 886, "latency": 259, "multiply": 1024},
    {"load": 1024, "latency": 0, "multiply": 256},
    {"load": 300, "latency": 1200, "multiply": 400},
    {"load": 512, "latency": 512, "multiply": 512},
    {"load": 100, "latency": 0, "multiply": 100},
)
ROOMS = (
    {"room": 232448, "rows": 128, "columns": 256, "buffers": 3, "width": 2},
    {"room": 232448, "rows": 128, "columns": 128, "buffers": 6, "width": 1},
    {"room": 65536, "rows": 256, "columns": 256, "buffers": 4, "width": 2},
    {"room": 24576, "rows": 256, "columns": 256, "buffers": 2, "width": 2},
)


def stages(load, latency, multiply):
    way = Stage("load", load, "way", (), latency)
    return way, Stage("multiply", multiply, "cores")


def right_pace(buffers, **step):
    return steady_state(stages(**step), buffers)


def test_pace():
    expect.function_matches(
        pace,
        right_pace,
        [{**step, "buffers": s} for step in STEPS for s in (1, 2, 3, 4, 8)],
        unit="cycle",
        rel=1e-6,
        mistakes={
            "With few buffers a round is shared out among them: that can be slower "
            "than either unit.": lambda load, latency, multiply, buffers: max(
                load, multiply
            ),
            "A buffer stays taken until its tile has been multiplied.": (
                lambda load, latency, multiply, buffers: max(
                    load, multiply, (load + latency) / buffers
                )
            ),
            "No number of buffers beats the slower of the two units.": (
                lambda load, latency, multiply, buffers: (
                    (load + latency + multiply) / buffers
                )
            ),
            "The latency does not keep the way busy, but the buffer.": (
                lambda load, latency, multiply, buffers: max(
                    load, multiply, (load + multiply) / buffers
                )
            ),
        },
    )


def best(load, latency, multiply):
    step = {"load": load, "latency": latency, "multiply": multiply}
    goal = right_pace(64, **step) * (1 + 1e-6)
    return next(s for s in range(1, 65) if right_pace(s, **step) <= goal)


def test_enough():
    expect.function_matches(
        enough,
        best,
        list(STEPS),
        rel=1e-9,
        mistakes={
            "Little's law gives what must be under way; buffers are whole: round up.": (
                lambda load, latency, multiply: (
                    (load + latency + multiply) / max(load, multiply)
                )
            ),
            "You round down; then a little is missing.": (
                lambda load, latency, multiply: (
                    (load + latency + multiply) // max(load, multiply)
                )
            ),
            "Where loads take longer than products, the pace is theirs.": (
                lambda load, latency, multiply: (
                    -(-(load + latency + multiply) // multiply)
                )
            ),
            "The buffer that is multiplied is under way, too.": (
                lambda load, latency, multiply: (
                    -(-(load + latency) // max(load, multiply))
                )
            ),
        },
    )


def ran(load, latency, multiply, buffers, tiles):
    return pipeline(stages(load, latency, multiply), tiles, buffers).busy("cores")


def test_busy():
    cases = [
        {**step, "buffers": s, "tiles": n}
        for step in STEPS
        for s, n in ((1, 5), (2, 7), (3, 4), (4, 30))
    ]
    expect.function_matches(
        busy,
        ran,
        cases,
        rel=1e-6,
        mistakes={
            "That is the steady state: a loop begins with a load that nothing hides.": (
                lambda load, latency, multiply, buffers, tiles: (
                    multiply
                    / right_pace(buffers, load=load, latency=latency, multiply=multiply)
                )
            ),
        },
    )
    first = cases[0] | {"buffers": 3, "tiles": 64}
    expect.reading("busy with three buffers, a loop of 64", busy(**first))


def test_deepest():
    def fits(room, rows, columns, buffers, width, both=True):
        side = rows + columns if both else max(rows, columns)
        return max(d for d in range(0, 4097, 16) if buffers * side * d * width <= room)

    expect.function_matches(
        deepest,
        fits,
        list(ROOMS),
        rel=1e-9,
        mistakes={
            "A buffer holds a tile of each operand.": (
                lambda **case: fits(**case, both=False)
            ),
            "That is the room of one buffer: they share it.": (
                lambda room, rows, columns, buffers, width: fits(
                    room, rows, columns, 1, width
                )
            ),
            "A step is a multiple of 16.": (
                lambda room, rows, columns, buffers, width: (
                    room // (buffers * (rows + columns) * width)
                )
            ),
        },
    )
