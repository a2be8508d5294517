"""Prediction and result files: whole, dated, and never over another day's."""

import hashlib
import json
import subprocess
from pathlib import Path

import pytest
import record


def _git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True
    )


def test_a_written_record_reads_back_one_row_a_line(tmp_path):
    data = {"kind": "x", "nested": {"a": [1, 2]}, "rows": [{"id": "r1"}, {"id": "r2"}]}
    record.write(tmp_path / "new" / "r.json", data)
    text = (tmp_path / "new" / "r.json").read_text()
    assert json.loads(text) == data
    assert sum('"id"' in line for line in text.splitlines()) == 2
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["r.json"]


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "r.json"
    record.write(path, {"kind": "x", "rows": [{"id": "old"}]})
    with pytest.raises(ValueError):
        record.write(path, {"kind": "x", "rows": [{"x": float("nan")}]})
    assert json.loads(path.read_text())["rows"][0]["id"] == "old"


def test_another_days_result_is_never_overwritten(tmp_path):
    assert record.result_path(tmp_path, "gpu_x", "2026-01-02").name == "gpu_x.json"
    record.write(tmp_path / "gpu_x.json", {"date": "2026-01-01", "rows": []})
    later = record.result_path(tmp_path, "gpu_x", "2026-01-02")
    assert later.name == "gpu_x_2026-01-02.json"
    assert record.result_path(tmp_path, "gpu_x", "2026-01-01").name == "gpu_x.json"
    (tmp_path / "gpu_x.json").write_text("cut off {")
    assert (
        record.result_path(tmp_path, "gpu_x", "2026-01-01") != tmp_path / "gpu_x.json"
    )


@pytest.mark.rows(
    "name, slug",
    [
        ("NVIDIA H200", "nvidia-h200"),
        ("NVIDIA H100 80GB HBM3", "nvidia-h100-80gb-hbm3"),
        ("a/../b", "a-b"),
        ("", "unnamed"),
    ],
)
def test_device_names_become_safe_file_names(name, slug):
    assert record.slug(name) == slug


def test_stamp_is_the_hash_of_the_file(tmp_path):
    (tmp_path / "p.json").write_bytes(b"abc")
    assert record.stamp(tmp_path / "p.json")["sha256"] == (
        hashlib.sha256(b"abc").hexdigest()
    )
    assert record.stamp(tmp_path / "absent.json") is None


def test_committed_means_exactly_what_head_holds(tmp_path):
    path = tmp_path / "p.json"
    path.write_text("1")
    assert record.committed(path) is None  # no repository
    _git(tmp_path, "init", "-q")
    assert record.committed(path) is None  # no commit
    _git(tmp_path, "commit", "-q", "--allow-empty", "-m", "empty")
    assert record.committed(path) is False
    _git(tmp_path, "add", "p.json")
    assert record.committed(path) is False  # staged is not committed
    _git(tmp_path, "commit", "-q", "-m", "prediction")
    assert record.committed(path) is True
    path.write_text("2")
    assert record.committed(path) is False


def test_a_tested_prediction_cannot_be_changed(tmp_path):
    path = tmp_path / "predictions" / "p.json"
    told, other = {"kind": "x", "rows": [{"t": 1}]}, {"kind": "x", "rows": [{"t": 2}]}
    record.write_prediction(path, other)
    record.write_prediction(path, told)  # nothing was measured against it yet
    result = {"kind": "x", "prediction": record.stamp(path), "rows": [{"t": 3}]}
    record.write(tmp_path / "results" / "r.json", result)
    record.write_prediction(path, told)  # the same bytes are no change
    with pytest.raises(SystemExit, match=r"r\.json was measured against p\.json"):
        record.write_prediction(path, other)


def test_every_result_is_as_its_benchmark_wrote_it():
    assert record.edited() == []


def test_a_result_that_is_edited_added_or_removed_is_named(tmp_path):
    (tmp_path / record.SUMS).touch()
    for name in "abc":
        record.write(tmp_path / f"{name}.json", {"rows": [{"times_s": [0.001234]}]})
    assert record.edited(tmp_path) == []
    text = (tmp_path / "a.json").read_text()
    (tmp_path / "a.json").write_text(text.replace("1234", "1244"))  # its third digit
    (tmp_path / "b.json").rename(tmp_path / "d.json")
    named = [fault.split()[0] for fault in record.edited(tmp_path)]
    assert named == [f"benchmarks/results/{name}.json" for name in "abd"]
    record.write(tmp_path / "a.json", {"rows": [{"times_s": [0.001244]}]})
    assert not any("/a.json" in fault for fault in record.edited(tmp_path))
