"""A convolution to the bit, and its cycles.

level: build
project: P9.5

A layer has kernels of whole numbers and one channel. Its sums are shifted to the right,
rounded to the nearest, upwards between two, and cut off at what a signed byte holds. On
an FPGA it runs on an array of `rows` x `cols` MAC units: a tile is `rows` windows by
`cols` kernels, keeps its sums where they are, and a unit takes a product in each cycle.
It begins a cycle after its neighbours above and on the left. At the end of a tile a
further cycle hands the sums on.

- `convolve(image, kernel, bias, shift)`: rows of numbers, one for each place where the
  kernel lies wholly on the image. `image` and `kernel` are lists of rows.
- `cycles(places, kernels, depth, rows, cols)`: of a layer with so many windows and
  kernels, `depth` products per sum. Ragged tiles take as long as full ones.
- `interval(layers, units)`: the fewest cycles after which the next input can enter, if
  each layer, a triple (places, kernels, depth), has an array of its own and all arrays
  together at most `units` MAC units. There are at most three small layers.

hint: Python's `>>` rounds down, also below zero: what must you add first? For the last
one ask of each number of cycles what the smallest arrays are that
are done in that time.
"""

import random

from stacklib.accelerators.rtl.stepped import by_steps
from stacklib.diy.silicon.fixed import Convolution, rounded
from stacklib.diy.silicon.fixed import convolve as sums_of
from stacklib.diy.silicon.pipeline import fastest
from stacklib.grading import expect

# ---- your answer ----


def convolve(image, kernel, bias, shift):
    """Every place's sum, rounded and cut off."""
    high, wide = len(kernel), len(kernel[0])
    out = []
    for y in range(len(image) - high + 1):
        out.append([])
        for x in range(len(image[0]) - wide + 1):
            total = bias
            for dy in range(high):
                for dx in range(wide):
                    total += kernel[dy][dx] * image[y + dy][x + dx]
            total = (total + (1 << shift >> 1)) >> shift
            out[-1].append(max(-128, min(127, total)))
    return out


def cycles(places, kernels, depth, rows, cols):
    """Tiles, each from its first product to the hand-over."""
    return -(-places // rows) * -(-kernels // cols) * (depth + rows + cols - 1)


def interval(layers, units):
    """The shortest time in which all layers are done on so many units."""
    sizes = [
        [
            (cycles(*layer, rows, cols), rows * cols)
            for rows in range(1, layer[0] + 1)
            for cols in range(1, layer[1] + 1)
        ]
        for layer in layers
    ]
    for time in sorted({t for layer in sizes for t, _ in layer}):
        fits = [[n for t, n in layer if t <= time] for layer in sizes]
        if all(fits) and sum(map(min, fits)) <= units:
            return time


# ---- tests ----


def drawn(pick, rows, cols):
    return [[pick.randint(-128, 127) for _ in range(cols)] for _ in range(rows)]


def test_convolve():
    pick = random.Random(3)
    for high, wide, shift in ((3, 3, 4), (2, 4, 0), (1, 1, 7), (5, 5, 9)):
        image, kernel = drawn(pick, 6, 7), drawn(pick, high, wide)
        sums = sums_of(Convolution(([kernel],), (pick.randint(-9, 9),)), [image])[0]
        bias = sums[0][0] - sums_of(Convolution(([kernel],), (0,)), [image])[0][0][0]
        right = [[rounded(t, shift) for t in row] for row in sums]
        mine = convolve(image, kernel, bias, shift)
        if mine == right:
            continue
        if mine == [[max(-128, min(127, t >> shift)) for t in row] for row in sums]:
            raise expect.Mistake("a shift alone rounds down: round to the nearest")
        if mine == [[(t + (1 << shift >> 1)) >> shift for t in row] for row in sums]:
            raise expect.Mistake(
                "a signed byte holds -128 to 127: cut off what is beyond"
            )
        expect.equal(mine, right)
    expect.reading("numbers that agree to the bit", sum(map(len, right)))


LAYERS = (
    {"places": 100, "kernels": 4, "depth": 9, "rows": 2, "cols": 4},
    {"places": 9, "kernels": 8, "depth": 36, "rows": 5, "cols": 1},
    {"places": 7, "kernels": 3, "depth": 5, "rows": 3, "cols": 2},
)


def test_cycles():
    def stepped(places, kernels, depth, rows, cols):
        tile = len(list(by_steps([[1] * depth] * rows, [[1] * cols] * depth))) + 1
        return tile * len(range(0, places, rows)) * len(range(0, kernels, cols))

    cases = list(LAYERS)
    told = {
        "A tile ends when its last unit has its last product.": (
            lambda places, kernels, depth, rows, cols: (
                -(-places // rows) * -(-kernels // cols) * depth
            )
        ),
        "One cycle more hands the sums on.": (
            lambda places, kernels, depth, rows, cols: (
                -(-places // rows) * -(-kernels // cols) * (depth + rows + cols - 2)
            )
        ),
        "A ragged tile is a tile: round up.": (
            lambda places, kernels, depth, rows, cols: (
                (places // rows) * (kernels // cols) * (depth + rows + cols - 1)
            )
        ),
    }
    expect.function_matches(
        cycles, stepped, cases, unit="cycle", rel=1e-9, mistakes=told
    )


def test_interval():
    small = [[(100, 4, 9), (9, 8, 36), (1, 10, 72)], [(12, 2, 5)], [(4, 4, 4)] * 2]

    def right(layers, units):
        return max(e.cycles for e in fastest(layers, units))

    cases = [{"layers": net, "units": n} for net in small for n in (3, 15, 80)]
    expect.function_matches(interval, right, cases, unit="cycle", rel=1e-9)
