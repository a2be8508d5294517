"""The same work at several heights: every way computes the same; widths from times."""

import dataclasses
import math
import subprocess
import sys

import numpy as np
import pytest

from stacklib.hardware.this_machine import read_machine
from stacklib.roofline.host import _ways as ways
from stacklib.roofline.host import native, simd
from stacklib.roofline.host._ways import Way
from stacklib.roofline.host.native import NotRun
from stacklib.roofline.host.simd import Width

MACHINE = read_machine()
needs_c = pytest.mark.skipif(
    native.compiler() is None, reason="C in the host study: not run (no C compiler)"
)


def machine_with(*flags):
    return dataclasses.replace(MACHINE, simd=flags)


# -- what is there ---------------------------------------------------------------


def test_instruction_sets_follow_the_flags_narrowest_first():
    assert simd.isas(machine_with("avx512f", "fma", "sse2", "avx2")) == (
        "sse2",
        "avx2",
        "avx512f",
    )
    assert simd.isas(machine_with("asimd")) == ("neon",)
    assert simd.isas(machine_with()) == ()


def test_cases_are_those_the_processor_can_run():
    ids = [c.id for c in simd.cases(machine_with("sse2", "avx2"), 2**20)]
    assert len(ids) == len(set(ids))
    assert {"dot-avx2-8", "peak-avx2", "copy-avx2-past-cache"} <= set(ids)
    assert not any("512" in i or "neon" in i for i in ids) and "peak-sse2" not in ids
    bare = [c.id for c in simd.cases(machine_with(), 2**20)]
    assert "dot-scalar-8" in bare and "copy-libc" in bare


