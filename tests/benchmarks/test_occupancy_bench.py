"""Occupancy against CUDA's calculator: stored answers, planted faults, the bar."""

import importlib.util
import json
import shutil
from dataclasses import replace

import pytest
import record

from stacklib.gpu.issue.occupancy import LIMITS


def _load():
    path = record.HERE / "occupancy.py"
    spec = importlib.util.spec_from_file_location("bench_occupancy", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bench = _load()
VECTORS = json.loads(bench.VECTORS.read_text("utf-8"))
ROWS = json.loads((record.RESULTS / "occupancy.json").read_text("utf-8"))["rows"]


def _off(capability: str) -> int:
    """Stored cases of a capability that differ from ours."""
    return sum(
        bench.differ(bench.ours(capability, tuple(case)), tuple(answer))
        for *case, blocks, bits in VECTORS[capability]
        for answer in [(blocks, bits)]
    )


@pytest.mark.rows("capability", VECTORS)
def test_equal_to_the_calculators_stored_answers(capability):
    assert _off(capability) == 0


def test_the_stored_answers_meet_every_limiter():
    for capability, cases in VECTORS.items():
        seen = {
            name
            for *_, blocks, bits in cases
            for name, bit in bench.BITS.items()
            if bits == bit and blocks
        }
        assert seen >= {"warps", "registers", "shared memory"}, capability
        assert any(not blocks for *_, blocks, _ in cases)
    assert sum(map(len, VECTORS.values())) > 200


def test_a_forgotten_reserve_is_seen(monkeypatch):
    for capability in ("8.0", "8.9", "9.0", "12.0"):
        monkeypatch.setitem(LIMITS, capability, replace(LIMITS[capability], reserve=0))
        assert _off(capability) > 0


def test_one_register_file_is_seen(monkeypatch):
    module = importlib.import_module("stacklib.gpu.issue.occupancy")
    monkeypatch.setattr(module, "partitions_of", lambda _: 1)
    assert sum(map(_off, VECTORS)) > 0


def test_a_wrong_limit_of_a_unit_is_seen(monkeypatch):
    """As many warps as 8.0 has."""
    has = LIMITS["8.6"]
    monkeypatch.setitem(LIMITS, "8.6", replace(has, warps=has.warps + 16))
    assert _off("8.6") > 0


def test_every_case_of_the_result_agrees():
    assert [row["id"] for row in ROWS] == list(bench.DEVICES)
    assert all(row["disagreements"] == 0 for row in ROWS)
    assert sum(row["cases"] for row in ROWS) >= 56_160
    for row in ROWS:
        assert sum(row["by_limiter"].values()) == row["cases"]


def test_a_missing_header_is_named(tmp_path):
    with pytest.raises(SystemExit, match="--include"):
        bench.find_header(str(tmp_path))


def test_the_calculator_itself_where_it_is_installed(tmp_path):
    try:
        include = bench.find_header(None)
    except SystemExit:
        pytest.skip("no CUDA toolkit")
    if not shutil.which("g++"):
        pytest.skip("no compiler")
    program = bench.compile_driver(include, tmp_path)
    for capability in ("8.6", "9.0"):
        wanted = bench.cases(capability)[::9]
        row = bench.compare(capability, wanted, bench.ask(program, capability, wanted))
        assert row["disagreements"] == 0, row["first"]
