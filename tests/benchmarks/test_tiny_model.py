"""The tiny model's predictions follow from the roofline; its counts can be repeated."""

import json
from pathlib import Path

import pytest

from stacklib.roofline import HostRoofline

ROOT = Path(__file__).resolve().parents[2] / "benchmarks"


def read(folder: str) -> dict:
    """The committed file of that folder."""
    found: dict = json.loads((ROOT / folder / "tiny_model.json").read_text())
    return found


@pytest.fixture
def bench(monkeypatch):
    """The benchmark as a module."""
    monkeypatch.syspath_prepend(str(ROOT))
    import tiny_model

    return tiny_model


def test_the_committed_prediction_follows_from_the_roofline(bench):
    ceilings = HostRoofline.load(ROOT / "results" / "host_roofline.json")
    told = read("predictions")
    assert bench.predictions(ceilings) == told["rows"]
    assert bench.memory() == told["memory"]


@pytest.mark.parametrize("recompute", [False, True])
def test_what_torch_keeps_is_what_was_written_and_near_what_was_predicted(
    bench, recompute
):
    key = "recomputed" if recompute else "activations"
    counted = bench.kept_bytes("draft", recompute=recompute)
    assert counted == read("results")["memory"]["draft"][key]
    assert counted == pytest.approx(
        read("predictions")["memory"]["draft"][key], rel=0.05
    )


def test_every_row_was_measured_with_the_committed_weights(bench):
    rows = {row["id"]: row for row in read("results")["rows"]}
    assert set(rows) == {row["id"] for row in read("predictions")["rows"]}
    for name in ("tiny", "draft", "draft_plain"):
        assert rows[f"train-{name}"]["times_s"] == bench.trained(name)


@pytest.mark.parametrize("kind", ["decode", "prefill"])
def test_a_pass_is_timed(bench, kind):
    times = bench.timed_pass(kind, "draft", 8)
    assert len(times) == bench.ROUNDS and all(t > 0 for t in times)