def test_compiler_follows_the_environment(monkeypatch, tmp_path):
    mine = tmp_path / "mycc"
    mine.write_text("#!/bin/sh\n")
    mine.chmod(0o755)
    monkeypatch.setenv("CC", f"{mine} -m64")
    assert native.compiler() == str(mine)
    monkeypatch.setenv("CC", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert native.compiler() is None


def test_without_a_compiler_c_is_not_run_and_says_why(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    native.compiled.cache_clear()
    try:
        found = simd.measure_case(Way("dot", "c-plain", 64, 128, 512), 1, 1e-5)
    finally:
        native.compiled.cache_clear()
    assert found.times_s == () and "no C compiler" in found.why
    (line,) = simd.not_run([found])
    assert line.startswith("not run: no C compiler") and "dot-c-plain" in line
    with pytest.raises(NotRun, match="dot-c-plain: not run: no C compiler"):
        _ = found.seconds


@needs_c
def test_what_the_compiler_refuses_is_told(tmp_path):
    bad = tmp_path / "bad.c"
    bad.write_text("int main(void) { return nothing; }\n")
    with pytest.raises(NotRun, match=r"refused: .*nothing"):
        native.compile_c(bad, tmp_path / "bad", ("-O1",))


@needs_c
def test_a_compiler_that_hangs_is_stopped(tmp_path, monkeypatch):
    slow = tmp_path / "slowcc"
    slow.write_text("#!/bin/sh\nexec sleep 20\n")
    slow.chmod(0o755)
    monkeypatch.setenv("CC", str(slow))
    monkeypatch.setattr(native, "COMPILE_S", 0.2)
    with pytest.raises(NotRun, match="more than"):
        native.compile_c(native.SOURCE, tmp_path / "x.so", ("-shared",))


def test_without_numba_its_rows_are_not_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    ways.compiled.cache_clear()
    found = simd.measure_case(Way("dot", "numba", 64, 128, 512), 1, 1e-5)
    assert "no numba" in found.why


# -- every way computes the same ---------------------------------------------------


def dots(n):
    return [dataclasses.replace(c, n=n) for c in simd.dot_cases(simd.isas(MACHINE))]


@needs_c
@pytest.mark.rows("n", [1, 15, 16, 17, 127, 128, 129, 1000])
def test_every_dot_product_is_the_same(n):
    x = ways.random(n).astype(float)
    for case in dots(n):
        value = float(simd.runner(case)(2))
        assert value == pytest.approx(float(x @ x), rel=1e-4), case.id


@needs_c
@pytest.mark.rows("n", [1, 5, 32])
def test_every_matrix_product_is_the_same(n):
    a = ways.random(n * n).reshape(n, n)
    for case in simd.matmul_cases():
        value = np.array(simd.runner(dataclasses.replace(case, n=n))(2))
        np.testing.assert_allclose(value, a @ a, rtol=1e-4, atol=1e-5, err_msg=case.id)


@needs_c
@pytest.mark.rows("n", [16, 100, 4099])
def test_every_copy_copies_all(n):
    source = ways.random(n)
    for isa in simd.isas(MACHINE):
        for name in (f"copy_{isa}", f"stream_{isa}"):
            to = ways.aligned(n)
            native.call_c(name, "plain", to, source)(1)
            np.testing.assert_array_equal(to, source)


def test_loading_c_leaves_subnormal_numbers_alone():
    """A library linked with -ffast-math switches them off: here in another process."""
    if native.compiler() is None:
        pytest.skip("no C compiler")
    code = """
from stacklib.roofline.host import native
for flags in native.FLAGS:
    native.compiled(flags)
    assert 5e-324 * 1.0 / 2**-10 > 0, flags
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@needs_c
def test_chains_of_multiply_adds_stay_near_one():
    for case in simd.peak_cases(simd.isas(MACHINE)):
        lanes = simd.LANES[case.how]
        total = float(simd.runner(case)(1))
        assert total == pytest.approx(simd.CHAINS * lanes, rel=1e-3)
        assert case.operations == 2 * simd.CHAINS * lanes * case.n


def test_operands_start_on_a_line():
    for n in (1, 64, 4096):
        assert ways.random(n).ctypes.data % 64 == 0 == ways.aligned(n).ctypes.data % 64


@needs_c
def test_quick_measure_gives_every_case_times_or_a_reason(monkeypatch):
    monkeypatch.setattr(simd, "MATMUL_N", 16)
    found = simd.measure_simd(quick=True, copy_bytes=2**16)
    assert all(bool(c.times_s) != bool(c.why) for c in found)
    assert all(1e-9 < t < 1 for c in found for t in c.times_s)
    rows = [{"id": c.id, **dataclasses.asdict(c)} for c in found if c.times_s]
    assert [simd.case_of(row) for row in rows] == [c for c in found if c.times_s]


def test_a_row_that_lacks_a_field_is_refused():
    with pytest.raises(ValueError, match="needs op, how"):
        simd.case_of({"op": "dot"})


# -- widths ------------------------------------------------------------------------


def planted(lanes):
    """A machine whose loops take 4 ticks a number, or a register."""
    cases = []
    for isa, width in [("scalar", 1), *lanes.items()]:
        for sums, time in ((1, 4.0), (8, 0.5)):
            times = (9 * time / width, time / width, 1.02 * time / width)
            cases.append(Way("dot", f"{isa}-{sums}", 8, 16, 64, times))
    return cases


@pytest.mark.rows("lanes", [{}, {"neon": 4}, {"sse2": 4, "avx2": 8, "avx512f": 16}])
def test_planted_widths_are_found(lanes):
    found = simd.widths(planted(lanes))
    assert {w.isa: w.found for w in found} == lanes
    assert all(w.one == pytest.approx(w.lanes) for w in found)


def test_a_set_that_pretends_is_seen_through():
    """Some processors run wide instructions as two narrow ones."""
    pretends = planted({"avx2": 8, "avx512f": 8})
    assert [w.found for w in simd.widths(pretends)] == [8, 8]
    assert simd.widths(pretends)[-1] == Width("avx512f", 16, *[pytest.approx(8)] * 2)


@pytest.mark.rows(("ratio", "power"), [(0.3, 1), (1, 1), (2.9, 4), (14, 16)])
def test_nearest_power_of_two(ratio, power):
    assert simd.nearest_power(ratio) == power


@pytest.mark.rows("bad", [0, -2.0, math.nan, math.inf])
def test_a_ratio_that_is_none_has_no_power(bad):
    with pytest.raises(ValueError, match="ratio"):
        simd.nearest_power(bad)


def test_cases_say_what_they_count_and_move():
    n = simd.DOT_N
    for case in simd.dot_cases(["avx2"]):
        assert (case.n, case.operations, case.bytes) == (n, 2 * n, 2 * 4 * n)
    for case in simd.matmul_cases():
        side = case.n
        assert (case.operations, case.bytes) == (2 * side**3, 3 * 4 * side**2)
    sums = [c.how for c in simd.dot_cases(["sse2", "avx2"])][-6:]
    assert sums == [f"{i}-{k}" for k in (1, 8) for i in ("scalar", "sse2", "avx2")]
    (peak,) = simd.peak_cases(["sse2", "avx2"])
    assert (peak.how, peak.operations) == ("avx2", 2 * 12 * 8 * n)
    # half is read and half written: a copy of 1 MiB moves 128 Ki numbers of fp32
    copies = simd.copy_cases(["sse2", "avx2"], 2**20)
    assert [c.how for c in copies] == ["libc", "avx2", "avx2-past-cache"]
    assert {(c.n, c.operations, c.bytes) for c in copies} == {(2**17, 0, 2**20)}
    assert [c.how for c in simd.copy_cases(["neon"], 64)] == ["libc", "neon"]
    assert [c.how for c in simd.copy_cases([], 64)] == ["libc"]
