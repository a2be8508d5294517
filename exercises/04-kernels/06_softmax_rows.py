"""A softmax that reads a row once.

level: build
project: P4.3

Write a tile program: `softmax_rows` turns each row of `x` into its softmax, the
exponential of every number over the sum of all. Suppose that `x` and `out` are FP32
arrays of rows of `columns` numbers, one row behind the other, that there is a program
for each row, and that `BLOCK` is a power of two that is not below `columns`.

Names are Triton's: `tl.program_id(0)` is the program's row, `tl.arange(0, BLOCK)` the
lanes, `tl.load(pointer, mask=..., other=...)` and `tl.store(pointer, value, mask=...)`
move tiles, and `tl.max`, `tl.sum`, `tl.exp` compute. It runs on `gpu.launch_tiles`,
which counts bytes.

Four things are asked. The shares are right to FP32, also for numbers of `1,000` or
`-1,000` and for rows that are not as wide as the tile. Nothing is read or written
beyond a row. Each number is read from memory once and written once.

With `TRITON_INTERPRET=1` set and Triton installed, the same text runs in Triton's
interpreter, too.

hint: What must a lane beyond the row hold, so that it is neither the largest nor
counted in the sum? The exponential of minus infinity is zero.
"""

import os
from functools import cache

import numpy as np

from stacklib import gpu
from stacklib.gpu import tiles as tl
from stacklib.grading import expect

# ---- your answer ----


def softmax_rows(x, out, columns, BLOCK: tl.constexpr):
    """Softmax of a row."""
    row = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row + at, mask=inside, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row + at, powers / tl.sum(powers, axis=0), mask=inside)


# ---- tests ----

RNG = np.random.default_rng(43)
NORMAL = RNG.standard_normal((5, 100)).astype(np.float32)
ROWS = {
    "as wide as the tile": RNG.standard_normal((3, 64)).astype(np.float32),
    "narrower than the tile": NORMAL,
    "around -1,000": NORMAL - np.float32(1000),
    "around 1,000": NORMAL + np.float32(1000),
    "one column": NORMAL[:, :1].copy(),
}
CANARY = np.float32(-7)  # in the array before and behind what is written


def softmax(x):
    powers = np.exp(x.astype(float) - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def side(columns):
    return max(2, 1 << (columns - 1).bit_length())


@cache
def run(name):
    """Launch the program; what the machine refuses is told with what it means."""
    x = ROWS[name]
    rows, columns = x.shape
    out = np.full(x.size, CANARY, np.float32)
    try:
        launched = gpu.launch_tiles(
            softmax_rows, rows, x, out, columns, BLOCK=side(columns), check=False
        )
    except gpu.KernelError as error:
        if "Raise has no meaning" in str(error) or "NotImplemented" in str(error):
            raise NotImplementedError("write softmax_rows") from None
        why = ""
        if "outside" in str(error) or "beyond" in str(error) or "bounds" in str(error):
            why = " A lane beyond the row is past the array's end: it needs a mask."
        raise expect.Mistake(f"{name}: {error}.{why}") from None
    return launched


def zeros_beyond(x):
    """What comes out where lanes beyond the row count as zeros."""
    wide = np.zeros((len(x), side(x.shape[1])))
    wide[:, : x.shape[1]] = x
    return softmax(wide)[:, : x.shape[1]]


def test_shares():
    for name, x in ROWS.items():
        with np.errstate(all="ignore"):
            mine = run(name).results["out"].reshape(x.shape).astype(float)
        right = softmax(x)
        if np.allclose(mine, right, rtol=2e-5, atol=1e-9):
            continue
        if np.isnan(mine).any() or np.isinf(mine).any() or not mine.any():
            why = (
                "no number, or only zeros: exp of a large number overflows and of a "
                "very small one is zero. Take the row's maximum off first."
            )
        elif np.allclose(mine, zeros_beyond(x), rtol=2e-5):
            why = (
                "lanes beyond the row were counted as zeros, and exp(0) is 1. Let "
                "them hold minus infinity."
            )
        elif (mine == CANARY).any():
            why = "numbers of the row were never written"
        else:
            why = f"the first row begins {mine[0, :2]} and not {right[0, :2]}"
        raise expect.Mistake(f"{name}: {why}")


def test_bytes():
    name = "narrower than the tile"
    size = ROWS[name].nbytes
    asked = run(name).report.traffic.asked
    for way, word in (("load", "read"), ("store", "written")):
        times = asked[way] / size
        expect.reading(f"times each number is {word}", f"{times:.3g}")
        if times > 1:
            raise expect.Mistake(
                f"each number is {word} {times:.3g} times. Load the row once and keep "
                "it: a tile that a program holds costs no memory."
            )


def test_in_triton():
    """The same text, where Triton is installed and told to interpret."""
    if os.environ.get("TRITON_INTERPRET") != "1":
        return
    from stacklib.kernels.written import host_triton

    if not host_triton.INTERPRETED:
        return
    names = softmax_rows.__globals__
    ours, names["tl"] = names["tl"], host_triton.tl
    try:
        for name, x in ROWS.items():
            rows, columns = x.shape
            out = np.full(x.shape, CANARY, np.float32)
            program = host_triton.jit(softmax_rows)
            meta = {"BLOCK": side(columns)}
            host_triton.launch(program, (rows,), x, out, columns, **meta)
            if not np.allclose(out, softmax(x), rtol=2e-5, atol=1e-9):
                raise expect.Mistake(f"{name}: Triton's interpreter finds other shares")
    finally:
        names["tl"] = ours
    expect.reading("in Triton's interpreter", "the same")
