"""The SIMT machine against the same kernels run one thread at a time."""

import linecache
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.gpu.lang.builder import KernelError
from stacklib.gpu.simt.arguments import empty
from stacklib.gpu.simt.launcher import execute
from stacklib.gpu.simt.one_thread import run_one_by_one
from stacklib.gpu.simt.plan import dimensions

H100 = hardware.get("h100-sxm")


def launch(kernel, grid, block, *args, check=True):
    return execute(
        kernel, dimensions(grid, "grid"), dimensions(block, "block"), H100, args, check
    )


def written(text, name):
    """A kernel from its text, with the source at hand."""
    text = textwrap.dedent(text)
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {}
    exec(compile(text, file, "exec"), names)
    return names[name]


def same(kernel, grid, block, *arrays, rest=()):
    """Every array afterwards as the slow way leaves it; returns what was counted."""
    slow = [a.copy() for a in arrays]
    run_one_by_one(kernel, grid, block, *slow, *rest)
    ran = launch(kernel, grid, block, *arrays, *rest)
    for name, expected in zip(ran.results, slow, strict=True):
        np.testing.assert_allclose(ran.results[name], expected, rtol=1e-6)
    return ran


# -- control flow -------------------------------------------------------------


def nested(t, out, n):
    i = t.block.x * t.block_dim.x + t.thread.x
    if i >= n:
        return
    total = 0
    for k in range(i % 7):
        if k == 4:
            continue
        if total > 9:
            break
        total += k + 1
    while total > 3 and i % 2 == 0:
        total -= 2
    out[i] = total if i % 3 else -total


def collatz(t, out):
    i = t.thread.x + 1
    steps = 0
    while i != 1:
        if i % 2:
            i = 3 * i + 1
        else:
            i = i // 2
        steps += 1
    out[t.thread.x] = steps


def chained(t, out):
    i = t.thread.x
    a, b = i, i + 1
    a, b = b, a
    if 3 <= i < 20 or i == 25:
        out[i] = a - b + 10
    elif not i % 2:
        out[i] = 2
    else:
        out[i] = 3


def even_half(t):
    if t.thread.x % 2 == 0:
        return t.thread.x // 2
    return -1


def always(t, out):
    i = t.thread.x
    low = high = even_half(t)
    if i >= 32 or 7 > 5:
        low = low + 1
    if i >= 32 and 7 < 5:
        high = 100
    out[i] = low * 100 + high


def test_what_holds_for_every_lane_and_helpers_of_the_thread_alone():
    same(always, 1, 64, np.zeros(64, np.int64))


def fetched(src, i):
    return src[i] - 1


def either(t, src, out):
    i = t.thread.x
    y = src[i]
    out[i, 0] = y or 5
    out[i, 1] = min(y and 3, 2) + (0 or y)
    out[i, 2] = [y or 0 or i, y > 2 and i][0]
    out[i, 3] = (y and fetched(src, i)) or 7
    out[i, 4] = 2 * i if y > 2 or i > 3 else (i > 3 and y > 2)
    out[i, 5] = 1 if y or fetched(src, i) else not (y and i)
    while i and y < 6:
        y += y or 1
    out[i, 6] = y or i > 3


def test_and_and_or_give_one_of_their_sides():
    src = np.arange(32) * 7 % 9
    same(either, 1, 32, src, np.zeros((32, 7), np.int64))


def grids(t, out, width):
    x = t.block.x * t.block_dim.x + t.thread.x
    y = t.block.y * t.block_dim.y + t.thread.y
    if x < width and y < 10:
        out[y, x] = 100 * y + x + t.lane


@pytest.mark.rows("n", [1, 31, 32, 33, 70, 96])
def test_nested(n):
    same(nested, 3, 32, np.full(96, 7, np.int64), rest=(n,))


def test_collatz():
    ran = same(collatz, 1, 64, np.zeros(64, np.int64))
    assert ran.counters.divergent > 0


def test_chained():
    same(chained, 1, 40, np.zeros(40, np.int64))


def test_two_dimensions():
    same(grids, (3, 3), (5, 4), np.zeros((10, 13), np.int64), rest=(13,))


PLAIN = st.sampled_from(
    [
        "x = x + i",
        "y += 2",
        "x = y - x",
        "x, y = y, x",
        "x = x % 17",
        "y = i if x > y else y",
        "out[i] = out[i] + x",
    ]
)
CONDITIONS = st.sampled_from(
    ["i % 2", "x > 5", "y < i", "x < y or i > 20", "x > 2 and not i % 3", "1 <= x < 9"]
)
RANGES = st.sampled_from(["3", "i % 5", "2, i % 7"])
JUMPS = st.sampled_from(["", "", "", "break", "continue", "return"])


def compound(statements):
    """Branches and loops of statements."""
    bodies = st.tuples(st.lists(statements, min_size=1, max_size=3), JUMPS)
    return st.one_of(
        st.tuples(st.just("if"), CONDITIONS, bodies, bodies),
        st.tuples(st.just("for"), RANGES, bodies),
        st.tuples(st.just("while"), CONDITIONS, bodies),
    )


