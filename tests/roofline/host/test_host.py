"""The roofline of this machine: timing, streams, record, predictions."""

import dataclasses
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from stacklib.hardware.host_spec import BOOK_ROOFLINE
from stacklib.quantity import Quantity, recorded
from stacklib.quantity.files import held
from stacklib.quantity.told import MARK, told
from stacklib.roofline.host import _kernels as kernels_module
from stacklib.roofline.host import measure as host
from stacklib.roofline.host._kernels import (
    aligned,
    kernels,
    numpy_kernels,
    run_stream,
    slices,
    time_calls,
)
from stacklib.roofline.host.measure import Effort, HostRoofline, Point, call_time

TINY = Effort("quick", 8.0, 2**21, 2**31, (32, 64), 2, 0.0005, 2)


def _machine(largest_cache: int = 2**20, memory: int | None = 2**34):
    caches = (host_cache(largest_cache),)
    return dataclasses.replace(host.read_machine(), caches=caches, memory_bytes=memory)


def host_cache(size: int):
    from stacklib.hardware.this_machine import CacheLevel

    return CacheLevel(3, "unified", size, 2)


@pytest.fixture(scope="module")
def measured() -> HostRoofline:
    patch = pytest.MonkeyPatch()
    patch.setattr(host, "QUICK", TINY)
    small = _machine(2**18)
    patch.setattr(host, "read_machine", lambda: small)
    try:
        return host.measure_host(quick=True, progress=False)
    finally:
        patch.undo()


@pytest.fixture
def planned() -> HostRoofline:
    """100 GB/s in cache, 10 GB/s beyond; 200 and 100 GFLOP/s; 1 us a call."""
    points = (
        Point("read", "fp64", 2, 10**4, 1e4, (1e-7, 2e-7)),
        Point("read", "fp64", 2, 10**8, 1e8, (1e-2, 2e-2)),
        Point("read", "fp64", 1, 10**4, 1e4, (4e-7,)),
        Point("triad", "fp64", 2, 10**4, 1e4, (1e-7,)),
        Point("triad", "fp64", 2, 10**8, 1e8, (2e-2,)),
        Point("gemm", "fp32", 2, 1024, 2e9, (1e-2, 2e-2)),
        Point("gemm", "fp64", 2, 1024, 2e9, (2e-2,)),
        Point("gemv_call", "fp32", 2, 2, 8, (1e-6,)),
        Point("gemm_call", "fp32", 2, 2, 16, (1e-6,)),
    )
    return HostRoofline(
        device="planned",
        driver="BLAS",
        clocks="unknown",
        versions={"python": "3"},
        date="2026-11-21",
        mode="quick",
        kernel="none",
        blas={"threads": 2},
        others=None,
        machine={"cpu": "planned"},
        points=points,
    )


# -- timing ------------------------------------------------------------------


def test_a_clock_that_stands_still_is_an_error(monkeypatch):
    monkeypatch.setattr(kernels_module.time, "perf_counter", lambda: 1.0)
    with pytest.raises(RuntimeError, match="stood still"):
        time_calls(lambda n: None, samples=1)


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """A clock that only moves when a test moves it."""
    now = [0.0]
    monkeypatch.setattr(kernels_module.time, "perf_counter", lambda: now[0])
    return now


def test_times_are_per_call_and_samples_long_enough(clock):
    seen = []

    def run(n: int) -> None:
        seen.append(n)
        clock[0] += n * 1e-4

    times = time_calls(run, samples=3, sample_s=0.002)
    assert times == pytest.approx([1e-4] * 3)
    assert seen[0] == 1 and all(n * 1e-4 >= 0.002 for n in seen[-3:])


def test_first_call_is_not_timed(clock):
    first = [50.0]

    def run(n: int) -> None:
        clock[0] += first.pop() if first else n * 1e-4

    assert time_calls(run, samples=3) == pytest.approx([1e-4] * 3)


def test_a_call_that_ignores_its_count_is_an_error():
    with pytest.raises(RuntimeError, match="calls still take no"):
        time_calls(lambda n: None, samples=1)


# -- streams -----------------------------------------------------------------


