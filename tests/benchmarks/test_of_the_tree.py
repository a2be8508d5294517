"""What the tree says of itself is what the package and the last run say."""

import importlib
import json

import pytest

bench = importlib.import_module("of_the_tree")
LOG = """9618 passed, 116 skipped, 87 deselected in 928.17s (0:15:28)
1645 CPU seconds (1505 user, 139 system), 17:29 wall
= 11,656 times the reference loop, which took 0.141 CPU seconds; budget 9,000
"""


def test_a_log_is_read_to_its_end_and_a_short_one_is_refused():
    (row,) = bench.suite(LOG.replace("9618", "12") + LOG)
    assert (row["passed"], row["cpu_s"], row["loops"]) == (9618, 1645, 11656)
    with pytest.raises(ValueError, match="no line for loops"):
        bench.suite(LOG.rsplit("=", 1)[0])
    assert bench.main([]) == 2


def test_the_stored_errors_are_those_of_the_bands():
    folder = bench.host_common.HERE / "results"
    stored = json.loads((folder / "prediction_error.json").read_text("utf-8"))["rows"]
    assert stored == json.loads(json.dumps(bench.errors()))
    (run,) = json.loads((folder / "test_suite.json").read_text("utf-8"))["rows"]
    assert run["passed"] > 9000 and run["loops_asked"] == 9000
