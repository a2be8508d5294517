"""The five operations: predicted from the roofline, measured only after a commit."""

import json
from pathlib import Path

import numpy
import pytest
import record

import five_operations as bench  # isort: skip

from stacklib.evidence import results
from stacklib.roofline import HostRoofline
from stacklib.roofline.count import passes

FOLDER = Path(record.__file__).parent
NAME = "five_operations.json"


def _keep_small(folder: Path) -> Path:
    path = folder / "predictions" / NAME
    data = json.loads(path.read_text())
    data["rows"] = sorted(data["rows"], key=lambda r: r["bytes"])[:4]
    record.write(path, data)
    return path


def test_every_operation_has_sizes_in_and_out_of_the_caches():
    cases = list(bench.cases())
    assert len({c["id"] for c in cases}) == len(cases)
    assert {c["op"] for c in cases} == set(passes.NAMES)
    for operation in passes.PASSES:
        sizes = [
            c["rows"] * c["cols"] * bench.SIZE
            for c in cases
            if (c["op"], c["variant"]) == (operation, "whole")
        ]
        assert min(sizes) < 2**20 and max(sizes) > 2 * 2**25


def test_a_block_fits_the_second_level_cache():
    host = HostRoofline.load(FOLDER / "results" / "host_roofline.json")
    l2 = next(c["bytes"] for c in host.machine["caches"] if c["level"] == 2)
    for case in bench.cases():
        if case["variant"] == "blocked":
            held = passes.BUFFERS[case["op"]] * bench.block_elements(case) * bench.SIZE
            assert held <= l2
            assert case["rows"] * case["cols"] % bench.block_elements(case) == 0


def test_same_roofline_gives_the_committed_bytes(folder):
    bench.predict(folder)
    told = FOLDER / "predictions" / NAME
    assert (folder / "predictions" / NAME).read_bytes() == told.read_bytes()
    for row in json.loads(told.read_text())["rows"]:
        assert 0 < row["roofline_s"] < row["predicted_s"]


def test_measuring_is_refused_until_the_prediction_is_committed(commit, folder, capsys):
    assert bench.measure(folder) == 2  # nothing predicted
    bench.predict(folder)
    path = _keep_small(folder)
    assert bench.measure(folder) == 2  # no repository
    commit(folder)
    assert bench.measure(folder) == 0
    result = json.loads((folder / "results" / NAME).read_text())
    assert results._fault(result) is None and result["kind"] == "five_operations"
    assert result["prediction"]["sha256"] == record.sha256(path)
    assert all(
        len(r["times_s"]) == bench.ROUNDS * bench.SAMPLES for r in result["rows"]
    )
    path.write_text(path.read_text().replace("predicted_s", "predicted_s ", 1))
    assert bench.measure(folder) == 2  # changed after the commit
    assert "commit the file" in capsys.readouterr().err


@pytest.mark.parametrize("operation", passes.PASSES)
def test_blocks_give_what_the_whole_gives(operation, monkeypatch):
    monkeypatch.setattr(bench, "BLOCK_ROWS", 4)
    monkeypatch.setattr(bench, "BLOCK_SIDE", 4)
    x = numpy.random.default_rng(1).standard_normal((12, 8), dtype="f4")
    shape = (8, 12) if operation == "transpose" else (12, 8)
    whole, blocked = numpy.empty(shape, "f4"), numpy.zeros(shape, "f4")
    passes.run(operation, x, whole, numpy.empty_like(x))
    if operation == "transpose":
        bench._blocked_transpose(x, blocked)
    else:
        bench._blocked_rows(operation, x, blocked, numpy.empty((4, 8), "f4"))
    numpy.testing.assert_allclose(blocked, whole, rtol=1e-5, atol=1e-6)


def test_a_diagnosis_times_every_pass_and_says_that_nothing_predicted_it(
    folder, monkeypatch
):
    small = dict.fromkeys(passes.PASSES, ((4, 4), (8, 16), (16, 16)))
    monkeypatch.setattr(bench, "SHAPES", small)
    monkeypatch.setattr(bench, "ODD_SIDES", (9,))
    bench.diagnose(folder)
    result = json.loads(
        (folder / "results" / "five_operations_passes.json").read_text()
    )
    assert results._fault(result) is None and result["why_no_prediction"]
    named = [(r["op"], r["pass"]) for r in result["rows"] if r["rows"] == 8]
    assert named == [(op, p.name) for op in passes.PASSES for p in passes.passes(op)]
