"""Level and width benchmarks predict from what is stored, measure after a commit."""

import dataclasses
import importlib
import json
from pathlib import Path

import pytest
import record

from stacklib.roofline.host import simd, streams

FOLDER = Path(record.__file__).parent


@pytest.fixture(params=["host_levels", "host_simd"])
def bench(request):
    return importlib.import_module(request.param)


def test_the_same_roofline_gives_the_same_bytes(bench, folder):
    bench.predict(folder)
    path = folder / "predictions" / f"{bench.STEM}.json"
    first = path.read_bytes()
    bench.predict(folder)
    assert path.read_bytes() == first
    data = json.loads(first)
    stored = folder / "results" / "host_roofline.json"
    assert data["roofline"]["sha256"] == record.sha256(stored)
    ids = [row["id"] for row in data["rows"]]
    assert len(ids) == len(set(ids))
    assert all(r["predicted_s"] is None or r["predicted_s"] > 0 for r in data["rows"])


def test_measuring_is_refused_until_the_prediction_is_committed(bench, folder, capsys):
    assert bench.measure(folder) == 2  # nothing predicted
    bench.predict(folder)
    assert bench.measure(folder) == 2  # no repository
    assert "commit the file" in capsys.readouterr().err
    assert not (folder / "results" / f"{bench.STEM}.json").exists()


def test_measured_rows_join_their_predictions(commit, bench, folder, monkeypatch):
    monkeypatch.setattr(streams, "beyond_cache", lambda *_: 2**15)
    monkeypatch.setattr(simd, "MATMUL_N", 8)
    if bench.STEM == "host_simd":
        monkeypatch.setattr(bench, "COPY_BYTES", 2**16)
    bench.predict(folder)
    commit(folder)
    assert bench.measure(folder, quick=True) == 0
    told = json.loads((folder / "predictions" / f"{bench.STEM}.json").read_text())
    result = json.loads((folder / "results" / f"{bench.STEM}.json").read_text())
    predicted = {r["id"]: r for r in told["rows"]}
    assert result["rows"] and {r["id"] for r in result["rows"]} <= set(predicted)
    for row in result["rows"]:
        assert row["bytes"] == predicted[row["id"]]["bytes"]
        assert all(0 < t < 5 for t in row["times_s"])
    needed = {"kind", "device", "driver", "clocks", "versions", "date", "others"}
    assert needed <= set(result)


def test_a_loop_moves_lines_beyond_the_first_cache_and_stores_within():
    bench = importlib.import_module("host_levels")
    assert bench.share("copy", 100, 1000) == 1  # one store an element, as a triad
    assert bench.share("copy", 2000, 1000) == 24 / 32
    assert bench.share("add", 2000, 1000) == 1


def test_vectors_are_predicted_by_their_lanes(folder):
    bench = importlib.import_module("host_simd")
    known = bench.Known(folder)
    case = simd.Way("dot", "scalar-8", 4096, 8192, 32768)
    for sums in (1, 8):
        one = bench.seconds(dataclasses.replace(case, how=f"scalar-{sums}"), known)
        for isa in known.isas:
            wide = bench.seconds(dataclasses.replace(case, how=f"{isa}-{sums}"), known)
            assert one / wide == pytest.approx(simd.LANES[isa])
    python = dataclasses.replace(case, how="python")
    assert bench.seconds(python, known) is None


def test_a_whole_process_is_timed_beside_bare_python():
    bench = importlib.import_module("fit_process")
    result = bench.measure(rounds=2)
    times = {row["id"]: min(row["times_s"]) for row in result["rows"]}
    assert 0 < times["bare-python"] < times["fit"]
    assert result["prediction"] is None and result["why_no_prediction"]
    assert result["peer"]["recorded"] == "not re-run"
    with pytest.raises(SystemExit, match="no_such_module"):
        bench.seconds(["-m", "no_such_module"])
