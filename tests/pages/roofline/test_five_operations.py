"""The five operations: predictions joined with measurements and their diagnosis."""

import pytest

from stacklib.evidence import results
from stacklib.pages.roofline.roofline import five_operations as five
from stacklib.roofline.count import passes


def test_every_case_has_two_predictions_and_a_measurement():
    found = five.outcomes()
    assert {o.run.case["op"] for o in found} == set(passes.NAMES)
    for o in found:
        assert 0 < o.roofline.si <= o.run.predicted.si
        assert o.run.low.si <= o.run.measured.si <= o.run.high.si


def test_the_roofline_is_a_bound():
    # the ceilings are the best samples, so a cached case may just reach them
    for o in five.outcomes():
        assert o.roofline.si < 1.1 * o.run.measured.si, o.run.id


def test_an_outcome_is_the_largest_unless_its_rows_are_given():
    assert five.outcome("gelu").run.case["rows"] == 32768
    assert five.outcome("gelu", rows=16).size == "64\u00a0KiB"
    assert five.outcome("gelu", "blocked").run.case["variant"] == "blocked"


@pytest.mark.parametrize("operation", passes.PASSES)
def test_a_diagnosis_names_the_passes_in_order(operation):
    found = five.diagnosis(operation)
    assert [p.name for p in found] == [p.name for p in passes.passes(operation)]
    assert all(p.measured.source for p in found)
    whole = five.outcome(operation, rows=1024).run.predicted.si
    told = sum(p.predicted.si for p in found)
    assert told == pytest.approx(whole, rel=0.02)  # without the price of a call


def test_what_was_not_measured_is_named():
    with pytest.raises(results.ResultError, match="gelu, whole, 7 rows"):
        five.outcome("gelu", rows=7)
    with pytest.raises(results.ResultError, match="diagnose"):
        five.diagnosis("gelu", 7)
    with pytest.raises(results.ResultError, match="nothing"):
        five.median_error("folded")


def test_errors_lie_between_none_and_all():
    for by in ("predicted", "roofline"):
        assert 0 < five.median_error(by=by).si < 1
