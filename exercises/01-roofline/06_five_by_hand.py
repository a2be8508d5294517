"""The roofline by hand.

level: derive
project: P1.2

An array of n by n numbers, in bf16, lies in the
memory of an A100. For each of these operations write down the FLOP and the bytes,
with pencil and paper first; then the least time.

- `matmul`: the array times another of the same shape.
- `layernorm`, row by row: sum, subtract the mean, square, sum again, divide by the
  deviation, scale, shift. Scale and shift are one row each; leave their bytes out.
- `softmax`, row by row: maximum, subtract it, exponential, sum, divide by it.
- `gelu`: x/2 · (1 + tanh(c · (x + a·x³))), evaluated as x·x, times x, times a,
  plus x, times c, tanh, plus 1, times x, times 1/2.
- `transpose`: a copy with rows and columns exchanged.

Each of those steps counts as a FLOP for each number of the array; what happens only
once a row is left out. Every input comes from memory once, every result goes there
once.

hint: Count per number of the array first, then multiply by n·n. A matrix product
spends a multiplication and an addition on each of n numbers for each result. Check
yourself: what goes number by number or row by row comes out close together in FLOP
a byte.
"""

from stacklib import hardware, roofline
from stacklib.grading import expect
from stacklib.roofline.count.traffic_cuts import five_operations

# ---- your answer ----


def flop(operation, n):
    """FLOP of one operation on an n by n array."""
    each = {"layernorm": 7, "softmax": 5, "gelu": 9, "transpose": 0}
    return 2 * n**3 if operation == "matmul" else each[operation] * n**2


def moved(operation, n):
    """Bytes it moves, in bf16."""
    arrays = 3 if operation == "matmul" else 2
    return arrays * n**2 * 2


def least_time(operation, n, peak, bandwidth):
    """Least seconds, from FLOP/s and B/s."""
    return max(flop(operation, n) / peak, moved(operation, n) / bandwidth)


# ---- tests ----

SIDES = (512, 1024, 4096, 16384)
A100 = hardware.get("a100-sxm-80gb")
CASES = [
    {"operation": operation, "n": n}
    for operation in ("matmul", "layernorm", "softmax", "gelu", "transpose")
    for n in SIDES
]
RATES = {"peak": A100.peak("bf16").si, "bandwidth": A100.memory_bandwidth.si}


def work(operation, n):
    return five_operations(n, n, "bf16")[operation]


def some(cases):
    """Without the operation that computes nothing: zero has no factor of two."""
    return [case for case in cases if case["operation"] != "transpose"]


def test_flop():
    expect.function_matches(
        flop,
        lambda operation, n: work(operation, n).operations.si,
        some(CASES),
        unit="FLOP",
        mistakes={
            "A multiply-add is a multiplication and an addition: two FLOP.": (
                lambda operation, n: work(operation, n).operations.si / 2
            ),
            "That is one FLOP for each number: count the steps.": (
                lambda operation, n: n * n
            ),
        },
    )
    if expect.read(flop("transpose", 64), "FLOP"):
        raise expect.Mistake("a transpose computes nothing: its FLOP are 0")


def test_moved():
    expect.function_matches(
        moved,
        lambda operation, n: work(operation, n).bytes.si,
        CASES,
        unit="B",
        mistakes={
            "The result has to go back to memory too.": (
                lambda operation, n: work(operation, n).bytes.si - 2 * n * n
            ),
            "You moved the array once a step. A fused kernel moves it once.": (
                lambda operation, n: (
                    five_operations(n, n, "bf16", rule="steps")[operation].bytes.si
                )
            ),
            "You counted numbers; each takes two bytes.": (
                lambda operation, n: work(operation, n).bytes.si / 2
            ),
        },
    )


def test_least_time():
    def right(operation, n, peak, bandwidth):
        return roofline.bound_on(work(operation, n), A100).time.si

    def added(operation, n, peak, bandwidth):
        bound = roofline.bound_on(work(operation, n), A100)
        return (bound.t_compute + bound.t_memory).si

    def computing(operation, n, peak, bandwidth):
        return roofline.bound_on(work(operation, n), A100).t_compute.si

    expect.function_matches(
        least_time,
        right,
        [case | RATES for case in CASES],
        unit="s",
        mistakes={
            "You added the two times; both things happen at once.": added,
            "You looked at the arithmetic alone; the bytes take longer.": computing,
        },
    )
