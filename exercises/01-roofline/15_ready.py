"""Are you ready? Ten lines of arithmetic.

level: estimate

The questions of the readiness page, as functions: each takes what the page gives
and returns one number. The units are in the docstrings. Most answers are one line.

hint: The bytes of the loop: count how often each array crosses, and which way. The
stride: memory never gives less than a line. The profile: only one of the parts
changes; the whole is their sum, before over after.
"""

from stacklib.grading import expect
from stacklib.roofline.count import readiness

# ---- your answer ----


def loop_bytes(n, element):
    """Bytes that `y[i] += a * x[i]` moves, i from 0 to n - 1; no caches."""
    return 3 * n * element


def offset(row, column, columns, element):
    """Bytes from the start of a C array to a[row][column]."""
    return (row * columns + column) * element


def page_faults(size, page):
    """Faults of a program that writes to every page of `size` fresh bytes."""
    return size / page


def gibibytes(size):
    """How many GiB these bytes are."""
    return size / 2**30


def strided_bytes(size, element, stride, line):
    """Bytes that come from memory when every stride-th element is read."""
    return min(size, size / (element * stride) * line)


def access_time(hit, penalty, misses):
    """Average cycles of a load; `misses` is the share that pays the penalty too."""
    return hit + misses * penalty


def simd_flop(register, element, units):
    """FLOP a core does in a cycle; sizes in bits, units of multiply-add."""
    return 2 * units * register / element


def product_flop(m, k, n):
    """FLOP of an m x k matrix times a k x n matrix."""
    return 2 * m * k * n


def whole_speedup(times, which, faster):
    """How many times as fast the whole is when part `which` is."""
    after = list(times)
    after[which] /= faster
    return sum(times) / sum(after)


def transfer_time(size, rate):
    """Seconds to send `size` bytes over a link of `rate` bits a second."""
    return 8 * size / rate


# ---- tests ----

LARGE = 2**30


def test_loop_bytes():
    expect.function_matches(
        loop_bytes,
        readiness.loop_bytes,
        [{"n": 1_000_000, "element": 4}, {"n": 512, "element": 8}],
        rel=1e-6,
        unit="B",
        mistakes={
            "y is read before it is written: it crosses both ways.": (
                lambda n, element: 2 * n * element
            ),
        },
    )


def test_offset():
    expect.function_matches(
        offset,
        readiness.offset,
        [
            {"row": 3, "column": 5, "columns": 32, "element": 4},
            {"row": 7, "column": 1, "columns": 10, "element": 2},
        ],
        rel=1e-6,
        unit="B",
        mistakes={
            "That counts elements; a pointer to char counts bytes.": (
                lambda row, column, columns, element: row * columns + column
            ),
            "C stores rows one after another, not columns.": (
                lambda row, column, columns, element: (column * columns + row) * element
            ),
        },
    )


def test_page_faults():
    expect.function_matches(
        page_faults,
        readiness.page_faults,
        [{"size": LARGE, "page": 4096}, {"size": LARGE, "page": 2 << 20}],
        rel=1e-6,
    )


def test_gibibytes():
    expect.function_matches(
        gibibytes,
        readiness.gibibytes,
        [{"size": 80e9}, {"size": 3.0 * LARGE}],
        unit="GiB",
        rel=0.001,
        mistakes={"That counts GB.": lambda size: size / 1e9},
    )


def test_strided_bytes():
    expect.function_matches(
        strided_bytes,
        readiness.strided_bytes,
        [
            {"size": 64 << 20, "element": 4, "stride": 16, "line": 64},
            {"size": 64 << 20, "element": 4, "stride": 4, "line": 64},
            {"size": 64 << 20, "element": 4, "stride": 64, "line": 64},
        ],
        rel=1e-6,
        unit="B",
        mistakes={
            "Those bytes are used; memory gives whole lines.": (
                lambda size, element, stride, line: size / stride
            ),
        },
    )


def test_access_time():
    expect.function_matches(
        access_time,
        readiness.access_time,
        [
            {"hit": 4, "penalty": 200, "misses": 0.05},
            {"hit": 1, "penalty": 100, "misses": 0.5},
        ],
        unit="cycle",
        mistakes={
            "A miss has looked in the cache first: it pays for the hit as well.": (
                lambda hit, penalty, misses: (1 - misses) * hit + misses * penalty
            ),
        },
    )


def test_simd_flop():
    expect.function_matches(
        simd_flop,
        readiness.simd_flop,
        [
            {"register": 256, "element": 32, "units": 2},
            {"register": 512, "element": 64, "units": 1},
        ],
        rel=1e-6,
        unit="FLOP",
    )


def test_product_flop():
    expect.function_matches(
        product_flop,
        readiness.product_flop,
        [{"m": 512, "k": 1024, "n": 256}, {"m": 1, "k": 7, "n": 3}],
        rel=1e-6,
        unit="FLOP",
    )


def test_whole_speedup():
    expect.function_matches(
        whole_speedup,
        readiness.whole_speedup,
        [
            {"times": (6.0, 3.0, 1.0), "which": 1, "faster": 10},
            {"times": (2.0, 98.0), "which": 1, "faster": 1000},
        ],
        mistakes={
            "That is the part's own speed-up; the others take what they took.": (
                lambda times, which, faster: faster
            ),
        },
    )


def test_transfer_time():
    expect.function_matches(
        transfer_time,
        readiness.transfer_time,
        [{"size": 16e9, "rate": 400e9}, {"size": 1e6, "rate": 1e9}],
        unit="s",
        mistakes={
            "The rate counts bits, the size bytes: a byte is eight bits.": (
                lambda size, rate: size / rate
            ),
        },
    )
