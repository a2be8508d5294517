"""`launch_tiles`: results, counts and what it refuses."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import cases
import corpus

from stacklib import gpu
from stacklib.gpu import KernelError
from stacklib.gpu import tiles as tl
from stacklib.gpu.tiles import launcher


def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, total, mask=inside)


def added(n=5000, out=None, grid=None, **words):
    x = np.arange(n, dtype=np.float32)
    grid = grid or (lambda meta: (tl.cdiv(n, meta["BLOCK"]),))
    out = gpu.empty(n) if out is None else out
    return gpu.launch_tiles(add, grid, x, 2 * x, out, n, BLOCK=1024, **words)


def test_a_sum_and_its_sectors():
    ran = added()
    assert (ran.results["out"] == 3 * np.arange(5000)).all()
    assert ran.report.traffic.sectors == {"load": 2 * 625, "store": 625}
    # 16 bytes a thread: a warp's request takes 512, sixteen sectors
    assert ran.report.sectors_per_request == 1875 / (3 * 40)


def test_outside_names_program_element_and_line():
    line = add.__code__.co_firstlineno + 4
    with pytest.raises(
        KernelError, match=rf"add, line {line}: tl.store: out\[4000\]"
    ) as e:
        added(out=gpu.empty(4000))
    assert "program 3, element [928]" in str(e.value)


@pytest.mark.parametrize("name", ["vector_add", "matmul_grouped", "flash_attention"])
def test_together_is_as_one_by_one(monkeypatch, name):
    case = next(c for c in cases.all_cases() if c.program == name)
    program = getattr(corpus, name)
    together = gpu.launch_tiles(program, case.grid, *case.args, **case.words)
    monkeypatch.setattr(launcher, "FIRST", 1)
    monkeypatch.setattr(launcher, "AT_ONCE", 0)
    alone = gpu.launch_tiles(program, case.grid, *case.args, **case.words)
    for name, values in together.results.items():
        assert (values == alone.results[name]).all()
    assert together.report.tensor == alone.report.tensor
    assert together.report.traffic.sectors == alone.report.traffic.sectors
    assert together.report.resources == alone.report.resources


def test_grids_and_arguments_by_name():
    def where(out, x, WIDE: tl.constexpr, num_warps: tl.constexpr):
        at = tl.program_id(0), tl.program_id(1), tl.program_id(2)
        place = at[0] + tl.num_programs(0) * (at[1] + tl.num_programs(1) * at[2])
        tl.store(out + place, place * WIDE + x + num_warps)

    out = gpu.empty(24, np.int64)
    for grid in ((2, 3, 4), lambda meta: (2, 3, meta["WIDE"])):
        ran = gpu.launch_tiles(where, grid, out, x=5, WIDE=4, num_warps=2)
        assert (ran.results["out"] == 4 * np.arange(24) + 7).all()


def test_arrays_lie_as_they_lay():
    def turned(x, out, down, across, N: tl.constexpr):
        rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
        values = tl.load(x + rows * down + columns * across)
        tl.store(out + rows * N + columns, values)

    x = np.arange(64, dtype=np.float32).reshape(8, 8).T
    strides = [n // 4 for n in x.strides]
    ran = gpu.launch_tiles(turned, 1, x, gpu.empty((8, 8)), *strides, N=8)
    assert (ran.results["out"] == x).all() and (ran.results["x"] == x).all()


def test_truth_values_and_numbers_of_other_forms():
    def flips(x, out, y, half, N: tl.constexpr):
        at = tl.arange(0, N)
        tl.store(out + at, not tl.load(x + at))
        tl.store(half + at, tl.load(x + at) and y > 2)

    x = np.array([True, False] * 4)
    args = (x, gpu.empty(8, bool), np.float32(2.5), gpu.empty(8, "bfloat16"))
    found = gpu.launch_tiles(flips, 1, *args, N=8).results
    assert found["out"].dtype == bool and (found["out"] == ~x).all()
    assert (found["half"] == x).all()


def test_a_report_reads_as_a_profilers():
    report = added().report
    text = str(report)
    assert "add on H100, grid (5, 1, 1) of programs of 4 warps" in text
    assert "registers a thread (estimate)" in text and "estimated time (µs)" in text
    assert dict(report.rows())["estimated time (µs)"] == 1e6 * report.time
    assert [row["sectors"] for row in report.lines()] == [1250, 625]


def test_a_constant_of_a_kernel_may_be_a_word():
    def named(x, out):
        N: tl.constexpr = 8
        HOW: tl.constexpr = "twice"
        ALONE: tl.constexpr = tl.load(x)  # of the program, whatever it is called
        at = tl.arange(0, N)
        if HOW == "twice":
            tl.store(out + at, 2 * at + tl.where(not at, ALONE, 0))

    given = np.full(1, 7, np.int32), gpu.empty(8, np.int32)
    found = gpu.launch_tiles(named, 1, *given).results["out"]
    assert found.tolist() == [7, 2, 4, 6, 8, 10, 12, 14]


def test_pointers_of_either_array():
    def either(x, y, out, N: tl.constexpr):
        pid = tl.program_id(0)
        at = tl.arange(0, N)
        chosen = tl.where(pid % 2 == 0, x, y)
        whole = (chosen + at).to(tl.int64).to(tl.pointer_type(tl.float32))
        tl.store(out + pid * N + at, tl.load(whole, mask=at < 6, other=0.0))

    x, y = np.ones(6, np.float32), np.full(6, 2, np.float32)
    out = gpu.launch_tiles(either, 4, x, y, gpu.empty(32), N=8).results["out"]
    assert out.reshape(4, 8).sum(axis=1).tolist() == [6, 12, 6, 12]


def scale(x, most):
    return min(x * 2, most)


def test_helpers_and_names_of_the_module():
    def helped(out, N: tl.constexpr):
        at = tl.arange(0, N)
        tl.store(out + at, scale(at, LIMIT))

    out = gpu.launch_tiles(helped, 1, gpu.empty(8, np.int32), N=8).results["out"]
    assert out.tolist() == [0, 2, 4, 6, 8, 9, 9, 9]


LIMIT = tl.constexpr(9)


def rows_of(x, y, out, row, column, N: tl.constexpr):
    at = tl.program_id(0) * row + tl.arange(0, N) * column
    tl.store(y + at, tl.load(x + at) + 1)
    tl.store(out + tl.program_id(0) * N + tl.arange(0, N), tl.load(x + at))


@pytest.mark.parametrize(
    "cut",
    [
        np.s_[:, :],
        np.s_[1:, 8:16],
        np.s_[::2, 3:19:2],
        np.s_[::-1, 15:7:-1],
        np.s_[:1, :1],
    ],
)
def test_views_lie_in_the_arrays_they_look_into(cut):
    whole = np.arange(5 * 32, dtype=np.float32).reshape(5, 32)
    view = np.broadcast_to(whole[cut], (1, 8)) if cut == np.s_[:1, :1] else whole[cut]
    row, column = (s // 4 for s in view.strides)
    args = (view, view, gpu.empty((len(view), view.shape[1])), row, column)
    if not column:
        with pytest.raises(KernelError, match="stored twice"):
            gpu.launch_tiles(rows_of, 1, *args, N=8)
        return
    ran = gpu.launch_tiles(rows_of, len(view), *args, N=view.shape[1])
    for name in ("x", "y", "out"):  # one memory under two names, as on a device
        assert (ran.results[name] == view + 1).all(), name
    assert (whole == np.arange(5 * 32).reshape(5, 32)).all()  # the reader's stay


def test_arrays_of_another_byte_order_and_with_hidden_numbers():
    x = np.arange(8, dtype=np.float32)
    swapped = gpu.launch_tiles(rows_of, 1, x.astype(">f4"), x, gpu.empty(8), 8, 1, N=8)
    assert (swapped.results["out"] == x).all()
    with pytest.raises(TypeError, match="masked entries"):
        hidden = np.ma.masked_array(x, x > 3)
        gpu.launch_tiles(rows_of, 1, hidden, x, gpu.empty(8), 8, 1, N=8)


def test_views_apart_have_ends_of_their_own():
    both = np.zeros(64, np.float32)
    args = (both[:32], both[32:], gpu.empty((2, 32)), 1, 1)
    with pytest.raises(KernelError, match=r"x\[32\] is outside its 32 elements"):
        gpu.launch_tiles(rows_of, 2, *args, N=32)


def test_a_view_that_begins_within_a_sector_takes_one_more():
    x, n = np.zeros(5001, np.float32), 5000
    sectors = [
        gpu.launch_tiles(
            add, 5, x[at : n + at], x.copy()[:n], gpu.empty(n), n, BLOCK=1024
        ).report.traffic.sectors["load"]
        for at in (0, 1)
    ]
    assert sectors[0] == 2 * 625
    assert sectors[1] > 2 * 625 + 100