# With a bound on leaves: without one most of what is drawn is too large and dropped.
STATEMENTS = st.recursive(PLAIN, compound, max_leaves=20)


def text_of(body, depth, loops):
    """Lines of a body; jumps out of loops only inside one, loops always end."""
    statements, jump = body
    pad, lines = "    " * depth, []
    for s in statements:
        if isinstance(s, str):
            lines.append(pad + s)
        elif s[0] == "if":
            lines += [f"{pad}if {s[1]}:", *text_of(s[2], depth + 1, loops)]
            lines += [f"{pad}else:", *text_of(s[3], depth + 1, loops)]
        elif s[0] == "for":
            name = f"k{depth}"
            lines += [f"{pad}for {name} in range({s[1]}):", f"{pad}    x = x + {name}"]
            lines += text_of(s[2], depth + 1, loops + 1)
        else:
            count = f"c{depth}"
            lines += [f"{pad}{count} = 0", f"{pad}while {count} < 4 and ({s[1]}):"]
            lines += [f"{pad}    {count} += 1", *text_of(s[2], depth + 1, loops + 1)]
    if jump == "return" or (jump and loops):
        lines.append(pad + jump)
    return lines


@settings(max_examples=150, deadline=None)
@given(st.lists(STATEMENTS, min_size=2, max_size=4))
def test_random_kernels_equal_one_thread_at_a_time(statements):
    body = text_of((statements, ""), 1, 0)
    head = ["def kernel(t, out):", "    i = t.thread.x", "    x = i", "    y = 3"]
    text = "\n".join([*head, *body, "    out[i] = out[i] + x - y", ""])
    same(written(text, "kernel"), 1, 40, np.arange(40, dtype=np.int64))


# -- shared memory, barriers, shuffles, atomics --------------------------------


def reduction(t, src, out):
    s = t.shared(64, np.float64)
    i = t.thread.x
    s[i] = src[t.block.x * 64 + i]
    t.sync()
    k = 32
    while k > 0:
        if i < k:
            s[i] += s[i + k]
        t.sync()
        k = k // 2
    if i == 0:
        out[t.block.x] = s[0]


def histogram(t, src, bins):
    i = t.thread.x
    t.atomic_add(bins, src[i] % 5, 1)


def shuffled(t, src, out):
    v = src[t.thread.x]
    for k in (16, 8, 4, 2, 1):
        v = v + t.shuffle_down(v, k)
    if t.lane == 0:
        out[t.warp] = v


def test_reduction():
    ran = same(reduction, 3, 64, np.arange(192.0), np.zeros(3))
    # Two warps, seven barriers, three blocks.
    assert ran.counters.warps["barrier"] == 2 * 7 * 3


def test_histogram():
    same(histogram, 1, 64, np.arange(64) ** 2, np.zeros(5, np.int64))


def test_shuffles():
    values = np.arange(64.0)
    ran = launch(shuffled, 1, 64, values, empty(2, np.float64))
    assert ran.results["out"].tolist() == values.reshape(2, 32).sum(axis=1).tolist()


def test_votes():
    def kernel(t, out):
        i = t.lane
        if i < 8:
            if t.any(i == 3) and t.all(i < 8):
                out[i] = t.ballot(i % 2 == 0)

    ran = launch(kernel, 1, 32, np.zeros(32, np.int64))
    assert ran.results["out"][:9].tolist() == [0b01010101] * 8 + [0]


# -- what is refused ----------------------------------------------------------


def refused(kernel, *args, grid=1, block=64):
    with pytest.raises(KernelError) as caught:
        launch(kernel, grid, block, *args)
    return str(caught.value)


def line_of(kernel, offset):
    return f"line {kernel.__code__.co_firstlineno + offset}:"


def test_outside_the_array():
    def kernel(t, out):
        out[t.thread.x + 10] = 1.0

    said = refused(kernel, np.zeros(64))
    assert "out[64] is outside its 64 elements" in said
    assert "thread 54, lane 22" in said and line_of(kernel, 1) in said


def test_below_the_array():
    def kernel(t, out):
        out[t.thread.x - 1] = 1.0

    assert "out[-1] is outside" in refused(kernel, np.zeros(64))


def test_read_of_nothing():
    def kernel(t, out):
        s = t.shared(64)
        if t.thread.x > 0:
            s[t.thread.x] = 1.0
        t.sync()
        out[t.thread.x] = s[t.thread.x]

    said = refused(kernel, np.zeros(64))
    assert "shared array 1[0] is read, and nobody has written it" in said
    assert "thread 0" in said and line_of(kernel, 5) in said
    assert "nobody has written" in refused(lambda_copy, empty(64), np.zeros(64))


def lambda_copy(t, src, dst):
    dst[t.thread.x] = src[t.thread.x]


def test_race_without_a_barrier():
    def kernel(t, out):
        s = t.shared(64)
        s[t.thread.x] = 1.0
        out[t.thread.x] = s[63 - t.thread.x]

    said = refused(kernel, np.zeros(64))
    assert "is read while another lane writes it" in said
    assert line_of(kernel, 3) in said and "shared address 252" in said


