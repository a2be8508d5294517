"""Loads of neighbours in shared memory that become one wide load."""

import gc
import random
from collections import OrderedDict

import numpy as np
import pytest

from stacklib import gpu
from stacklib.gpu.lang import builder, joined
from stacklib.gpu.lang.builder import KernelError
from stacklib.gpu.simt.plan import planned
from stacklib.gpu.thread import compile_once
from stacklib.gpu.vm.program import FIELDS, OP

from .test_machine import same, written

THREADS, SIDE = 64, 32  # a tile of 32x32 by 64 threads of 4x4, in steps of 4
WIDTH = FIELDS.index("c")


def program_of(kernel, *args, threads=THREADS):
    return planned(kernel, 1, threads, "h100-sxm", args, 32, 0, 1).program


def widths(kernel, *args, threads=THREADS):
    """How many neighbours each load of shared memory gets."""
    program = program_of(kernel, *args, threads=threads)
    loads = program.rows[:, 0] == OP["LOAD"]
    shared = np.array([kind == "load_shared" for kind in program.kinds])
    return sorted(max(1, int(row[WIDTH])) for row in program.rows[loads & shared])


def numbers(t, x, k, col, wide):
    if wide:
        return [one for i in range(0, 4, 4) for one in t.load(x, (k, col + i), 4)]
    return [x[k, col + i] for i in range(4)]


