"""The latency sweep is predicted from committed files and run only after a commit."""

import json
from pathlib import Path

import pytest
import record

import latency_sweep  # isort: skip

from stacklib.evidence import runs

FOLDER = Path(record.__file__).parent
NAME = "latency_sweep.json"
REPORTED = [
    {"level": 1, "bytes": 49152, "ways": 12},
    {"level": 2, "bytes": 2**20, "ways": 16},
    {"level": 3, "bytes": 2**25, "ways": 16},
]


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr(latency_sweep, "caches", lambda: REPORTED)
    return latency_sweep


def test_the_same_inputs_give_the_committed_bytes(bench, folder):
    """While the latencies it names are the ones that are there."""
    bench.predict(folder)
    again = json.loads((folder / "predictions" / NAME).read_text())
    kept = json.loads((FOLDER / "predictions" / NAME).read_text())
    if again["latency"]["sha256"] != kept["latency"]["sha256"]:
        pytest.skip("the latencies were measured anew since")
    assert again["rows"] == kept["rows"] and kept["caches"] == REPORTED


def test_the_curve_climbs_from_the_first_cache_to_the_memory(bench, folder):
    bench.predict(folder)
    rows = json.loads((folder / "predictions" / NAME).read_text())["rows"]
    times = [r["predicted_s"] for r in rows]
    assert times == sorted(times) and len({r["id"] for r in rows}) == len(rows)
    assert rows[0]["size"] == bench.SMALLEST and rows[-1]["size"] == bench.LARGEST


def test_caches_are_read_where_the_system_keeps_them(tmp_path):
    for i, (level, kind, size, ways) in enumerate(
        [
            ("1", "Data", "48K", "12"),
            ("1", "Instruction", "32K", "8"),
            ("2", "Unified", "1024K", "16"),
        ]
    ):
        index = tmp_path / f"index{i}"
        index.mkdir()
        for name, text in (
            ("level", level),
            ("type", kind),
            ("size", size),
            ("ways_of_associativity", ways),
        ):
            (index / name).write_text(text + "\n")
    assert latency_sweep.caches(tmp_path) == REPORTED[:2]


def test_measuring_waits_for_the_commit(commit, bench, folder, monkeypatch, capsys):
    monkeypatch.setattr(bench, "LARGEST", 2**14)
    monkeypatch.setattr(bench, "ROUNDS", 1)
    monkeypatch.setattr(bench, "SAMPLE_S", 1e-4)
    assert bench.measure(folder) == 2  # nothing predicted
    bench.predict(folder)
    assert bench.measure(folder) == 2  # no repository
    commit(folder)
    assert bench.measure(folder) == 0
    result = json.loads((folder / "results" / NAME).read_text())
    assert [r["size"] for r in result["rows"]] == bench.sizes()
    assert "commit the file" in capsys.readouterr().err


def test_our_own_result_belongs_to_its_prediction():
    assert all(run.measured.si > 0 for run in runs.load("latency_sweep"))
