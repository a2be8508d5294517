"""A product through XLA, and through an array.

level: build
project: P5.1

JAX hands a function to XLA, which rewrites it before any chip sees it: what can be done
in one pass is fused. Where JAX is installed (extra `jax`) the last test compiles
`relu(a @ w + b)` for this CPU and reads XLA's text; elsewhere a stored text of the same
form stands in its place. What a TPU then does with the product you write yourself.

A text of XLA's has blocks. Each begins with a line that ends in `{` and starts with the
block's name (`ENTRY` before the last one's), and ends with a line `}`. A line inside is
`name = type[shape] operation(arguments), more`, with `ROOT` before the block's result.
A fusion is a line whose operation is `fusion`, and `calls=%block` names what it does.

- `fused(text)`: a dict from the name of each block that a fusion calls to the list of
  its operations, in order, without `parameter` and `constant`. Names without `%`.
- `tiles(k, n, rows, cols)`: the tiles of k x n weights on an array of rows x cols, as
  pairs of ranges `(range of k, range of n)`, those of the first rows of weights first.
  Ranges end where the matrix ends.
- `on_array(a, w, rows, cols)`: the product of lists of rows of whole numbers, tile by
  tile: in each, every row of activations passes the weights that stand, and what comes
  out is added to the sums below the array.
- `busy(m, k, n, rows, cols)`: share of the multipliers that hold a weight, over all
  tiles: padding is what is missing to 1.

hint: Walk the text line by line and remember in which block you are. The operation is
the word before the first bracket behind `=` and the type.
"""

import re

import numpy as np

from stacklib.accelerators import SystolicArray
from stacklib.grading import expect

# ---- your answer ----


def fused(text):
    """Operations of each block that a fusion calls."""
    blocks, called, block = {}, [], None
    for line in map(str.strip, text.splitlines()):
        head = re.match(r"(?:ENTRY )?%?([\w.\-]+) .*\{$", line)
        found = re.match(r"(?:ROOT )?%?[\w.\-]+ = \S+ ([\w\-]+)\(", line)
        if head and " = " not in line:
            block = blocks.setdefault(head[1], [])
        elif found and block is not None:
            block.append(found[1])
            if found[1] == "fusion":
                called.append(re.search(r"calls=%?([\w.\-]+)", line)[1])
    left_out = ("parameter", "constant")
    return {c: [op for op in blocks[c] if op not in left_out] for c in called}


def tiles(k, n, rows, cols):
    """Ranges of the weights that stand in the array at a time."""
    return [
        (range(down, min(down + rows, k)), range(right, min(right + cols, n)))
        for down in range(0, k, rows)
        for right in range(0, n, cols)
    ]


def on_array(a, w, rows, cols):
    """The product, tile by tile."""
    sums = [[0] * len(w[0]) for _ in a]
    for down, right in tiles(len(w), len(w[0]), rows, cols):
        for row, out in zip(a, sums, strict=True):
            for c in right:
                out[c] += sum(row[r] * w[r][c] for r in down)
    return sums


def busy(m, k, n, rows, cols):
    """Share of the multipliers that hold a weight."""
    return k * n / (len(tiles(k, n, rows, cols)) * rows * cols)


# ---- tests ----

STORED = """HloModule jit_layer, is_scheduled=true

%fused_relu (param_0: f32[8,32], param_1: f32[32]) -> f32[8,32] {
  %param_0 = f32[8,32]{1,0} parameter(0)
  %param_1 = f32[32]{0} parameter(1)
  %broadcast.4 = f32[8,32]{1,0} broadcast(%param_1), dimensions={1}
  %add.3 = f32[8,32]{1,0} add(%param_0, %broadcast.4)
  %constant.1 = f32[] constant(0)
  %broadcast.5 = f32[8,32]{1,0} broadcast(%constant.1), dimensions={}
  ROOT %maximum.2 = f32[8,32]{1,0} maximum(%add.3, %broadcast.5)
}

%region_0.7 (Arg_0.8: f32[], Arg_1.9: f32[]) -> f32[] {
  %Arg_0.8 = f32[] parameter(0)
  %Arg_1.9 = f32[] parameter(1)
  ROOT %add.10 = f32[] add(%Arg_0.8, %Arg_1.9)
}

ENTRY %main.12 (A.1: f32[8,64], W.2: f32[64,32], B.3: f32[32]) -> f32[8,32] {
  %A.1 = f32[8,64]{1,0} parameter(0)
  %W.2 = f32[64,32]{1,0} parameter(1)
  %dot.5 = f32[8,32]{1,0} dot(%A.1, %W.2), lhs_contracting_dims={1}
  %B.3 = f32[32]{0} parameter(2)
  ROOT %fusion = f32[8,32]{1,0} fusion(%dot.5, %B.3), kind=kLoop, calls=%fused_relu
}
"""