@pytest.mark.rows("size", [1, 97, 1025, 8193])
@pytest.mark.rows("repeats", [1, 3])
def test_compiled_and_block_kernels_agree(size, repeats):
    rng = np.random.default_rng(size)
    b, c = rng.random(size), rng.random(size)
    results = []
    for k in (kernels(), numpy_kernels()):
        a = np.full(size, np.nan)
        k.triad(a, b, c, repeats)
        results.append((a, k.read(b, repeats)))
    (a0, r0), (a1, r1) = results
    np.testing.assert_allclose(a0, b + 3 * c, rtol=1e-14)
    np.testing.assert_allclose(a0, a1, rtol=1e-14)
    assert r0 == pytest.approx(r1, rel=1e-12)
    assert r0 == pytest.approx((b @ b) * (2 - 0.5 ** (repeats - 1)), rel=1e-12)


@pytest.mark.rows("threads", [1, 2, 3])
def test_every_thread_writes_its_whole_slice_and_nothing_else(threads):
    buffer = aligned(10_000)
    parts = slices(buffer, 3, threads, 300)
    for views in parts:
        views[0][:] = -1
    with ThreadPoolExecutor(threads) as pool:
        run_stream(numpy_kernels().triad, parts, pool)(2)
    assert all((views[0] == 4).all() for views in parts)
    assert (buffer == 4).sum() == sum(views[0].size for views in parts)
    assert (buffer == 1).sum() == buffer.size - (buffer == 4).sum()


def test_operands_start_on_cache_lines():
    for views in slices(aligned(10_000), 3, 2, 600):
        assert all(v.ctypes.data % 64 == 0 for v in views)


def test_working_sets_end_beyond_the_cache_and_within_memory():
    sizes = host.working_sets(TINY, _machine(2**22))
    assert sizes[-1] >= 4 * 2**22 * 0.99
    assert sizes == sorted(set(sizes))
    assert host.working_sets(TINY, _machine(2**30, 2**31))[-1] <= 2**29
    assert host.working_sets(TINY, _machine(2**30, None))[-1] <= 2**31


# -- measuring ---------------------------------------------------------------


def test_measured_ceilings_are_physically_possible(measured):
    cores = measured.machine["usable_cores"]
    for p in measured.points:
        if p.op in ("triad", "read"):
            assert 1e8 < p.rate < cores * 2e12, p.id
        if p.op == "gemm":
            assert 1e7 < p.rate < cores * 4e12, p.id
        if p.op.endswith("call"):
            assert 1e-8 < min(p.times_s) < 1e-3, p.id


def test_bytes_are_counted_as_stream_counts_them(measured):
    for p in measured.points:
        if p.op == "triad":
            assert p.work % 24 == 0 and p.work <= p.size
        if p.op == "read":
            assert p.work % 8 == 0 and p.work <= p.size


def test_every_pass_adds_its_samples_and_ids_are_unique(measured):
    ids = [p.id for p in measured.points]
    assert len(ids) == len(set(ids))
    streams = [p for p in measured.points if p.op in ("triad", "read", "gemm")]
    assert all(len(p.times_s) == TINY.passes * TINY.samples for p in streams)


def test_result_says_which_kernel_and_how_many_threads(measured):
    assert measured.kernel.startswith(("numba", "numpy"))
    assert measured.blas["threads"] >= 1 and measured.blas["from"]
    assert {"python", "numpy"} <= set(measured.versions)


def test_other_work_on_the_machine_is_told(monkeypatch):
    def watched(busy0, busy1):
        states = iter([(busy0, 1.0, 10.0), (busy1, 3.0, 14.0)])
        monkeypatch.setattr(host.Watch, "_now", lambda self: next(states))
        return host.Watch().others()

    assert watched(50.0, 58.0) == 1.5  # 8 s busy, 2 of them ours, in 4 s
    assert watched(50.0, 51.0) == 0.0
    assert watched(None, 58.0) is None


def test_a_process_that_we_waited_for_is_not_other_work():
    """Its seconds are ours, but for a tick of user and one of system time cut off."""
    spin = "import time\nwhile time.process_time() < 0.6: pass"
    watch = host.Watch()
    before = watch.began[1]
    subprocess.run([sys.executable, "-c", spin], check=True)
    ticks = 2 / os.sysconf("SC_CLK_TCK")
    assert watch._now()[1] - before >= 0.6 - ticks


