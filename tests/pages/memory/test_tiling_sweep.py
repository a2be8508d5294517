"""The tile sweep as stored: predictions and results joined, nothing impossible."""

import pytest

from stacklib.evidence.results import ResultError
from stacklib.pages.memory.tiling import sweep
from stacklib.pages.memory.tiling.figures import bound_spec, sweep_spec
from stacklib.plots.spec import check
from stacklib.quantity import Quantity


def test_every_prediction_was_run_and_none_beats_the_bytes():
    for n in sweep.sizes():
        found = sweep.points(n)
        assert {p.tile for p in found} >= {"16x16x16", "512x512x512", "whole"}
        for point in found:
            assert point.run.operations.si == 2 * n**3
            assert point.core.si <= point.longest.si <= point.run.predicted.si
            # Every matrix crosses into the second cache once at least.
            assert point.from_l3.si >= 3 * n * n * 4
            assert point.from_l2.si >= point.from_l3.si * 0.9


def test_best_is_the_least_and_points_are_found_by_name():
    n = sweep.sizes()[0]
    fastest = sweep.best(n)
    assert all(fastest.run.measured.si <= p.run.measured.si for p in sweep.points(n))
    told = sweep.best(n, predicted=True)
    assert told == sweep.point(n, told.tile)
    assert fastest.side in (0, 16, 32, 64, 128, 256, 512, n)
    inside, slower, total = (q.si for q in sweep.shares())
    assert 0 <= inside <= inside + slower <= total


def test_what_was_not_run_is_refused():
    with pytest.raises(ResultError, match="no product of 7"):
        sweep.points(7)
    with pytest.raises(ResultError, match="no tile '3x3x3'"):
        sweep.point(sweep.sizes()[0], "3x3x3")


def test_the_figures_hold_their_grammar():
    n = sweep.sizes()[-1]
    check(
        sweep_spec(
            {"a": sweep.points(n)}, title="A sweep.", peak=Quantity(100, "GFLOP/s")
        )
    )
    spec = bound_spec(1024, title="A floor.", stores={"x": 1e5})
    check(spec)
    floor, tiled = spec["marks"][:2]
    assert min(tiled["y"]) >= min(floor["y"])
