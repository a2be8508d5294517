"""The cache benchmark: both sides count the same, and README says the least ratio."""

import importlib
import json
import re
import statistics
from pathlib import Path

import pytest
import record

HERE = Path(record.__file__).parent


@pytest.fixture
def bench():
    return importlib.import_module("cache")


def test_ours_is_timed_on_every_case(bench, monkeypatch):
    monkeypatch.setattr(bench, "ACCESSES", 50_000)
    for trace in bench.traces().values():
        some = trace % 5 == 0
        for shape, levels in bench.CACHES.items():
            took, counted = bench.ours(shape, trace, some)
            assert took > 0 and len(counted) == len(levels)
            assert all(came >= back >= 0 for came, back in counted)


def test_the_stored_result_has_every_case_and_readme_says_the_least(bench):
    stored = json.loads((HERE / "results" / "cache.json").read_text())
    found = bench.ratios(stored["rows"])
    assert len(found) == 6 * len(bench.CACHES)
    by = {}
    for row in stored["rows"]:
        by.setdefault(row["case"], []).append(row["lines"])
    assert all(ours == theirs for ours, theirs in by.values())
    said = re.search(
        r"least of (\d+)<\S+ cases \| pycachesim \| ([\d.]+)<\S+ median ([\d.]+)<",
        (HERE.parent / "README.md").read_text(),
    )
    least, middle = min(found.values()), statistics.median_low(found.values())
    assert [*map(float, said.groups())] == [18, round(least, 1), round(middle, 1)]
