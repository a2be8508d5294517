"""Block manager and prefix tree beside their peers: equal finds."""

import importlib
import json
import types
from pathlib import Path

import pytest
import record

RESULTS = Path(record.__file__).parent / "results"


def stored(stem: str) -> dict:
    return json.loads((RESULTS / f"{stem}.json").read_text())


def test_the_stored_ratios_are_those_of_the_allocator_s_times():
    bench, result = importlib.import_module("block_manager"), stored("block_manager")
    found = bench.ratios(result["rows"])
    assert found == pytest.approx(result["ratios"])


def test_the_stored_ratios_are_those_of_the_tree_s_times_with_equal_hits():
    bench, result = importlib.import_module("prefix_tree"), stored("prefix_tree")
    found = bench.ratios(result["rows"])
    assert found == pytest.approx(result["ratios"])
    assert set(found) == set(bench.RECORDED)
    assert all(equal["hit"] > 0 for equal in result["equal_hits"].values())


def test_what_is_timed_finds_what_it_should(monkeypatch):
    bench = importlib.import_module("block_manager")
    monkeypatch.setattr(bench, "REQUESTS", 4)
    took, found = bench.ours(bench.work(384))
    assert took > 0 and found == 3 * 384
    tree = importlib.import_module("prefix_tree")
    monkeypatch.setattr(tree, "SEQUENCES", 40)
    texts = tree.sequences()
    for page in tree.PAGES:
        spent, hits = tree.ours(page, texts)
        assert hits >= 20 * 384 and len(spent["match"]) == 40


def test_a_peer_that_finds_others_is_refused(monkeypatch):
    bench = importlib.import_module("block_manager")
    monkeypatch.setattr(bench, "REQUESTS", 2)
    monkeypatch.setattr(bench, "ROUNDS", {"unshared": 1})
    monkeypatch.setattr(bench, "peer", lambda requests, *parts: (1.0, -1))
    with pytest.raises(SystemExit, match="different tokens"):
        bench.case("unshared", (types.SimpleNamespace, types.SimpleNamespace))