def test_without_numba_the_numpy_kernels_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    kernels.cache_clear()
    try:
        assert kernels().name.startswith("numpy")
    finally:
        kernels.cache_clear()


def test_blas_threads_follow_the_environment(monkeypatch):
    for name in host.THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert "default" in host.blas_threads()["from"]
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert host.blas_threads() == {"threads": 3, "from": "OMP_NUM_THREADS"}


def test_the_bar_is_drawn_only_when_asked(capsys):
    assert list(host._bar([1, 2], False)) == [1, 2]
    assert capsys.readouterr().err == ""
    assert list(host._bar([1, 2], True)) == [1, 2]
    assert "2/2" in capsys.readouterr().err


# -- record ------------------------------------------------------------------


def test_json_round_trip_is_exact(measured, planned):
    for record in (measured, planned):
        text = record.to_json()
        assert HostRoofline.from_json(text) == record
        assert HostRoofline.from_json(text).to_json() == text


def _break(text: str, how: str) -> str:
    data = json.loads(text)
    row = data["rows"][0]
    changes = {
        "kind": lambda: data.update(kind="other"),
        "date": lambda: data.pop("date"),
        "op": lambda: row.update(op="scale"),
        "dtype": lambda: row.update(dtype="fp8"),
        "negative": lambda: row.update(times_s=[-1.0]),
        "zero": lambda: row.update(times_s=[0.0]),
        "empty": lambda: row.update(times_s=[]),
        "nan": lambda: row.update(work=float("nan")),
        "text": lambda: row.update(size="big"),
        "missing": lambda: row.pop("times_s"),
        "extra": lambda: row.update(color="red"),
        "row": lambda: data.update(rows=[3]),
    }
    changes[how]()
    return json.dumps(data)


@pytest.mark.parametrize(
    "how, message",
    [
        ("kind", "not a host roofline"),
        ("date", "lacks date"),
        ("op", "'scale'"),
        ("dtype", "'fp8'"),
        ("negative", "positive"),
        ("zero", "positive"),
        ("empty", "positive"),
        ("nan", "positive"),
        ("text", "positive"),
        ("missing", "bad point"),
        ("extra", "bad point"),
        ("row", "bad point 3"),
    ],
)
def test_a_corrupt_record_is_refused_with_its_fault(planned, how, message):
    with pytest.raises(ValueError, match=message):
        HostRoofline.from_json(_break(planned.to_json(), how))


def test_text_that_is_not_json_is_refused():
    with pytest.raises(ValueError, match="not JSON"):
        HostRoofline.from_json("{")


def test_table_for_people_shows_peaks_and_every_working_set(planned):
    text = planned.text()
    assert "200 GFLOP/s" in text and "10 kB" in text and "100 MB" in text


# -- ceilings and predictions ------------------------------------------------


def test_ceilings_are_the_best_samples(planned):
    assert planned.peak("fp32").text() == "200 GFLOP/s"
    assert planned.memory_bandwidth().text() == "5 GB/s"
    assert planned.bandwidth_at(10**4, threads=1).text() == "25 GB/s"
    assert told(planned.peak("fp32")) == "measured"
    assert planned.peak("fp32").inputs[1].source.where == "gemm-fp32-t2-1024"


def test_every_leaf_is_what_its_key_names_in_the_file_it_was_read_from(
    planned, tmp_path
):
    saved = tmp_path / "host_roofline.json"
    saved.write_text(planned.to_json())
    for path in (held(BOOK_ROOFLINE) / BOOK_ROOFLINE, saved):
        host = HostRoofline.load(path)
        made = [host.peak("fp32"), host.memory_bandwidth(), host.bandwidth_at(10**4)]
        leaves = [leaf for q in made for leaf in q.leaves()]
        for leaf in leaves:
            file, row, field = leaf.key.split(MARK)
            assert (Path(file) == saved) == (path == saved)
            assert recorded(file, row, field, unit=leaf.unit).si == leaf.si


def test_bandwidth_is_that_of_the_nearest_point_in_ratio(planned):
    below, above = 0.99e6, 1.01e6  # the geometric mean of 1e4 and 1e8 is 1e6
    assert planned.bandwidth_at(below).si == 1e11
    assert planned.bandwidth_at(above).si == 1e10


