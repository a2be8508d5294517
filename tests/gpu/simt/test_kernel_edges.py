"""Kernels at the edge of the language: what is refused, what must come out equal."""

import functools

import numpy as np
import pytest

from stacklib import gpu, hardware
from stacklib.gpu.simt.one_thread import run_one_by_one

from ...rows import refusals
from .corpus import sorts
from .test_machine import launch, line_of, refused, same, written

H100 = hardware.get("h100-sxm")


# -- the language --------------------------------------------------------------


@pytest.mark.rows(
    ("text", "says"),
    [
        ("if t.lane > 3 and (y := t.lane): pass", "'y' := in a"),
        ("yield t.lane", "yields"),
        ("for k in t.thread.x: pass", "gone through"),
        ("for k in out: pass", "not iterable"),
        ("for k in range(t.thread.x / 2): pass", "whole numbers"),
        ("out[t.thread.x] = t.thread.x // (t.thread.x - 5)", "divided by zero"),
        ("out[t.thread.x] = t.thread.x % 0", "divided by zero"),
        ("out[t.thread.x] = 1j", "1j is stored"),
        ("out[t.thread.x] = None", "None is stored"),
        ("out[t.thread.x] = t.shuffle(t.lane, 1.5)", "whole number"),
        ("out[t.thread.x] = float(t.lane)", "t.to(float, value)"),
        ("out[t.thread.x] = [1, 2][t.lane]", "NumPy array"),
        ("t.shared(True)", "whole numbers from 1"),
        ("t.shared(4, complex)", "complex128"),
        ("t.shared(4, 'flot')", "did you mean: float64"),
        ("if t.lane < 16: t.syncwarp()", "not reached by all threads of a warp"),
        ('t.exp(t.to("float8_e5m2", 1.0))', "no arithmetic on float8_e5m2"),
    ],
)
def test_what_has_no_meaning(text, says):
    kernel = written(f"def kernel(t, out):\n    {text}\n", "kernel")
    said = refused(kernel, np.zeros(64))
    assert says in said and "kernel, line 2" in said


def test_errors_of_python_name_the_line():
    def kernel(t, out):
        out[t.thread.x] = t.threadx.x

    said = refused(kernel, np.zeros(64))
    assert "AttributeError" in said and line_of(kernel, 1) in said
    assert "lane 0" in refused(_by_nothing, np.zeros(64, np.int64))


def _by_nothing(t, out):
    out[t.thread.x] = 3 // out[t.thread.x]


def test_only_active_lanes_divide():
    def kernel(t, out):
        if t.thread.x:
            out[t.thread.x] = 12 // t.thread.x

    assert launch(kernel, 1, 4, np.zeros(4, np.int64)).results["out"][3] == 4


def test_kernels_that_are_no_kernels():
    def plain(t, out):
        out[t.thread.x] = 1.0

    def only_placed(t, out, /):
        pass

    def starred(t, *out):
        pass

    def nothing():
        pass

    wrapped = functools.wraps(plain)(lambda t, out: None)
    for kernel, says in (
        (only_placed, "without"),
        (starred, "without"),
        (nothing, "its thread"),
        (wrapped, "decorator"),
        (functools.partial(plain), "Python function"),
    ):
        with pytest.raises(TypeError, match=says):
            launch(kernel, 1, 32, np.zeros(32))
    with pytest.raises(TypeError, match="device: a ndarray"):
        gpu.launch(plain, 1, 32, np.zeros(32))


@pytest.mark.rows("shape", [0, -1, 2.5, True, "a", (2, 0), None])
def test_shapes_of_nothing(shape):
    with pytest.raises(ValueError, match="whole numbers from 1"):
        gpu.empty(shape)


def test_formats_no_gpu_has():
    for dtype in (object, complex, np.longdouble):
        with pytest.raises(TypeError):
            gpu.empty(4, dtype)


# -- formats -------------------------------------------------------------------


def guarded(t, src, dst, n):
    i = t.block.x * t.block_dim.x + t.thread.x
    if i < n:
        total = 0.0
        for k in range(8):
            total = total + src[k] * (i + 1)
        dst[i] = total


def meeting(t, src, dst):
    i = t.thread.x
    total = 0.0
    if i % 2:
        other = 0.0
        for k in range(8):
            other += src[k]
        total = other
    else:
        for k in range(8):
            total += src[k] * 0.1 if k % 2 else 0.5
    dst[i] = total