def product(wide, scale):
    """A tile of a product of matrices, a thread's numbers one by one or by fours."""

    def kernel(t, a, b, c):
        x = t.thread.x
        row, col = x // 8 * scale, x % 8 * scale
        own, other = t.shared((4, SIDE)), t.shared((4, SIDE))
        total = [0.0] * 16
        for first in range(0, SIDE, 4):
            for i in range(0, 128, THREADS):
                own[(x + i) % 4, (x + i) // 4] = a[(x + i) // 4, first + (x + i) % 4]
                to = first + (x + i) // SIDE
                other[(x + i) // SIDE, (x + i) % SIDE] = b[to, (x + i) % SIDE]
            t.sync()
            for k in range(4):
                left = numbers(t, own, k, row * (4 // scale), wide)
                right = numbers(t, other, k, col * (4 // scale), wide)
                for i in range(4):
                    for j in range(4):
                        at = i * 4 + j
                        total[at] = t.fma(left[i], right[j], total[at])
            t.sync()
        out = (row * SIDE + col) * (4 // scale)
        for i in range(4):
            for j in range(4):
                c[out + (i * SIDE + j)] = total[i * 4 + j]

    return kernel


def squares():
    draw = np.random.default_rng(0)
    a, b = draw.random((2, SIDE, SIDE), np.float32)
    return a, b, np.zeros(SIDE * SIDE, np.float32)


def figures(report):
    """All that is counted or timed but the lines."""
    counters, traffic = report.counters, report.traffic
    return (
        counters.warps,
        counters.lanes,
        traffic.passes,
        traffic.phases,
        traffic.sectors,
        report.bank_conflicts,
        report.time,
    )


@pytest.mark.rows("scale", [1, 2, 4])
def test_a_tile_element_by_element_costs_what_wide_loads_cost(scale):
    arrays = squares()
    found = []
    for wide in (False, True):
        ran = gpu.launch(product(wide, scale), 1, THREADS, "h100-sxm", *arrays)
        expected = (arrays[0] @ arrays[1]).ravel()
        np.testing.assert_allclose(ran.results["c"], expected, rtol=1e-5)
        found.append(figures(ran.report))
    assert found[0] == found[1]
    assert set(widths(product(False, scale), *arrays)) == {4}


# -- what is joined, and what is not ------------------------------------------


AROUND = """
def kernel(t, out, src):
    x = t.thread.x
    own = t.shared(1024, src.dtype)
    for n in range(0, 1024, 64):
        own[x + n] = src[x + n]
    t.sync()
    at, total = {index}, 0
    for i in range({count}):
        total += {array}[at + i] * (i + 1)
        if i == 1:
            {between}
    out[x] = total
"""


def around(index, count=4, between="pass", array="own"):
    """A kernel that adds ``count`` neighbours of an array from an index on."""
    text = AROUND.format(index=index, count=count, between=between, array=array)
    return written(text, "kernel")


def placed(dtype=np.float32):
    return np.zeros(THREADS, np.float64), np.arange(1024).astype(dtype)


INDICES = [
    ("x * 4", 4, [4]),
    ("x * 8 + 4", 4, [4]),
    ("(x << 2) + 512", 4, [4]),
    ("x // 8 * 4 + x % 8 * 16", 8, [4, 4]),
    ("(x & ~3) * 1", 4, [4]),
    ("t.min(x * 12, 64)", 4, [4]),
    ("32", 4, [4]),
    ("x * 4 - 1 + 1", 4, [4]),
    ("x * 6", 4, [2, 2]),
    ("x * 4 + 2", 4, [2, 2]),
    ("x * 4", 7, [1, 2, 4]),
    ("x * 4 + 1", 4, [1, 1, 2]),
    ("x", 4, [1] * 4),
    ("x * 3", 4, [1] * 4),
    ("x // 4", 4, [1] * 4),
    ("x * 4 + x % 4", 4, [1] * 4),
]


@pytest.mark.rows(("index", "count", "expected"), INDICES)
def test_loads_are_joined_as_far_as_the_first_index_is_surely_aligned(
    index, count, expected
):
    kernel, arrays = around(index, count), placed()
    assert widths(kernel, *arrays) == expected
    same(kernel, 1, THREADS, *arrays)


@pytest.mark.rows(
    ("dtype", "expected"),
    [(np.float64, [2, 2]), (np.int32, [4]), (np.float16, [1] * 4), (np.int8, [1] * 4)],
)
def test_words_of_four_and_eight_bytes_are_joined(dtype, expected):
    assert widths(around("x * 4"), *placed(dtype)) == expected


@pytest.mark.rows("between", ["own[x] = 0", "t.atomic_add(own, x, 1)", "t.sync()"])
def test_no_load_moves_over_a_store_an_atomic_or_a_barrier(between):
    assert widths(around("x * 4", between=between), *placed()) == [2, 2]


def test_nothing_is_known_of_the_address_of_a_global_array():
    kernel = around("x * 4", array="src")
    program = planned(kernel, 1, THREADS, "h100-sxm", placed(), 32, 0, 1).program
    loads = program.rows[program.rows[:, 0] == OP["LOAD"]]
    assert len(loads) == 4 + 16 and (loads[:, WIDTH] < 1).all()


def test_nobody_waits_for_what_is_stored_by_fours():
    def fours(t, dst):
        t.store(dst, 4 * t.thread.x, [1.0, 2.0, 3.0, 4.0])

    made = planned(fours, 1, 32, "h100-sxm", (gpu.empty(128),), 32, 0, 1).program
    stores = made.rows[made.rows[:, 0] == OP["STORE"]]
    assert stores[:, FIELDS.index("dst")].tolist() == [-1]


def rounds(t, out, src):
    """A counter with steps of four, in more rounds than stand one by one."""
    x = t.thread.x
    own = t.shared(4096, np.int32)
    for n in range(0, 4096, THREADS):
        own[x + n] = src[(x + n) % 1024]
    t.sync()
    total = 0
    for i in range(0, 4096, 4):
        total += own[i] + 2 * own[i + 1] - own[i + 3] * own[i + 2]
    out[x] = total


def test_a_counter_with_steps_of_four_is_a_multiple_of_four():
    out, src = np.zeros(THREADS, np.int64), np.arange(1024, dtype=np.int32) % 7
    found = widths(rounds, out, src)
    assert found and set(found) == {4}
    whole = np.tile(src, 4).reshape(-1, 4).astype(np.int64)
    total = (whole @ [1, 2, 0, 0] - whole[:, 3] * whole[:, 2]).sum()
    ran = gpu.launch(rounds, 1, THREADS, "h100-sxm", out, src)
    assert set(ran.results["out"].tolist()) == {total}


# -- faults keep their names --------------------------------------------------


def beyond(t, out):
    own = t.shared((4, 6))
    x = t.thread.x
    if x < 24:
        own[x // 6, x % 6] = x
    t.sync()
    col = x % 2 * 4
    out[x] = own[2, col] + own[2, col + 1] + own[2, col + 2] + own[2, col + 3]


def never_written(t, out):
    own = t.shared(256)
    x = t.thread.x
    if x != 30:
        own[x] = x
    t.sync()
    at = x // 4 * 4
    total = 0
    for i in range(4):
        total += own[at + i]
    out[x] = total


def raced(t, out):
    own = t.shared(256)
    x = t.thread.x
    own[x] = x
    at = (x ^ 32) // 4 * 4
    total = 0
    for i in range(4):
        total += own[at + i]
    out[x] = total


def beyond_on_its_line(t, out):
    own = t.shared((4, 6))
    x = t.thread.x
    if x < 24:
        own[x // 6, x % 6] = x
    t.sync()
    col = x % 2 * 4
    first, second = own[2, col], own[2, col + 1]
    third = own[2, col + 2]
    fourth = own[2, col + 3]
    out[x] = first + second + third + fourth


def below_on_its_line(t, out):
    own = t.shared(64)
    x = t.thread.x
    own[x] = x
    t.sync()
    at = x * 4 - 16
    first = own[at]
    second = own[at + 1]
    third = own[at + 2]
    fourth = own[at + 3]
    out[x] = first + second + third + fourth


def never_written_on_its_line(t, out):
    own = t.shared(256)
    x = t.thread.x
    if x != 30:
        own[x] = x
    t.sync()
    at = x // 4 * 4
    second = own[at + 1]
    first = own[at]
    third = own[at + 2]
    fourth = own[at + 3]
    out[x] = first + second + third + fourth


KERNELS = [
    beyond,
    never_written,
    raced,
    beyond_on_its_line,
    below_on_its_line,
    never_written_on_its_line,
]


@pytest.fixture
def unjoined(monkeypatch):
    """Switches the joining off, and has every kernel compiled anew."""

    def switch(how=lambda rows, arrays, registers: registers):
        monkeypatch.setattr(compile_once, "_kept", OrderedDict())
        monkeypatch.setattr(builder, "joined", how)

    return switch


def message(kernel):
    with pytest.raises(KernelError) as found:
        gpu.launch(kernel, 1, THREADS, "h100-sxm", np.zeros(THREADS))
    return str(found.value)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_fault_in_a_joined_load_is_named_as_without(kernel, unjoined):
    assert 4 in widths(kernel, np.zeros(THREADS))
    said = message(kernel)
    unjoined()
    assert widths(kernel, np.zeros(THREADS)) == [1] * 4
    assert said == message(kernel)


# -- kernels by chance --------------------------------------------------------

LANES = 32


def by_chance(seed):
    """Straight lines, branches and rounds that load and store a thread's own words."""
    draw = random.Random(seed)

    def place():
        n = draw.randrange(8)
        return draw.choice(
            [f"own[b + {n}]", f"own[x * 8 + {n}]", f"rows[x, {n}]", f"own[8 * y + {n}]"]
        )

    def statement(deep):
        kind = draw.random()
        name, other = (f"v{draw.randrange(6)}" for _ in range(2))
        if kind < 0.08 and deep:
            head = draw.choice(["if x % 3:", "for _ in range(x % 3):"])
            return [head, *("    " + one for one in lines(deep - 1, 6))]
        if kind < 0.14:
            return [f"{place()} = {name} * 3 % 101"]
        if kind < 0.3:
            return [f"total = (total * 5 + {name} - {other}) % 9973"]
        if kind < 0.36:
            return [f"{name} = own[b + {place()} % 8]"]
        if kind < 0.5:
            first = draw.choice([0, 4, 2])
            turn = draw.choice(["range(4)", "(3, 2, 1, 0)"])
            stored = f"own[b + ({first} + i * 3 + 1) % 8] = total % 7"
            return [
                f"for i in {turn}:",
                f"    total += (i + 1) * own[b + {first} + i]",
                "    " + (stored if draw.random() < 0.3 else "pass"),
            ]
        return [f"{name} = {place()}"]

    def lines(deep, count):
        return [one for _ in range(count) for one in statement(deep)]

    body = [
        "def kernel(t, out):",
        "    x, total, y = t.thread.x, 1, 0",
        f"    own, rows = t.shared({8 * LANES}, np.int32), t.shared(({LANES}, 8), int)",
        "    b = x * 8",
        "    for i in range(8):",
        "        own[b + i] = x * i % 11",
        "        rows[x, i] = x + 7 * i",
        "    v0 = v1 = v2 = v3 = v4 = v5 = x",
        "    y = x + 0",
        *("    " + one for one in lines(2, 60)),
        "    out[x] = total + v0 + v1 * 2 + v2 * 3 + v3 * 5 + v4 * 7 + v5 * 11",
    ]
    return "import numpy as np\n\n" + "\n".join(body)


def chance(seed):
    kernel = written(by_chance(seed), "kernel")
    same(kernel, 1, LANES, np.zeros(LANES, np.int64))
    return widths(kernel, np.zeros(LANES, np.int64), threads=LANES)


def test_kernels_by_chance_leave_what_one_thread_leaves():
    found = [one for seed in range(25) for one in chance(seed)]
    assert min(found.count(n) for n in (1, 2, 4)) > 50


def test_a_program_does_not_depend_on_when_python_clears_its_memory(unjoined):
    kernel, made = written(by_chance(0), "kernel"), []
    most, *rest = gc.get_threshold()
    for often in (0, 50):
        unjoined(joined.joined)
        gc.set_threshold(often, *rest)
        try:
            made.append(program_of(kernel, np.zeros(LANES, int), threads=LANES).rows)
        finally:
            gc.set_threshold(most, *rest)
    assert np.array_equal(*made)


def over_stores(block, arrays):
    """As if a store changed nothing."""
    rows = [(n, 0, row) for n, row in enumerate(block) if row.spot is not None]
    yield [one for one in rows if one[2].op == "LOAD"]


def test_kernels_by_chance_find_a_load_that_moves_over_a_store(unjoined, monkeypatch):
    monkeypatch.setattr(joined, "unstored", over_stores)
    unjoined(joined.joined)
    with pytest.raises(AssertionError):
        for seed in range(25):
            chance(seed)
