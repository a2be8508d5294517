"""The book's own calibration: files current, factors many rows speak of."""

import csv
import tomllib
from functools import cache

import pytest

from stacklib.evidence import calibrate, measurements
from stacklib.evidence.calibrate import bands, files, folds
from stacklib.evidence.calibrate.fit import SETTLED, fit, refit
from stacklib.evidence.calibrate.public import rig_misses, unseen_misses
from stacklib.evidence.measurements import Measurement
from stacklib.evidence.validate import device_name
from stacklib.hardware import errors
from stacklib.hardware.factors import efficiency_names, efficiency_table


def test_no_device_that_was_left_out_is_in_a_fit():
    devices = {device_name(row) for row in measurements.left_out()}
    assert "–" not in devices and len(devices) >= 10
    families = {row.family for row in measurements.left_out()}
    cases = calibrate.public_problem().cases
    assert not devices & {case.device for case in cases if case.family in families}


def test_a_fit_reads_no_row_that_was_left_out():
    ids = {row.id for row in measurements.left_out()}
    cases = {case.id for case in calibrate.public_problem().cases}
    assert cases and not ids & cases


def test_there_are_at_most_forty_factors():
    assert 0 < len(calibrate.factors()) <= 40


def test_each_factor_moves_rows_of_two_sources_and_two_devices():
    problem, table = calibrate.public_problem(), efficiency_table()
    values = {name: row["value"] for name, row in table.items()}
    assert problem.lonely(values) == {} and problem.unreached() == []
    fitted = [name for name, row in table.items() if not row.get("fixed")]
    assert len(fitted) <= 29


def test_a_fixed_constant_names_who_measured_it():
    for name, row in efficiency_table().items():
        assert not row.get("fixed") or (row["source"] and row["where"]), name


def test_every_fitted_factor_is_read_by_some_row():
    problem = calibrate.public_problem()
    unread = [n for n, rows in problem.touched().items() if not rows]
    assert [n for n in unread if not problem.factors[n].fixed] == []


def test_every_factor_lies_in_its_interval_and_its_bounds():
    for name, row in efficiency_table().items():
        assert row["least"] <= row["value"] <= row["most"], name
        if "low" in row:
            assert row["low"] <= row["value"] <= row["high"], name


def test_the_committed_errors_are_those_of_the_committed_factors():
    problem = calibrate.public_problem()
    predicted = {c.id: c.predict() for c in problem.cases}
    now = folds.errors(problem.cases, predicted)
    stored = tomllib.loads(files.data_path("errors.toml").read_text())
    assert set(stored) == set(now)
    for key, row in stored.items():
        assert row["n"] == now[key].n
        assert row["in_sample"]["median"] == pytest.approx(now[key].median, rel=2e-3)
        assert row["in_sample"]["p90"] == pytest.approx(now[key].p90, rel=2e-3)


def test_the_committed_band_is_that_of_the_held_out_predictions():
    problem = calibrate.public_problem()
    held = calibrate.held_out()
    assert set(held) == {c.id for c in problem.cases}
    stored = tomllib.loads(files.data_path("errors.toml").read_text())
    for way in folds.BY:
        every = {id: getattr(h, f"by_{way}") for id, h in held.items()}
        predicted = {id: value for id, value in every.items() if value is not None}
        found_by_key = folds.errors(problem.cases, predicted, unseen=True)
        for key, found in found_by_key.items():
            row = stored[key][f"by_{way}"]
            assert row["median"] == pytest.approx(found.median, rel=0.01, abs=1e-3)
            assert row["p90"] == pytest.approx(found.p90, rel=0.01, abs=1e-3)
            assert row["unseen"] == found.n
    for key, row in stored.items():
        band = errors.family_band(key)
        assert (band.median, band.p90) == (row["median"], row["p90"])


@cache
def never_seen() -> list[bands.Miss]:
    held = calibrate.held_out()
    ends = ({i: getattr(h, e) for i, h in held.items()} for e in ("least", "most"))
    seen = bands.misses(calibrate.public_problem().cases, *ends)
    return [*seen, *rig_misses(), *unseen_misses()]


def test_the_committed_bands_are_those_of_the_held_out_predictions():
    now = {row[0]: row[1:] for row in bands.band_rows(never_seen())}
    with open(errors.PATH, newline="") as lines:
        told = [row["cell"] for row in csv.DictReader(lines)]
    assert set(now) == set(errors.cells()) and told == sorted(set(told))
    for name, band in errors.cells().items():
        low, high, *counts = now[name][:5]
        made = (float(low or 0), float(high or "inf"), *map(float, counts))
        told = (band.low, band.high, band.median, band.p90, band.unseen)
        assert told == pytest.approx(made, rel=0.02), name
        assert band.silicon == tuple(now[name][-1].split(";"))


KEPT = ["A", "B", "C", "D_large", "D_small", "E_decode", "E_prefill/prompt", "F", "J"]


@pytest.mark.rows("key", KEPT)
def test_bands_made_without_a_source_or_device_hold_its_rows(key):
    rows = [m for m in never_seen() if f"{m.case.cell}/".startswith(f"{key}/")]
    told = errors.cells()
    rows = [m for m in rows if told[errors.nearest(m.case.cell, told) or key].low]
    for by in folds.BY:
        held, tried = bands.never_seen(rows, by)
        assert held >= bands.LEAST * tried, by
        assert by == "source" or tried > 0.6 * len(rows)