def compiled():
    """XLA's text of a layer on this CPU, or nothing where there is no JAX."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None

    def layer(a, w, b):
        return jax.nn.relu(a @ w + b)

    shapes = [jnp.ones(shape, jnp.float32) for shape in ((8, 64), (64, 32), (32,))]
    return jax.jit(layer).lower(*shapes).compile().as_text()


def test_what_is_fused():
    found = fused(STORED)
    expect.equal(sorted(found), ["fused_relu"])
    expect.equal(found["fused_relu"], ["broadcast", "add", "broadcast", "maximum"])
    expect.reading("fusions in the stored text", len(found))


def test_what_xla_fuses_here():
    text = compiled()
    if text is None:
        expect.reading("JAX", "not installed: the stored text stands for it")
        return
    called = set(re.findall(r"fusion\(.*calls=%?([\w.\-]+)", text))
    found = fused(text)
    expect.equal(sorted(found), sorted(called))
    expect.reading("operations that XLA fused here", sum(map(len, found.values())))


def test_tiles():
    for k, n, rows, cols in ((8, 8, 4, 4), (5, 3, 4, 2), (1, 7, 4, 4)):
        made = tiles(k, n, rows, cols)
        cells = sorted((r, c) for down, right in made for r in down for c in right)
        expect.equal(cells, [(r, c) for r in range(k) for c in range(n)])
        expect.equal(len(made), -(-k // rows) * -(-n // cols))
        expect.equal(max(len(down) for down, _ in made) <= rows, True)


def weighed(rows):
    return sum(
        (7 * r + c + 1) * x for r, row in enumerate(rows) for c, x in enumerate(row)
    )


def test_on_array():
    draw = np.random.default_rng(3)
    for m, k, n in ((1, 8, 8), (5, 7, 3), (9, 4, 11)):
        a = draw.integers(-20, 20, (m, k)).tolist()
        w = draw.integers(-20, 20, (k, n)).tolist()
        run = SystolicArray(4, 3, "ws").run(a, w)
        last = np.array(a)[:, (k - 1) // 4 * 4 :] @ np.array(w)[(k - 1) // 4 * 4 :]
        slips = {
            "That is the last tile along k alone: add up below the array.": last,
            "Activations come first: each of their rows gives a row.": run.product.T,
        }
        told = {
            text: weighed(x.tolist())
            for text, x in slips.items()
            if weighed(x.tolist()) != weighed(run.product.tolist())
        }
        mine = on_array(a, w, 4, 3)
        expect.number(weighed(mine), weighed(run.product.tolist()), mistakes=told)
        expect.equal([list(row) for row in mine], run.product.tolist())
    expect.reading("last cycle of the last one", run.last_cycle)


def test_busy():
    expect.function_matches(
        busy,
        lambda m, k, n, rows, cols: (
            k * n / (-(-k // rows) * rows * (-(-n // cols) * cols))
        ),
        [
            {"m": 1, "k": k, "n": n, "rows": 128, "cols": 128}
            for k, n in ((8192, 8192), (600, 600), (64, 64), (129, 128))
        ],
        rel=1e-9,
        mistakes={
            "How many rows pass does not change what stands: leave m out.": (
                lambda m, k, n, rows, cols: m / (m + 2 * rows + cols - 2)
            ),
            "A ragged tile takes the whole array.": (lambda m, k, n, rows, cols: 1.0),
        },
    )