def test_bandwidth_of_floats_quantities_and_arrays_agrees(planned):
    sizes = np.array([1.0, 2e4, 5e5, 2e6, 3e9])
    swept = planned.bandwidth_at(sizes)
    for size, rate in zip(sizes, swept, strict=True):
        assert planned.bandwidth_at(size).si == rate
        assert planned.bandwidth_at(Quantity(size, "B")).si == rate


@pytest.mark.parametrize("bad", [0, -1, float("nan"), "big", np.array([1.0, -1.0])])
def test_an_impossible_working_set_is_refused(planned, bad):
    with pytest.raises(ValueError, match="working set"):
        planned.bandwidth_at(bad)


def test_call_time_of_floats_quantities_and_arrays_agrees():
    units = ("FLOP", "B", "FLOP/s", "B/s", "s")
    operations = np.array([1e6, 1e9, 1e12])
    rest = (1e7, 1e11, 1e10, 1e-6)
    swept = call_time(operations, *rest)
    for work, seconds in zip(operations, swept, strict=True):
        plain = call_time(work, *rest)
        traced = call_time(*map(Quantity, (work, *rest), units))
        assert plain == pytest.approx(seconds, rel=1e-15)
        assert traced.si == pytest.approx(seconds, rel=1e-15)
        assert len(list(traced.leaves())) == 5


def test_a_prediction_is_the_longer_time_and_the_call(planned):
    p = host.predict_gemv(8192, 8192, "fp32", planned)
    size = 4 * (8192**2 + 2 * 8192)
    assert p.bound == "memory"
    assert p.time.si == pytest.approx(size / 1e10 + 1e-6)
    p = host.predict_gemm(4096, 4096, 4096, "fp64", planned)
    assert p.bound == "compute"
    assert p.time.si == pytest.approx(2 * 4096**3 / 1e11 + 1e-6)
    assert host.predict_gemv(2, 2, "fp32", planned).bound == "overhead"


def test_predicted_leaves_are_measured_or_given(planned):
    kinds = {q.kind for q in host.predict_gemv(64, 64, "fp32", planned).time.leaves()}
    assert "measured" in kinds and "computed" not in kinds


def test_predicted_time_per_row_falls_with_the_batch_until_the_ridge(planned):
    times = [
        host.predict_gemm(m, 8192, 8192, "fp32", planned).time.si
        for m in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
    ]
    assert times == sorted(times)
    assert times[1] < 1.01 * times[0]  # memory-bound: the second row is free
    assert times[-1] == pytest.approx(2 * times[-2], rel=0.01)  # compute-bound


@pytest.mark.parametrize(
    "bad",
    [
        lambda h: host.predict_gemv(0, 5, "fp32", h),
        lambda h: host.predict_gemv(5, -1, "fp32", h),
        lambda h: host.predict_gemm(1.5, 5, 5, "fp32", h),
        lambda h: host.predict_gemm(5, 5, float("nan"), "fp32", h),
        lambda h: host.predict_gemv(5, 5, "bf16", h),
        lambda h: host.run_gemv(5, 5, "bf16"),
    ],
)
def test_bad_shapes_and_formats_never_give_a_number(planned, bad):
    with pytest.raises(ValueError):
        bad(planned)


@pytest.mark.parametrize("dtype", ["fp32", "fp64"])
def test_products_really_run(dtype):
    brief = {"samples": 3, "sample_s": 2e-4}
    gemv = host.run_gemv(97, 33, dtype, **brief)
    gemm = host.run_gemm(5, 97, 33, dtype, **brief)
    for times in (gemv, gemm):
        assert len(times) == 3 and all(1e-8 < t < 1 for t in times)


def test_it_is_quick_unless_asked(monkeypatch):
    def begun(effort, *_):
        raise InterruptedError(effort)

    monkeypatch.setattr(host, "_stream_jobs", begun)
    with pytest.raises(InterruptedError) as said:
        host.measure_host()
    assert said.value.args == (host.QUICK,)


@pytest.mark.slow
def test_quick_mode_takes_seconds():
    watch, start = host.Watch(), time.perf_counter()
    host.measure_host(quick=True, progress=False)
    took = time.perf_counter() - start
    if took >= 6 and (watch.others() or 0) > 0.2:
        pytest.skip("quick mode under 6 s: not run (other work keeps cores busy)")
    assert took < 6