def test_a_band_is_printed_where_one_holds_what_others_measured_and_nowhere_else():
    """Left out in turn; where software decides, made anew without them."""
    rows_of = bands.cells(never_seen())
    with open(errors.PATH, newline="") as lines:
        for row in csv.DictReader(lines):
            if row["low"] or float(row["inside"]) < bands.LEAST:
                assert bool(row["low"]) == (float(row["inside"]) >= bands.LEAST), row
                continue
            mine = rows_of[row["cell"]]
            low, high = bands.interval(mine, bands.widening(mine)[0])
            assert high > errors.WIDEST * low, row  # of no use, however it holds


def test_no_band_is_so_wide_that_it_says_nothing():
    """Half of them span less than four times, nine in ten less than ten.

    It was less than three, and held three in four of what strangers had measured.
    """
    told = (band for band in errors.cells().values() if band.low)
    wide = sorted(band.high / band.low for band in told)
    assert wide[len(wide) // 2] < 4 and wide[9 * len(wide) // 10] < 10


@pytest.mark.slow
def test_the_committed_factors_are_those_of_a_fresh_fit():
    fresh = fit(calibrate.public_problem())
    for name, row in efficiency_table().items():
        assert fresh[name] == pytest.approx(row["value"], rel=1e-3), name


def folds_of_each_kind(problem):
    """The first group of each kind, and which rows stay when it is left out."""
    for by in folds.BY:
        group = folds.groups(problem, by)[0]
        yield by, group, lambda case, b=by, g=group: not folds.inside(case, b, g)


@pytest.mark.slow
def test_a_fold_run_again_predicts_what_is_stored():
    """The search that stored it begins at the factors of all rows, as they are kept."""
    problem, held = calibrate.public_problem(), calibrate.held_out()
    full = {name: row["value"] for name, row in efficiency_table().items()}
    for by, group, _ in folds_of_each_kind(problem):
        again = folds.held_out(problem, by, group, full)
        stored = {id: getattr(held[id], f"by_{by}") for id in again}
        assert stored == pytest.approx(again, rel=5e-4)  # of four digits, half the last


@pytest.mark.slow
def test_a_search_that_has_not_seen_a_fold_finds_no_better_factors():
    """From the priors it ends elsewhere on a flat floor, and no lower: by less than
    what counts as settled.
    """
    problem = calibrate.public_problem()
    full = {name: row["value"] for name, row in efficiency_table().items()}
    for _, _, keep in folds_of_each_kind(problem):
        rest, costs = problem.only(keep), []
        for values in (fit(rest), refit(problem, full, keep)):
            with rest.override(values):
                costs.append(rest.cost(range(len(rest.cases))))
        assert costs[0] > costs[1] * (1 - SETTLED), costs


def test_a_row_with_a_fault_or_no_model_is_no_case():
    from stacklib.evidence.calibrate.public import case_of

    row = Measurement("x", "G", "", "", "", "", "m", 1.0, "ms", "", "", "", "")
    assert case_of(row) is None


def test_held_out_rows_replace_the_fitted_ones(monkeypatch):
    from stacklib.evidence.calibrate import left_out as module
    from stacklib.evidence.validate import Outcome, Validation

    def outcome(id, predicted, bound="dram", source="repo a/b"):
        row = Measurement(
            id, "C", "V100", "", "", "", "m", 2.0, "cycles", source, "", "", ""
        )
        return Outcome(row, "C", predicted, bound, None if predicted else "no")

    held = {"a": calibrate.HeldOut(3.0, 4.0), "b": calibrate.HeldOut(None, 1.0)}
    monkeypatch.setattr(module, "held_out", lambda: held)
    own = outcome("a2", 2.0, "l2 latency", "repo te42kyfo/gpu-benches x")
    report = Validation((outcome("a", 2.0), outcome("b", 2.0), outcome("c", None), own))
    found = {o.row.id: o for o in module.unseen(report, "source").outcomes}
    assert found["a"].predicted == 3.0
    assert found["b"].reason == module.MISSING and found["b"].predicted is None
    assert found["c"].reason == "no"
    assert found["a2"].reason == module.READ_BACK and found["a2"].predicted is None
    assert module.unseen(report, "device").outcomes[1].predicted == 1.0


# -- tables of the page ------------------------------------------------------------


def test_every_family_has_its_row_and_unseen_errors_only_where_there_are_tests():
    from stacklib.evidence.calibrate import tables
    from stacklib.evidence.validate import KEYS, PART_TITLES, validate

    report = validate(measurements.fitted()[::5])  # tables of any rows
    rows = tables.families(report)
    parts = list(PART_TITLES.values())
    assert [row["family"] for row in rows[1:3]] == parts
    assert rows[0]["rows"] == rows[1]["rows"] + rows[2]["rows"]
    assert [row["family"].partition(":")[0] for row in (rows[0], *rows[3:])] == [*KEYS]
    for row in rows:
        assert (row["tests"] is None) == (row["new device"] is None)
        assert (row["fitted"] is None) == (row["rows"] == 0)
    for by in folds.BY:
        found = tables.groups(report, "A", by)
        assert sum(row["rows"] for row in found) == rows[0]["rows"]
    assert len(tables.worst(report, "A")) == 5
    assert len(tables.factor_rows()) == len(efficiency_names())


def test_refusals_add_up_and_one_more_reason_is_shown_itself():
    from stacklib.evidence.calibrate import tables
    from stacklib.evidence.validate import Outcome, Validation

    def refused(reason):
        row = Measurement(reason, "G", "", "", "", "", "m", 1.0, "x", "", "", "", "")
        return Outcome(row, "G", reason=reason)

    report = Validation(tuple(refused(r) for r in ["a", "a", "b", "c", "d"]))
    assert tables.refusals(report, most=2) == [
        {"rows": 2, "reason": "a"},
        {"rows": 1, "reason": "b"},
        {"rows": 2, "reason": "2 others"},
    ]
    assert [row["reason"] for row in tables.refusals(report, most=3)] == list("abcd")
