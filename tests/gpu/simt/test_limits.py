"""Large launches and small ones: what each may take."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from stacklib import gpu, hardware
from stacklib.gpu.simt import sampled
from stacklib.gpu.simt.long_loops import long_loops, shortened
from stacklib.gpu.simt.plan import planned
from stacklib.gpu.simt.slice_of import addresses_of, searched
from stacklib.gpu.vm.program import OP

SMALL = """
import sys
import numpy as np
from stacklib import gpu
from stacklib.gpu.simt.kernels import vector_add
x = np.arange(1000.0)
ran = gpu.launch(vector_add, 8, 125, "h100", x, x, gpu.empty(1000, float), 1000)
assert (ran.results["out"] == 2 * x).all() and ran.report.time > 0
assert "numba" not in sys.modules, "a thousand elements waited for a compiler"
"""


def test_a_small_launch_of_a_new_process_waits_for_no_compiler():
    done = subprocess.run([sys.executable, "-c", SMALL], capture_output=True, text=True)
    assert not done.returncode, done.stderr


def uniform_for(t, out, n):
    x, y, odd = 0, 7, 0
    for k in range(n):
        x = x + k
        y = (y * 75 + 74) % 65537
        if y % 2:
            odd += 1
        for j in range(2):
            x -= j
    out[t.thread.x] = x % 1000003 + k + odd + j + y + t.lane


def uniform_while(t, out, n):
    x, y, odd, k, j = 0, 7, 0, 0, 1
    while k < n:
        x = x + k
        y = (y * 75 + 74) % 65537
        odd = odd + 1 if y % 2 else odd
        x -= 1
        k += 1
    out[t.thread.x] = x % 1000003 + k - 1 + odd + j + y + t.lane


def plainly(n):
    x, y, odd = 0, 7, 0
    for k in range(n):
        x, y = x + k - 1, (y * 75 + 74) % 65537
        odd += y % 2
    return x % 1000003 + k + odd + 1 + y


@pytest.mark.parametrize("kernel", [uniform_for, uniform_while])
@pytest.mark.parametrize("n", [30, 33, 34, 2000, 300_000])
def test_rounds_that_are_the_same_in_every_lane_are_not_compiled(kernel, n):
    ran = gpu.launch(kernel, 1, 32, "h100-sxm", gpu.empty(32, np.int64), n)
    assert (ran.results["out"] == plainly(n) + np.arange(32)).all()
    assert ran.report.instructions <= 4


def product(t, a, b, c, n, m):
    """One result a thread."""
    row = t.block.y * t.block_dim.y + t.thread.y
    col = t.block.x * t.block_dim.x + t.thread.x
    total = 0.0
    for k in range(m):
        total = total + a[row * m + k] * b[k * n + col]
    c[row * n + col] = total


def estimated(n, m):
    a, b, c = gpu.empty(n * m), gpu.empty(m * n), gpu.empty(n * n)
    grid = (n // 32, n // 32)
    return gpu.estimate(product, grid, (32, 32), "t4", a, b, c, n, m)


def test_a_product_of_4096_is_timed_from_loops_that_are_shorter(monkeypatch):
    """Run in full, it asks for 64 GiB."""
    monkeypatch.setattr(sampled, "STEPS", 100_000)
    found = estimated(4096, 4096)
    peak = hardware.get("t4").peak("fp32").si
    assert 0.05 < 2 * 4096**3 / found.time / peak < 0.4


def test_a_long_loop_follows_from_two_shorter_ones(monkeypatch):
    whole = estimated(128, 1024)
    monkeypatch.setattr(sampled, "STEPS", 300_000)
    cut = estimated(128, 1024)
    assert cut.time == pytest.approx(whole.time, rel=0.05)
    assert cut.time != whole.time and cut.bound == whole.bound
    parts = whole.times.parts()
    assert cut.times.parts() == {k: pytest.approx(parts[k], rel=0.2) for k in parts}


def tailed(t, x, out, n):
    """A long loop and, behind it, a shorter one that takes longer."""
    i = t.block.x * t.block_dim.x + t.thread.x
    total = np.float32(0)
    for k in range(n):
        total += x[k % 64]
    for k in range(600):
        out[k * 64 + i % 64, i // 64] = total


def test_a_short_loop_behind_a_long_one_is_not_cut_with_it(monkeypatch):
    """A share of its rounds was one in both runs, and its time was lost."""
    cut = []

    def cutting(program, loops, share):
        cut.append([loop.rounds for loop in loops])
        return shortened(program, loops, share)

    monkeypatch.setattr(sampled, "shortened", cutting)
    monkeypatch.setattr(sampled, "STEPS", 20_000)
    args = gpu.empty(64), gpu.empty((600 * 64, 2)), 2000
    gpu.estimate(tailed, 2, 64, "t4", *args)
    assert cut == [[500]] * 4


def test_no_time_goes_below_the_busiest_part():
    """A published product, whose stores hid its first rounds, took less than none."""
    long = estimated(2048, 128).times.launch
    short = replace(long, cycles=2 * long.cycles)
    found = sampled._longer(short, long, 1000, 2, 4)
    assert found.share < 1
    assert found.cycles * found.share == max(found.bounds.values()) > 0


def strides(t, x, out, n):
    i = t.block.x * t.block_dim.x + t.thread.x
    while i < n:
        out[i] = x[i] + 1
        i = i + t.block_dim.x * t.grid_dim.x


def picks(t, x, out, n):
    i = t.block.x * t.block_dim.x + t.thread.x
    while i < n:
        if x[i] > 0.0:
            out[i] = x[i]
        i = i + t.block_dim.x * t.grid_dim.x


def walks(t, x, out, n):
    """What it reads behind the loop depends on how far that went."""
    at = t.thread.x
    for _ in range(n):
        at = at + 32
    out[t.thread.x] = x[at]


def leaves(t, x, out, n):
    for k in range(n):
        if x[k] < 0.0:
            break
        out[k] = x[k]


def upwards(t, x, out, n):
    for k in range(t.thread.x, n):
        out[k] = x[k]


@pytest.mark.parametrize(
    ("kernel", "rounds"),
    [(strides, [500]), (picks, [500]), (walks, []), (leaves, []), (upwards, [])],
)
def test_only_loops_whose_rounds_are_known_are_cut(kernel, rounds):
    n = 64 * 500
    args = gpu.empty(2 * n * 32), gpu.empty(2 * n), n
    plan = planned(kernel, 2, 32, "h100-sxm", args, 32, 0, 1)
    loops = long_loops(plan.program, plan.threads * plan.blocks)
    assert [loop.rounds for loop in loops] == rounds
    wide = [set_.bit_count() for set_ in searched(plan.program).results]
    assert wide == (plan.program.rows[:, 2] >= 0).tolist()


def test_a_slice_keeps_every_turn():
    args = gpu.empty(64), gpu.empty(64), 64
    whole = planned(picks, 2, 32, "h100-sxm", args, 32, 0, 1).program
    turns = [
        [op for op in program.rows[:, 0] if OP["IF"] <= op <= OP["EXIT"]]
        for program in (whole, addresses_of(whole))
    ]
    assert turns[0] == turns[1] and len(turns[0]) >= 5
