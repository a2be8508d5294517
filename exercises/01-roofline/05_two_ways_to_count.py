"""Two ways to count, and one size that decides.

level: derive

Softmax takes the largest number of a row, subtracts it from each, takes exponentials,
sums them, and divides each by the sum. Suppose each of these five counts one FLOP for
every number of the row, and that rows are so long that what happens once a row does
not matter. A number takes `size` bytes.

- `softmax_fused`: one kernel reads the input once and writes the result once.
- `softmax_steps`: each of the five is a pass of its own, as plain array code runs them.
  A pass reads all rows it needs and writes its result; one number a row is free.

Then the size that decides for products: a square product of side s moves each of its
three matrices once. Derive the side at which its arithmetic takes a device exactly as
long as its bytes. `device.peak(dtype)`, `device.memory_bandwidth` and
`bytes_per_element(dtype)` give what you need; `.si` makes plain numbers of them.

hint: List the five passes and write behind each whether it reads all rows, and whether
it writes all rows: the largest and the sum give only one number a row. For the side,
write the product's intensity in s and set it equal to the ridge.
"""

from stacklib import hardware
from stacklib.grading import expect
from stacklib.quantity import bytes_per_element
from stacklib.roofline.count import operations

# ---- your answer ----


def softmax_fused(size):
    """FLOP a byte of a softmax that reads once and writes once."""
    return 5 / (2 * size)


def softmax_steps(size):
    """FLOP a byte of a softmax whose five steps each go through memory."""
    reads = 5  # largest, subtract, exponential, sum, divide
    writes = 3  # subtract, exponential, divide
    return 5 / ((reads + writes) * size)


def side(device, dtype):
    """Side of the square product whose two times are equal, not rounded."""
    ridge = device.peak(dtype).si / device.memory_bandwidth.si
    return 3 * bytes_per_element(dtype).si * ridge / 2


# ---- tests ----

LONG = 10**9  # columns: what happens once a row is nothing beside them
FORMATS = {8: "fp64", 4: "fp32", 2: "bf16", 1: "fp8"}


def counted(rule):
    """Intensity of a softmax over one long row, by one rule."""

    def intensity(size):
        work = operations.softmax(rows=1, columns=LONG, dtype=FORMATS[size], rule=rule)
        return work.intensity.si

    return intensity


DEVICES = ("h100-sxm", "a100-sxm-80gb", "rtx-4090", "mi300x", "tpu-v5p")


def cases():
    for device in map(hardware.get, DEVICES):
        for dtype in FORMATS.values():
            if dtype in device.formats:
                yield {"device": device, "dtype": dtype}


def crossing(device, dtype):
    """The side found by halving an interval, without the closed form."""
    peak, bandwidth = device.peak(dtype).si, device.memory_bandwidth.si
    size, low, high = bytes_per_element(dtype).si, 0.0, 1e9
    while high - low > 1e-6 * high:
        s = (low + high) / 2
        waits = s**3 * 2 / peak < s * s * 3 * size / bandwidth
        low, high = (s, high) if waits else (low, s)
    return high


def ridge_of(device, dtype):
    """FLOP a byte at which both times of a device are equal."""
    return device.peak(dtype).si / device.memory_bandwidth.si


def test_softmax_fused():
    expect.function_matches(
        softmax_fused,
        counted("fused"),
        [{"size": size} for size in FORMATS],
        unit="FLOP/B",
        rel=1e-3,
        mistakes={
            "The result is written too: two moves for each number.": (
                lambda size: 2 * counted("fused")(size)
            ),
        },
    )


def test_softmax_steps():
    expect.function_matches(
        softmax_steps,
        counted("steps"),
        [{"size": size} for size in FORMATS],
        unit="FLOP/B",
        rel=1e-3,
        mistakes={
            "The largest and the sum write one number a row, not all of them.": (
                lambda size: 5 / (10 * size)
            ),
            "That is the fused count: here each step reads and writes.": (
                counted("fused")
            ),
        },
    )


def test_side():
    expect.function_matches(
        side,
        crossing,
        cases(),
        rel=0.001,
        mistakes={
            "You moved one matrix; a product moves three.": (
                lambda device, dtype: crossing(device, dtype) / 3
            ),
            "That is the ridge. How many bytes has a number, and how many "
            "matrices move?": ridge_of,
        },
    )
