"""Constant memory, arrays that live across launches, a thread's own arrays."""

import numpy as np
import pytest

from stacklib import gpu
from stacklib.gpu import KernelError

F32 = np.float32
X = np.arange(64, dtype=F32)


def looked_up(t, table, out, step):
    out[t.thread.x] = table[t.thread.x * step % 64]


@pytest.mark.rows(("step", "passes"), [(0, 1), (1, 32), (4, 16), (32, 2)])
def test_constants_are_served_address_by_address(step, passes):
    ran = gpu.launch(looked_up, 1, 32, "h100", gpu.constant(X), gpu.empty(32), step)
    expected = X[np.arange(32) * step % 64]
    np.testing.assert_array_equal(ran.results["out"], expected)
    assert ran.report.traffic.constant_passes == {"load": passes}
    assert ran.report.counters.warps["load_constant"] == 1


def store_constant(t, table, out):
    table[t.thread.x] = 1.0


def test_constants_are_only_read_and_few():
    with pytest.raises(KernelError, match="constant memory: only read"):
        gpu.launch(store_constant, 1, 32, "h100", gpu.constant(X), gpu.empty(32))
    with pytest.raises(ValueError, match="65,536 at most"):
        gpu.constant(np.zeros(16385, F32))
    half = gpu.constant(np.zeros(10000, F32))
    with pytest.raises(ValueError, match="80,000 B of constants"):
        gpu.launch(looked_up, 1, 32, "h100", half, half, 1)
    with pytest.raises(KernelError, match="outside its 64 elements"):
        gpu.launch(outside, 1, 32, "h100", gpu.constant(X), gpu.empty(32))


def outside(t, table, out):
    out[t.thread.x] = table[t.thread.x + 40]


def bump(t, x, n):
    if t.thread.x < n:
        x[t.thread.x] = x[t.thread.x] + 1


def fill(t, x, n):
    if t.thread.x < n:
        x[t.thread.x] = 2


def test_an_array_lives_on():
    x = gpu.to_device(np.zeros(32, np.int32))
    for _ in range(3):
        gpu.launch(bump, 1, 32, "h100", x, 20)
    assert x.numpy().tolist() == [3] * 20 + [0] * 12
    assert x.dtype == np.int32 and x.shape == (32,)


def test_what_nobody_wrote_stays_so():
    x = gpu.to_device(gpu.empty(32, np.int32))
    gpu.launch(fill, 1, 32, "h100", x, 10)
    with pytest.raises(ValueError, match=r"22 elements hold nothing yet.*\(10,\)"):
        x.numpy()
    with pytest.raises(KernelError, match=r"x\[10\] is read, and nobody"):
        gpu.launch(bump, 1, 32, "h100", x, 32)
    gpu.launch(fill, 1, 32, "h100", x, 32)
    gpu.launch(bump, 1, 32, "h100", x, 32)
    assert x.numpy().tolist() == [3] * 32


def both(t, x, y):
    x[t.thread.x] = y[t.thread.x]


def test_one_array_is_given_once():
    x = gpu.to_device(X)
    with pytest.raises(ValueError, match="x and y are one array"):
        gpu.launch(both, 1, 32, "h100", x, x)


def halved(t, x):
    x[t.thread.x] = t.to("bfloat16", t.to(np.float32, x[t.thread.x]) * 0.5)


@pytest.mark.rows("name", ["bfloat16", "float16", "float8_e4m3fn"])
def test_formats_of_the_device(name):
    x = gpu.to_device(-X[:32], name)
    gpu.launch(halved, 1, 32, "h100", x)
    assert x.numpy()[:16].tolist() == [-n / 2 for n in range(16)]


# -- a thread's own arrays -----------------------------------------------------


def in_registers(t, x, y):
    own = t.local(4, np.float32)
    for k in range(4):
        own[k] = x[4 * t.thread.x + k]
    y[t.thread.x] = own[3] + own[0] * own[1] - own[2]


def in_memory(t, x, y):
    own = t.local(4, np.float32)
    for k in range(4):
        own[k] = x[4 * t.thread.x + k]
    y[t.thread.x] = own[t.thread.x % 4]


def under_a_mask(t, x, y):
    own = t.local(2, np.int32)
    own[0] = t.thread.x
    if t.thread.x % 2:
        own[0] = own[0] + 100
        own[1] = 7
    y[t.thread.x] = own[0] + (own[1] if t.thread.x % 2 else 0)


def half_set(t, x, y):
    own = t.local(2, np.int32)
    if t.thread.x % 2:
        own[0] = 5
    y[t.thread.x] = own[0]


def beyond(t, x, y):
    own = t.local(2, np.int32)
    own[2] = 5


def test_plain_indices_need_no_memory():
    x = np.arange(128, dtype=F32)
    ran = gpu.launch(in_registers, 1, 32, "h100", x, gpu.empty(32))
    rows = x.reshape(32, 4)
    expected = rows[:, 3] + rows[:, 0] * rows[:, 1] - rows[:, 2]
    np.testing.assert_array_equal(ran.results["y"], expected)
    assert not ran.report.counters.warps["load_local"]
    assert ran.report.own == (("local array 1", "registers", 16),)
    assert "local array 1" in str(ran.report)


def test_an_index_that_differs_by_lane_does():
    x = np.arange(128, dtype=F32)
    ran = gpu.launch(in_memory, 1, 32, "h100", x, gpu.empty(32))
    lanes = np.arange(32)
    np.testing.assert_array_equal(ran.results["y"], x[4 * lanes + lanes % 4])
    assert ran.report.counters.warps["load_local"] == 1
    assert ran.report.counters.warps["store_local"] == 4
    assert ran.report.own == (("local array 1", "local memory", 16),)


def test_registers_under_a_mask():
    x = np.arange(128, dtype=F32)
    ran = gpu.launch(under_a_mask, 1, 32, "h100", x, gpu.empty(32, np.int32))
    lanes = np.arange(32)
    expected = np.where(lanes % 2, lanes + 107, lanes)
    np.testing.assert_array_equal(ran.results["y"], expected)


def test_own_arrays_gone_wrong():
    x = np.arange(128, dtype=F32)
    with pytest.raises(KernelError, match=r"local array 1\[0\] is read, and.*lane 0"):
        gpu.launch(half_set, 1, 32, "h100", x, gpu.empty(32, np.int32))
    with pytest.raises(KernelError, match=r"local array 1\[2\] is outside its 2"):
        gpu.launch(beyond, 1, 32, "h100", x, gpu.empty(32, np.int32))


def same(t, x, out):
    out[t.thread.x] = x[t.thread.x]


def test_arrays_of_another_byte_order_and_with_hidden_numbers():
    """The first were read as other numbers, the second as if nothing were hidden."""
    x = np.arange(8, dtype=np.float32)
    for given in (x.astype(">f4"), gpu.constant(x.astype(">f4"))):
        ran = gpu.launch(same, 1, 8, "h100", given, gpu.empty(8))
        assert (ran.results["out"] == x).all()
    hidden = np.ma.masked_array(x, x > 3)
    for ask in (
        gpu.constant,
        gpu.to_device,
        lambda given: gpu.launch(same, 1, 8, "h100", given, gpu.empty(8)),
    ):
        with pytest.raises(TypeError, match="masked entries"):
            ask(hidden)
