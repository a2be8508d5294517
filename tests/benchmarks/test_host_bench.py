"""The host benchmark predicts from its roofline and measures only after a commit."""

import json
from pathlib import Path

import host_common
import record

import host as bench  # isort: skip

FOLDER = Path(record.__file__).parent


def _keep_two(folder: Path) -> Path:
    """Only the two smallest products, so that measuring takes a moment."""
    path = folder / "predictions" / "host_gemv_gemm.json"
    data = json.loads(path.read_text())
    data["rows"] = sorted(data["rows"], key=lambda r: r["operations"])[:2]
    record.write(path, data)
    return path


def test_case_ids_are_unique_and_say_the_shape():
    cases = list(bench.cases())
    assert len({c["id"] for c in cases}) == len(cases)
    assert all(str(c["m"]) in c["id"] and c["dtype"] in c["id"] for c in cases)


def test_cases_reach_from_first_level_cache_to_memory():
    sizes = [c["m"] * c["n"] * 4 for c in bench.cases() if c["op"] == "gemv"]
    assert min(sizes) < 48 * 1024 and 2**29 < max(sizes) <= 2**30


def test_same_roofline_gives_the_same_bytes(folder):
    path = folder / "predictions" / "host_gemv_gemm.json"
    bench.predict(folder)
    first = path.read_bytes()
    bench.predict(folder)
    assert path.read_bytes() == first
    data = json.loads(first)
    assert data["roofline"]["sha256"] == record.sha256(
        folder / "results" / "host_roofline.json"
    )
    assert all(r["predicted_s"] > 0 for r in data["rows"])


def test_measuring_is_refused_until_the_prediction_is_committed(commit, folder, capsys):
    assert bench.measure(folder) == 2  # nothing predicted
    bench.predict(folder)
    path = _keep_two(folder)
    assert bench.measure(folder) == 2  # no repository
    commit(folder)
    path.write_text(path.read_text().replace("predicted_s", "predicted_s ", 1))
    assert bench.measure(folder) == 2  # changed after the commit
    assert "commit the file" in capsys.readouterr().err
    assert not (folder / "results" / "host_gemv_gemm.json").exists()


def test_measured_rows_join_their_predictions(commit, folder):
    bench.predict(folder)
    path = _keep_two(folder)
    commit(folder)
    assert bench.measure(folder) == 0
    result = json.loads((folder / "results" / "host_gemv_gemm.json").read_text())
    assert result["prediction"]["sha256"] == record.sha256(path)
    told = {r["id"] for r in json.loads(path.read_text())["rows"]}
    assert {r["id"] for r in result["rows"]} == told
    for row in result["rows"]:
        assert len(row["times_s"]) == bench.ROUNDS * bench.SAMPLES
        assert all(0 < t < 1 for t in row["times_s"])
    needed = {"kind", "device", "driver", "clocks", "versions", "date"}
    assert needed <= set(result)


def test_predicted_operations_and_bytes_are_those_of_the_work(folder):
    bench.predict(folder)
    rows = json.loads((folder / "predictions/host_gemv_gemm.json").read_text())["rows"]
    for row in rows:
        m, n, k = row["m"], row["n"], row["k"]
        size = {"fp32": 4, "fp64": 8}[row["dtype"]]
        assert row["operations"] == 2 * m * n * k
        vectors = m + n if row["op"] == "gemv" else m * k + m * n
        matrix = m * n if row["op"] == "gemv" else n * k
        assert row["bytes"] == size * (matrix + vectors)


def test_a_phase_runs_in_the_folder_that_is_named(folder):
    place = ["predict", "--folder", str(folder)]
    assert host_common.command("Doc.", bench.predict, arguments=place) == 0
    assert (folder / "predictions" / "host_gemv_gemm.json").exists()


def test_a_disturbed_run_says_so(capsys):
    host_common.warn(None)
    host_common.warn(0.0)
    assert capsys.readouterr().err == ""
    host_common.warn(1.33)
    assert "1.3 cores busy" in capsys.readouterr().err
