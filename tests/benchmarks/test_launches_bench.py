"""The stored launches: predicted first, and threads did what the closed form says."""

import importlib.util
import json
import sys
from pathlib import Path
from statistics import median

import pytest

HERE = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def bench():
    sys.path.insert(0, str(HERE))
    spec = importlib.util.spec_from_file_location(
        "launches_bench", HERE / "launches.py"
    )
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    yield made
    sys.path.remove(str(HERE))


def stored(folder):
    rows = json.loads((HERE / folder / "launches.json").read_text("utf-8"))["rows"]
    return {row["id"]: row for row in rows}


def test_every_plan_is_predicted_and_measured(bench):
    told, seen = stored("predictions"), stored("results")
    assert set(told) == set(seen) == set(bench.plans())
    for name, plan in bench.plans().items():
        assert told[name]["kernels"] == plan.kernels
        # Threads are never faster than the plan itself, overheads apart.
        assert median(seen[name]["times_s"]) >= 0.99 * plan.time


def test_ratios_are_those_of_the_closed_form(bench):
    told, seen = stored("predictions"), stored("results")

    def ratio(slow, fast):
        a, b = (median(seen[name]["times_s"]) for name in (slow, fast))
        return a / b / (told[slow]["predicted_s"] / told[fast]["predicted_s"])

    for slow, fast in (
        ("eager-short", "graph-short"),
        ("eager-long", "streams-2"),
        ("barrier-each", "barrier-10"),
        ("depth-1", "depth-2"),
    ):
        assert ratio(slow, fast) == pytest.approx(1, abs=0.15), (slow, fast)