def test_a_guard_does_not_change_the_format():
    """A Python number takes the format of the array, in a branch too: bit for bit."""
    src = (np.arange(8) + 0.1).astype(np.float32) ** 3
    slow, dst = np.zeros(40), np.zeros(40)
    run_one_by_one(guarded, 2, 32, src, slow, 40)
    ran = launch(guarded, 2, 32, src, dst, 40)
    assert (ran.results["dst"] == slow).all() and ran.counters.doubles == 0
    slow = np.zeros(40)
    run_one_by_one(meeting, 1, 40, src, slow)
    assert (launch(meeting, 1, 40, src, dst).results["dst"] == slow).all()


def test_narrow_numbers_are_not_cut_to_compare():
    def kernel(t, src, dst):
        dst[t.thread.x] = 1 if src[t.thread.x] == t.thread.x else 0

    found = launch(kernel, 1, 300, np.zeros(300, np.uint8), np.zeros(300)).results
    assert found["dst"].sum() == 1


@pytest.mark.rows("kind", "bBhHiIlLefd")
def test_every_format(kind):
    def kernel(t, a, b, out):
        x, y = a[t.thread.x], b[t.thread.x]
        if t.thread.x % 2:
            z = x * y + x
        else:
            z = x - y
        out[t.thread.x] = z if x > y else y

    a, b = np.arange(1, 41).astype(kind), (np.arange(40) * 3 % 7 + 1).astype(kind)
    with np.errstate(over="ignore"):
        same(kernel, 1, 40, a, b, np.zeros(40, kind))


# -- atomics and order ----------------------------------------------------------


def unsynced(t, out):
    s = t.shared(4, np.int64)
    if t.thread.x < 4:
        s[t.thread.x] = 0
    t.atomic_add(s, t.thread.x % 4, 1)


def too_early(t, out):
    t.atomic_add(out, t.thread.x % 4, 1)
    t.sync()
    if t.thread.x == 0:
        out[t.block.x + 8] = out[0]


def test_atomics_race_with_plain_accesses():
    said = refused(unsynced, np.zeros(4))
    assert "meets an atomic" in said and line_of(unsynced, 4) in said
    said = refused(too_early, np.zeros(64, np.int64), grid=2)
    assert "out[0] meets an atomic while another lane reads" in said


@pytest.mark.rows("form", [np.int32, np.uint32, np.int64, np.uint64])
def test_counting_up_has_no_sign(form):
    """As ``atomicInc``: the largest number of all never begins anew."""

    def kernel(t, cells, most, old):
        i = t.thread.x
        old[i] = t.atomic_inc(cells, i % 3, most[i % 3])

    most = np.array([3, -1, -7]).astype(form)
    ran = same(kernel, 1, 64, np.zeros(3, form), most, np.zeros(64, form))
    wanted = [[k % 4 for k in range(22)], range(21), range(21)]
    for n, counted in enumerate(wanted):
        assert ran.results["old"][n::3].tolist() == [*counted]


def test_atomics_do_not_race_with_themselves():
    def kernel(t, out, after):
        i = t.thread.x
        t.atomic_add(out, i % 4, 1)
        t.atomic_max(out, i % 4, 2)
        t.sync()
        after[i] = out[i % 4]

    assert (
        launch(kernel, 1, 64, np.zeros(4), np.zeros(64)).results["after"] == 16
    ).all()


# -- programs of other people ---------------------------------------------------


def online_softmax(t, x, y, n):
    row, m, s = t.block.x, -float("inf"), 0.0
    for j in range(t.lane, n, 32):
        v = x[row, j]
        new = t.max(m, v)
        s = s * t.exp(m - new) + t.exp(v - new)
        m = new
    for k in (16, 8, 4, 2, 1):
        other, more = t.shuffle_xor(m, k), t.shuffle_xor(s, k)
        new = t.max(m, other)
        s = s * t.exp(m - new) + more * t.exp(other - new)
        m = new
    for j in range(t.lane, n, 32):
        y[row, j] = t.exp(x[row, j] - m) / s


def warp_scan(t, x, y):
    v, sums = x[t.thread.x], t.shared(32, np.int64)
    for k in (1, 2, 4, 8, 16):
        below = t.shuffle_up(v, k)
        if t.lane >= k:
            v += below
    if t.lane == 31:
        sums[t.warp] = v
    t.sync()
    before = 0
    for warp in range(t.warp):
        before += sums[warp]
    y[t.thread.x] = v + before


