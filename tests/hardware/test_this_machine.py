"""The machine read from its own files; unknown stays unknown."""

import json
import os
from pathlib import Path

import pytest

from stacklib import hardware
from stacklib.hardware import this_machine
from stacklib.hardware.host_spec import (
    BOOK,
    book_machine,
    host_spec,
    roofline_file,
    store_machine,
)
from stacklib.hardware.load import from_dict
from stacklib.hardware.this_machine import CacheLevel, read_machine
from stacklib.roofline import HostRoofline

CPUINFO = """\
processor\t: {i}
model name\t: Planted CPU 9000
physical id\t: 0
core id\t\t: {core}
cpu MHz\t\t: 2500.000
flags\t\t: fpu sse2 avx avx2 fma avx512f syscall
"""
CACHES = [
    (1, "Data", "48K", "0,2"),
    (1, "Instruction", "32K", "0,2"),
    (2, "Unified", "1M", "0,2"),
    (3, "Unified", "32768K", "0-3"),
]


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """Four logical CPUs on two cores, three cache levels, 16 GiB."""
    blocks = "\n".join(CPUINFO.format(i=i, core=i // 2) for i in range(4))
    _write(tmp_path / "proc/cpuinfo", blocks)
    _write(tmp_path / "proc/meminfo", "MemFree: 1 kB\nMemTotal:  16777216 kB\n")
    names = ("level", "type", "size", "shared_cpu_list")
    for i, facts in enumerate(CACHES):
        for name, fact in zip(names, facts, strict=True):
            folder = tmp_path / f"sys/devices/system/cpu/cpu0/cache/index{i}"
            _write(folder / name, f"{fact}\n")
    return tmp_path


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_every_fact_of_a_planted_machine_is_found(planted):
    m = read_machine(planted)
    assert (m.cpu, m.logical_cores, m.physical_cores) == ("Planted CPU 9000", 4, 2)
    assert m.memory_bytes == 16 * 2**30
    assert m.simd == ("sse2", "avx", "avx2", "fma", "avx512f")
    assert m.clock_hz == 2.5e9 and "boost" in m.read_from["clock_hz"]
    assert m.caches == (
        CacheLevel(1, "data", 48 * 1024, 2),
        CacheLevel(2, "unified", 2**20, 2),
        CacheLevel(3, "unified", 32 * 2**20, 4),
    )


def test_rated_clock_is_preferred_to_the_one_shown(planted):
    _write(
        planted / "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "4100000\n"
    )
    m = read_machine(planted)
    assert m.clock_hz == 4.1e9 and "rated" in m.read_from["clock_hz"]


def test_an_empty_system_is_unknown_not_an_error(tmp_path):
    m = read_machine(tmp_path)
    facts = m.as_dict()
    for name in ("cpu", "physical_cores", "memory_bytes", "clock_hz"):
        assert facts[name] == "unknown"
    assert m.caches == () and m.simd == ()
    assert "cpu" not in m.read_from
    assert "unknown" in m.text()


@pytest.mark.parametrize("size", ["", "lots", "-3K", "48X"])
def test_a_cache_of_unreadable_size_is_left_out(planted, size):
    _write(planted / "sys/devices/system/cpu/cpu0/cache/index0/size", size)
    assert [c.level for c in read_machine(planted).caches] == [2, 3]


def test_macos_values_are_read_and_zero_means_unknown():
    values = {
        "machdep.cpu.brand_string": "Apple M9",
        "hw.logicalcpu": "8",
        "hw.physicalcpu": "8",
        "hw.memsize": "17179869184",
        "hw.perflevel0.l1dcachesize": "131072",
        "hw.l3cachesize": "0",
        "hw.optional.neon": "1",
        "hw.optional.sve": "0",
    }
    m = this_machine._from_sysctl(values)
    assert (m.cpu, m.memory_bytes, m.simd) == ("Apple M9", 2**34, ("neon",))
    assert [c.level for c in m.caches] == [1]
    assert m.clock_hz is None


def test_facts_are_json_and_say_where_they_were_read(planted):
    m = read_machine(planted)
    facts = m.as_dict()
    assert json.loads(json.dumps(facts)) == facts
    known = {k for k, v in facts.items() if v != "unknown"} - {"system", "read_from"}
    assert known == set(m.read_from)


def test_the_machine_we_run_on_is_possible():
    m = read_machine()
    assert m.usable_cores >= 1
    assert m.memory_bytes is None or 2**27 < m.memory_bytes < 2**50
    assert (
        m.physical_cores is None
        or m.logical_cores is None
        or (m.physical_cores <= m.logical_cores)
    )


def test_busy_seconds_leave_out_idle_and_waiting(planted):
    assert this_machine.busy_seconds(planted) is None
    _write(planted / "proc/stat", "cpu  100 20 30 99999 88888 40 10 7 0 0\ncpu0 1\n")
    ticks = os.sysconf("SC_CLK_TCK")
    assert this_machine.busy_seconds(planted) == 200 / ticks


# -- a measured roofline as a device -----------------------------------------


def _row(op: str, dtype: str, threads: int, size: int, work: float, best: float):
    return {
        "op": op,
        "dtype": dtype,
        "threads": threads,
        "size": size,
        "work": work,
        "times_s": [best * 2, best],
    }


@pytest.fixture
def result(planted) -> dict:
    rows = [
        _row("triad", "fp64", 1, 2**30, 1e9, 0.02),
        _row("triad", "fp64", 4, 2**20, 1e6, 1e-6),
        _row("triad", "fp64", 4, 2**30, 1e9, 0.01),
        _row("gemm", "fp32", 4, 512, 2e8, 1e-3),
        _row("gemm", "fp32", 4, 1024, 2e9, 5e-3),
        _row("gemm", "fp64", 4, 1024, 2e9, 1e-2),
    ]
    machine = read_machine(planted).as_dict()
    return {"machine": machine, "date": "2026-11-21", "rows": rows}


def test_host_spec_is_a_device_of_the_database(result):
    device = from_dict(host_spec(result), "planted")
    assert device.memory_bandwidth.to("GB/s").value == pytest.approx(100)
    assert device.peak("fp32").to("GFLOP/s").value == pytest.approx(400)
    assert device.peak("fp64").to("GFLOP/s").value == pytest.approx(200)
    assert device.memory_capacity.si == 16 * 2**30
    assert device.memory_bandwidth.kind == "measured"
    assert device.memory_bandwidth.source.where == "triad on all cores"


def test_what_the_system_does_not_say_stays_unknown(result, tmp_path):
    bare = read_machine(tmp_path / "nothing").as_dict()
    device = from_dict(host_spec({**result, "machine": bare}), "planted")
    with pytest.raises(hardware.UnknownSpec):
        _ = device.memory_capacity


def test_a_result_without_triad_is_refused(result):
    result["rows"] = result["rows"][3:]
    with pytest.raises(ValueError, match="no triad point"):
        host_spec(result)


def test_a_stored_machine_replaces_the_books_unless_the_book_is_built(
    result, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("STACKLIB_THIS_MACHINE", raising=False)
    path = store_machine(json.dumps(result))
    assert path.is_relative_to(tmp_path)
    assert book_machine()["name"] == "This machine (Planted CPU 9000)"
    assert json.loads(roofline_file().read_text()) == result
    roofline_file().unlink()  # as a measurement of an earlier version left it
    with pytest.raises(ValueError, match=r"host_roofline\.json is missing: .* measure"):
        HostRoofline.of_this_machine()
    monkeypatch.setenv("STACKLIB_THIS_MACHINE", "book")
    assert book_machine()["name"] != "This machine (Planted CPU 9000)"
    assert HostRoofline.of_this_machine().machine["cpu"] in book_machine()["name"]


def test_a_damaged_stored_machine_names_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("STACKLIB_THIS_MACHINE", raising=False)
    _write(tmp_path / "stacklib/this_machine.json", "{")
    with pytest.raises(ValueError, match=r"this_machine\.json.*stacklib measure"):
        book_machine()


def test_before_any_measurement_everything_is_unknown(tmp_path, monkeypatch):
    monkeypatch.setenv("STACKLIB_THIS_MACHINE", "book")
    monkeypatch.setattr("stacklib.hardware.host_spec.BOOK", tmp_path / "none.json")
    device = from_dict(book_machine(), "this_machine")
    assert device.formats == ()
    with pytest.raises(hardware.UnknownSpec):
        _ = device.memory_bandwidth


def test_the_packaged_machine_is_the_committed_roofline():
    root = Path(__file__).resolve().parents[2]
    measured = (root / "benchmarks/results/host_roofline.json").read_text("utf-8")
    assert json.loads(BOOK.read_text("utf-8")) == host_spec(json.loads(measured))