def test_write_after_read_races_too():
    def kernel(t, out):
        s = t.shared(64)
        s[t.thread.x] = 1.0
        t.sync()
        out[t.thread.x] = s[63 - t.thread.x]
        s[t.thread.x] = 2.0

    assert "is written while another lane uses it" in refused(kernel, np.zeros(64))


def test_two_lanes_one_element():
    def kernel(t, out):
        out[t.thread.x // 2] = t.thread.x

    assert "out[0] is written while another lane" in refused(kernel, np.zeros(64))


def test_blocks_are_not_ordered():
    def kernel(t, out):
        if t.block.x == 0:
            out[t.thread.x] = 1.0
        else:
            out[t.thread.x] = 2.0

    assert "nothing orders blocks" in refused(kernel, np.zeros(64), grid=2)


def test_syncwarp_orders_a_warp_and_only_it():
    def kernel(t, out):
        s = t.shared(64)
        s[t.thread.x] = 1.0
        t.syncwarp()
        out[t.thread.x] = s[t.thread.x ^ 1]

    launch(kernel, 1, 64, np.zeros(64))

    def across(t, out):
        s = t.shared(64)
        s[t.thread.x] = 1.0
        t.syncwarp()
        out[t.thread.x] = s[t.thread.x ^ 32]

    assert "while another lane writes" in refused(across, np.zeros(64))


def test_barrier_that_not_all_reach():
    def kernel(t, out):
        if t.thread.x < 40:
            t.sync()
        out[t.thread.x] = 1.0

    said = refused(kernel, np.zeros(64))
    assert "not reached by all threads" in said and "thread 40, lane 8" in said
    assert line_of(kernel, 2) in said


def test_threads_that_returned_are_not_waited_for():
    def kernel(t, out):
        if t.thread.x >= 40:
            return
        t.sync()
        out[t.thread.x] = 1.0

    assert launch(kernel, 1, 64, np.zeros(64)).results["out"].sum() == 40


def test_value_of_another_path():
    def kernel(t, out):
        if t.thread.x < 3:
            x = t.thread.x
        out[t.thread.x] = x

    said = refused(kernel, np.zeros(64))
    assert "never computed" in said and "thread 3" in said


def test_name_before_assignment():
    def kernel(t, out):
        out[t.thread.x] = later + 1  # noqa: F821
        later = 3  # noqa: F841

    assert "'later' is read before" in refused(kernel, np.zeros(64))


def test_endless_loop():
    def kernel(t, out):
        x = t.thread.x
        while x >= 0:
            x = x + 0
        out[t.thread.x] = 1.0

    import stacklib.gpu.vm.loop as machine

    before, machine.MOST_ROUNDS = machine.MOST_ROUNDS, 500
    try:
        assert "a loop of more than 500 rounds" in refused(kernel, np.zeros(64))
    finally:
        machine.MOST_ROUNDS = before


def test_shuffle_from_a_sleeping_lane():
    def kernel(t, out):
        if t.lane < 16:
            out[t.thread.x] = t.shuffle_xor(t.lane, 16)

    assert "masked off" in refused(kernel, np.zeros(64))


def test_too_much_shared_memory():
    def kernel(t, out):
        t.shared(60_000)

    assert "it may have 232,448 B" in refused(kernel, np.zeros(4))


@pytest.mark.rows(
    ("text", "says"),
    [
        ("return 3", "returns nothing"),
        ("x = [k for k in range(3)]\n    with x: pass", "With has no meaning"),
        ("assert t.lane", "assert"),
        ("x = t.lane in {1: 2}.items()", "lane by lane"),
    ],
)
def test_statements_that_mean_nothing(text, says):
    kernel = written(f"def kernel(t, out):\n    {text}\n", "kernel")
    assert says in refused(kernel, np.zeros(4))


def test_arguments_are_copied():
    given = np.zeros(64)
    ran = launch(lambda_copy, 1, 64, np.ones(64), given)
    assert given.sum() == 0 and ran.results["dst"].sum() == 64


def test_wrong_number_of_arguments():
    with pytest.raises(TypeError, match="takes src, dst after the thread; 1 given"):
        launch(lambda_copy, 1, 64, np.ones(64))


def test_turns_do_not_matter(monkeypatch):
    import stacklib.gpu.simt.machine as module

    src = np.arange(64.0 * 10)
    whole = launch(reduction, 10, 64, src, empty(10, np.float64))
    monkeypatch.setattr(module, "TURN", 3)
    parts = launch(reduction, 10, 64, src, empty(10, np.float64))
    assert (whole.results["out"] == parts.results["out"]).all()
    assert whole.counters.warps == parts.counters.warps
    assert whole.traffic.sectors == parts.traffic.sectors


def test_a_kernel_that_computes_nothing_has_a_register_and_runs():
    nothing = written("def nothing(t, x):\n    t.sync()\n", "nothing")
    assert launch(nothing, 2, 64, np.zeros(3)) is not None
