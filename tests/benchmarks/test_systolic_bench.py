"""The benchmark of the stepped array: the stored comparison, a planted difference."""

import json

import record
from _tools import bars, tree

import systolic as bench  # isort: skip

ROWS = json.loads((record.RESULTS / "systolic.json").read_text("utf-8"))["rows"]


def test_the_stored_comparison_is_of_these_products():
    compared = {row["id"]: row["compared"] for row in ROWS if "compared" in row}
    assert compared == {
        "equal-random": len(bench.random_products()),
        "equal-resnet-18": len(bench.layers()),
    }
    assert all(row["differ"] == [] for row in ROWS if "compared" in row)


def test_a_difference_is_seen():
    mine = bench.ours([9, 7, 5, 4, 4, "os"])  # as SCALE-Sim 3.0.0 gives it, too
    its = [65, 30.288461538461538, 90, 105, 0.014]
    assert mine[0] == its[0] and not bench.differ(mine, its)
    for at, off in ((0, 1), (1, 0.1), (2, 1), (3, -1)):
        other = [x + off * (n == at) for n, x in enumerate(its)]
        assert bench.differ(mine, other)


def test_the_bars_hold():
    assert bars.measured(5, tree.ROOT).missing == ()
