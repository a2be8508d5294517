"""The plan's benchmark: CP-SAT's optimum is ours, and the stored rows."""

import importlib
import json
from pathlib import Path

import pytest
import record

from stacklib.cost import catalogue

bench = importlib.import_module("plan_search")
planning = bench.planning


@pytest.mark.parametrize(
    ("card", "many", "limit", "link"),
    [("rtx_3090_turbo", 2, None, 0.5), ("rtx_a6000", 4, 240.0, 1.0)],
)
def test_cp_sat_finds_no_other_optimum(card, many, limit, link):
    pytest.importorskip("ortools.sat.python.cp_model")
    search = bench.searched(1e5)
    part = catalogue.part(card, "gpu")
    choice = planning.Choice(part, many, limit, link)
    ours = search.machine(choice, 1e5)
    theirs = bench.by_cp_sat(search, choice)
    assert theirs == pytest.approx(ours[0] if ours else float("inf"))


def test_the_stored_rows_are_of_one_optimum():
    path = Path(record.__file__).parent / "results/plan_search.json"
    rows = json.loads(path.read_text())["rows"]
    assert [row["id"] for row in rows] == [f"{b} USD" for b in bench.BUDGETS]
    assert all(row["differs"] == 0 for row in rows)