def taken_from_above(t, x, y):
    t.atomic_sub(y, 0, t.shuffle_up(x[t.lane], 3))


def test_one_lane_at_a_time_takes_from_above():
    ran = same(taken_from_above, 1, 32, np.arange(32) ** 2, np.zeros(1, np.int64))
    assert ran.results["y"] == -sum(n**2 for n in (0, 1, 2, *range(29)))


def test_bitonic_sort():
    a = np.random.default_rng(2).integers(-1000, 1000, 128).astype(np.int32)
    ran = same(sorts.bitonic_sort, 1, 128, a, rest=(128,))
    assert (ran.results["keys"] == np.sort(a)).all()
    # One barrier after the load, one for each of 7 * 8 / 2 steps; 4 warps.
    assert ran.counters.warps["barrier"] == 4 * (1 + 28)


@pytest.mark.rows("n", [32, 77, 100])
def test_online_softmax(n):
    x = np.random.default_rng(n).normal(size=(5, n))
    found = launch(online_softmax, 5, 32, x, gpu.empty((5, n), float), n).results["y"]
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(found, e / e.sum(axis=1, keepdims=True), rtol=1e-12)


def test_scan_by_shuffles():
    x = np.arange(992) % 17
    found = launch(warp_scan, 1, 992, x, gpu.empty(992, np.int64)).results["y"]
    assert (found == np.cumsum(x)).all()


def test_shuffle_by_a_distance_of_its_own():
    def kernel(t, out):
        out[t.thread.x] = t.shuffle_down(t.lane, t.lane % 3)

    found = launch(kernel, 1, 32, np.zeros(32)).results["out"]
    assert found.tolist() == [k + k % 3 if k + k % 3 < 32 else k for k in range(32)]


# -- time -----------------------------------------------------------------------


def polynomial(t, x, steps):
    i = t.block.x * t.block_dim.x + t.thread.x
    v = x[i]
    for _ in range(steps):
        v = v * 1.5 + 1.0
    x[i] = v


@pytest.mark.rows(
    "key",
    [
        "v100-sxm2-32gb",
        "t4",
        "a100-sxm-80gb",
        "rtx-4090",
        "h100-sxm",
        "h20",
        "b200-sxm",
        "b300-sxm",
        "rtx-5090",
    ],
)
@pytest.mark.rows("dtype", ["fp32", "fp64"])
def test_no_launch_beats_the_roofline(key, dtype):
    device = hardware.get(key)
    kind = {"fp32": np.float32, "fp64": np.float64}[dtype]
    n, before = int(device.compute_units.si) * 1024, 0.0
    for steps in (1, 10, 40):  # more work is never faster
        report = gpu.launch(
            polynomial, n // 256, 256, device, np.ones(n, kind), steps
        ).report
        assert 2 * steps * n / report.time <= device.peak(dtype).si * 1.001
        moved = report.levels.read + report.levels.written
        assert moved / report.time <= device.memory_bandwidth.si
        assert report.time >= before
        before = report.time


def test_source_is_needed():
    names = {}
    exec("def kernel(t, out):\n    out[0] = 1", names)
    with pytest.raises(TypeError, match="its source is not at hand"):
        launch(names["kernel"], 1, 1, np.zeros(1))


def _exp(t, out):
    out[t.thread.x] = np.exp(t.thread.x * 1.0)


def _larger(t, out):
    out[t.thread.x] = np.maximum(t.thread.x * 1.0, 3.0)


def _angle(t, out):
    out[t.thread.x] = np.arctan(t.thread.x * 1.0)


def _one_value(t, out):
    out[0] = 7.0


def _many_values(t, out):
    out[0] = t.thread.x * 1.0


test_a_message_names_what_to_write_instead = refusals(
    (_exp, "np.exp takes no value that differs by lane; use t.exp"),
    (_larger, "np.maximum takes no .*; use t.max"),
    (_angle, "np.arctan takes no .*; a thread has t.exp"),
    (_one_value, r"stored by 32 lanes at once; the values are equal \(7.0\)"),
    (_many_values, "written while another lane uses it"),
    by=lambda kernel: gpu.launch(kernel, 1, 32, "h100-sxm", gpu.empty(32, float)),
    error=gpu.KernelError,
)
