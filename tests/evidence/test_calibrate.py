"""Calibration: planted factors are found, held-out rows unseen, files current."""

import contextlib
import dataclasses
import itertools
import math
import random
import tomllib
from contextvars import ContextVar

import pytest

from stacklib.evidence import calibrate
from stacklib.evidence.calibrate import (
    Case,
    Errors,
    Factor,
    Problem,
    files,
    folds,
)
from stacklib.evidence.calibrate.fit import fit, minimise, near, points, refit
from stacklib.evidence.calibrate.problem import CAP, loss, weights
from stacklib.evidence.calibrate.public import factor_of

from ..rows import refusals

IN_FORCE = ContextVar("in_force")
TRUE = {"memory": 0.87, "compute": 0.62, "launch": 4.2e-6, "unread": 0.5}
FACTORS = {
    "memory": Factor(0.7, 0.3, 1.0),
    "compute": Factor(0.9, 0.3, 1.0),
    "launch": Factor(1e-6, 1e-7, 1e-4),
    "unread": Factor(0.44, 0.1, 1.0),
}


@contextlib.contextmanager
def override(values):
    token = IN_FORCE.set(values)
    try:
        yield
    finally:
        IN_FORCE.reset(token)


def seconds(work, bytes, f):
    return max(work / f["compute"], bytes / f["memory"]) + f["launch"]


def case(id, work, bytes, source, device, noise=1.0, key="A", reads=None):
    read = frozenset(reads or ("memory", "compute", "launch"))
    return Case(
        id,
        key,
        source,
        device,
        seconds(work, bytes, TRUE) * noise,
        lambda: seconds(work, bytes, IN_FORCE.get()),
        read,
    )


def toy(noise=0.0, spoilt=0):
    """Rows over three sources and three devices, with what was planted."""
    chance = random.Random(7)
    cases = []
    for i, (source, device) in enumerate(itertools.product("abc", "xyz")):
        for j in range(8):
            off = math.exp(chance.gauss(0, noise))
            work, bytes = 10 ** chance.uniform(-6, -2), 10 ** chance.uniform(-6, -2)
            cases.append(case(f"{i}-{j}", work, bytes, source, device, off))
    for j in range(spoilt):  # planted bad rows: wrong by a factor of a thousand
        cases.append(case(f"bad-{j}", 1e-3, 1e-3, "a", "x", 1000.0))
    return Problem(FACTORS, tuple(cases), override)


def test_planted_factors_are_found_to_half_a_percent():
    found = fit(toy())
    for name in ("memory", "compute", "launch"):
        assert found[name] == pytest.approx(TRUE[name], rel=5e-3), name


def test_a_factor_with_a_family_is_fitted_to_its_rows_and_moves_no_other():
    own = {**FACTORS, "own": Factor(0.4, 0.1, 1.0, family="B")}
    plain = Problem(own, toy(noise=0.1).cases, override)

    def built(at):
        work = 10 ** (-6 + at / 10)
        return Case(
            f"b-{at}",
            "B",
            "abc"[at % 3],
            "xyz"[at % 3],
            2 * seconds(work, work, TRUE) / 0.6,
            lambda: seconds(work, work, IN_FORCE.get()) / IN_FORCE.get()["own"],
            frozenset(("memory", "compute", "launch", "own")),
        )

    both = Problem(own, (*plain.cases, *map(built, range(30))), override)
    without, found = fit(plain), fit(both)
    assert {n: found[n] for n in FACTORS} == {n: without[n] for n in FACTORS}
    assert found["own"] == pytest.approx(0.3, rel=0.05)
    draws = [folds.draw(problem, 3) for problem in (plain, both)]
    assert all(draws[1][n] == value for n, value in draws[0].items())
    assert sum(len(part.cases) for part in both.stages()) == len(both.cases)
    assert both.unreached() == []
    shared = Problem({**own, "shared": Factor(0.5, 0.1, 1.0)}, both.cases, override)
    planted = [
        dataclasses.replace(c, reads=c.reads | {"shared"}) for c in both.cases[-30:]
    ]
    assert shared.unreached() == []
    hidden = Problem(shared.factors, (*plain.cases, *planted), override)
    assert hidden.unreached() == ["shared"]


def test_noise_moves_them_little_and_wild_rows_hardly_more():
    for problem in (toy(noise=0.1), toy(noise=0.1, spoilt=4)):
        found = fit(problem)
        assert found["memory"] == pytest.approx(TRUE["memory"], rel=0.08)
        assert found["compute"] == pytest.approx(TRUE["compute"], rel=0.08)


def test_a_factor_that_no_row_reads_keeps_its_prior():
    assert fit(toy())["unread"] == 0.44


def test_a_physical_constant_is_never_fitted():
    factors = {**FACTORS, "memory": Factor(0.7, 0.3, 1.0, fixed=True)}
    assert fit(Problem(factors, toy().cases, override))["memory"] == 0.7


def test_a_fit_does_not_depend_on_the_order_of_the_rows():
    problem = toy(noise=0.1)
    turned = Problem(FACTORS, tuple(reversed(problem.cases)), override)
    for name, value in fit(problem).items():
        assert fit(turned)[name] == pytest.approx(value, rel=2e-3)


def test_values_stay_within_their_bounds():
    factors = {**FACTORS, "memory": Factor(0.7, 0.65, 0.75)}
    found = fit(Problem(factors, toy().cases, override))
    assert 0.65 <= found["memory"] <= 0.75


def test_a_flat_cost_changes_nothing():
    assert minimise(lambda x: 1.0, points(FACTORS["memory"]), 0.7) == 0.7


@pytest.mark.rows("best", [0.31, 0.5, 0.62, 0.999])
def test_the_line_search_finds_a_valley(best):
    grid = points(FACTORS["memory"])
    found = minimise(lambda x: abs(math.log(x / best)), grid, 0.7)
    assert found == pytest.approx(best, rel=0.01)
    again = minimise(
        lambda x: abs(math.log(x / best)), [found / 1.02, found * 1.02], found
    )
    assert again == pytest.approx(best, rel=1e-3)


def test_scan_points_span_the_bounds_and_later_ones_stay_within():
    factor = Factor(0.5, 0.25, 1.0)
    assert points(factor, 5) == pytest.approx([0.25, 0.3536, 0.5, 0.7071, 1], rel=1e-3)
    assert near(factor, 0.5) == pytest.approx([0.5 / 1.15, 0.5 * 1.15])
    assert near(factor, 0.26)[0] == 0.25 and near(factor, 1.0)[1] == 1.0


def test_loss_is_smooth_then_linear_then_capped():
    assert loss(0) == 0 and loss(-0.3) == loss(0.3)
    assert loss(0.05) == pytest.approx(0.0125)
    assert loss(0.4) - loss(0.3) == pytest.approx(0.1)
    assert loss(50) == loss(CAP)


def test_a_row_that_cannot_be_computed_costs_the_cap():
    def broken():
        raise ZeroDivisionError

    bad = Case("x", "A", "a", "x", 1.0, broken, frozenset({"memory"}))
    assert Problem(FACTORS, (bad,), override).cost([0]) == loss(CAP)
    zero = Case("x", "A", "a", "x", 1.0, lambda: 0.0, frozenset({"memory"}))
    assert Problem(FACTORS, (zero,), override).cost([0]) == loss(CAP)


def test_many_rows_of_one_source_on_one_device_count_as_their_root():
    cases = [case(str(i), 1, 1, "a", "x") for i in range(100)]
    cases.append(case("alone", 1, 1, "b", "x"))
    cases.append(case("other", 1, 1, "b", "x", key="C"))
    found = weights(cases)
    assert sum(found[:100]) == pytest.approx(10 * found[100])
    assert sum(found[:101]) == pytest.approx(1) and found[101] == pytest.approx(1)


def test_held_out_rows_do_not_reach_the_fit():
    """A source with factors of its own is predicted by those of the others."""
    problem = toy()
    odd = [case(f"odd-{i}", 1e-3, 1e-6, "d", "x", noise=2.0) for i in range(30)]
    both = Problem(FACTORS, problem.cases + tuple(odd), override)
    predicted = folds.held_out(both, "source", "d")
    assert set(predicted) == {c.id for c in odd}
    expected = seconds(1e-3, 1e-6, TRUE)
    assert predicted["odd-0"] == pytest.approx(expected, rel=0.01)


def test_a_factor_that_no_training_row_moves_refuses_its_rows():
    """A factor that stands where it began predicts nothing."""
    factors = {**FACTORS, "own": Factor(2.0, 1.0, 4.0)}

    def slow():
        return seconds(1e-3, 1e-6, IN_FORCE.get()) * IN_FORCE.get()["own"]

    reads = frozenset({"memory", "compute", "launch", "own"})
    mine = [Case(f"own-{i}", "A", "d", "x", 3e-3, slow, reads) for i in range(3)]
    plain = case(
        "plain", 1e-3, 1e-6, "d", "x", reads=reads
    )  # reads it, moves not by it
    problem = Problem(factors, (*toy().cases, *mine, plain), override)
    assert set(folds.held_out(problem, "source", "d")) == {"plain"}
    twin = [dataclasses.replace(c, id=f"t{c.id}", source="e") for c in mine]
    told = Problem(factors, (*problem.cases, *twin), override)
    assert len(folds.held_out(told, "source", "d")) == 4


def test_a_fit_begins_in_the_middle_of_the_bounds_whatever_was_fitted_before():
    row = {"value": 0.9, "prior": 0.88, "least": 0.5, "most": 2.0}
    assert factor_of(row).prior == 1.0
    assert factor_of({**row, "fixed": True}).prior == 0.9
    for name, factor in calibrate.factors().items():
        wide = factor.most / factor.least
        assert factor.fixed or wide >= 2, name


def test_a_search_from_the_full_fit_forgets_what_the_missing_rows_said():
    odd = [case(f"odd-{i}", 1e-3, 1e-6, "d", "x", noise=1.2) for i in range(9)]
    own = {**FACTORS, "own": Factor(2.0, 1.0, 4.0)}
    reads = frozenset({"memory", "compute", "launch", "own"})

    def slow():
        return seconds(1e-3, 1e-6, IN_FORCE.get()) * IN_FORCE.get()["own"]

    mine = Case("own", "A", "d", "x", 4e-3, slow, reads)
    problem = Problem(own, (*toy().cases, *odd, mine), override)
    full = fit(problem)
    assert full["own"] != own["own"].begin
    warm = refit(problem, full, lambda c: c.source != "d")
    cold = fit(problem.only(lambda c: c.source != "d"))
    assert warm["own"] == own["own"].begin == cold["own"]
    for name in ("memory", "compute", "launch"):
        assert warm[name] == pytest.approx(cold[name], rel=5e-3), name


def test_every_row_is_held_out_once_each_way():
    problem = toy()
    for by in folds.BY:
        ids = [
            id
            for group in folds.groups(problem, by)
            for id in folds.held_out(problem, by, group)
        ]
        assert sorted(ids) == sorted(c.id for c in problem.cases)


def test_a_way_to_group_that_is_not_known_is_named():
    with pytest.raises(ValueError, match="by='moon'"):
        folds.groups(toy(), "moon")


def test_errors_are_quantiles_by_family():
    cases = [case(str(i), 1, 1, "a", "x") for i in range(11)]
    predicted = {c.id: c.measured * (1 + i / 10) for i, c in enumerate(cases)}
    found = folds.errors(cases, predicted)["A"]
    assert found.median == pytest.approx(0.5) and found.p90 == pytest.approx(0.9)
    assert found.n == 11


def test_rows_read_back_from_their_own_source_are_no_test():
    own = dataclasses.replace(case("b", 1, 1, "a", "x"), read_back=True)
    cases = [case("a", 1, 1, "a", "x"), own]
    predicted = {c.id: 1.1 * c.measured for c in cases}
    assert folds.errors(cases, predicted)["A"].n == 2
    assert folds.errors(cases, predicted, unseen=True)["A"].n == 1


def test_a_replicate_is_the_same_each_time_and_differs_by_number():
    problem = toy(noise=0.2)
    assert folds.draw(problem, 1) == folds.draw(problem, 1)
    assert folds.draw(problem, 1) != folds.draw(problem, 2)
    assert "unread" not in folds.draw(problem, 1)


def test_intervals_hold_the_value_and_widen_with_noise():
    values = {"a": 0.5}
    narrow = folds.spans(values, [{"a": 0.5}, {"a": 0.51}])
    assert narrow["a"][0] == 0.5 and 0.5 < narrow["a"][1] <= 0.51
    wide = folds.spans(values, [{"a": 0.7}])
    assert wide["a"][0] == 0.5 and wide["a"][1] == pytest.approx(0.69)
    assert folds.spans(values, [])["a"] == (0.5, 0.5)


def test_a_factor_of_one_source_on_one_device_is_found():
    alone = case("z", 1, 1, "a", "x", reads=("unread",))
    problem = Problem(FACTORS, (*toy().cases, alone), override)
    assert problem.lonely(TRUE) == {"unread": 0}  # read, and moves nothing

    def moved():
        return IN_FORCE.get()["unread"]

    rows = [
        Case(f"{s}{d}", "A", s, d, 0.5, moved, frozenset({"unread"}))
        for s, d in ("ax", "ay", "bx")
    ]
    for some, lonely in ((rows[:2], True), (rows[::2], True), (rows, False)):
        found = Problem(FACTORS, (*toy().cases, *some), override).lonely(TRUE)
        assert found == ({"unread": len(some)} if lonely else {})
    fixed = {**FACTORS, "unread": Factor(0.5, 0.1, 1, fixed=True)}
    assert Problem(fixed, problem.cases, override).lonely(TRUE) == {}


# -- files ---------------------------------------------------------------------


def test_toml_is_read_back_as_it_was_written():
    rows = {
        "a_b": {
            "value": 0.123456,
            "rows": 3,
            "fixed": True,
            "text": 'a "b" \\ µ',
            "in": {"median": 0.1},
        }
    }
    text = files.tables(rows, "# one\n# two")
    assert files.head_of(text) == "# one\n# two"
    assert tomllib.loads(text) == {"a_b": {**rows["a_b"], "value": 0.1235}}
    with pytest.raises(TypeError, match="no TOML"):
        files.text_of(None)


def test_the_factors_file_keeps_what_was_declared():
    table = {
        "memory": {
            "value": 0.7,
            "least": 0.3,
            "most": 1.0,
            "class": "gpu",
            "text": "why",
        },
        "unread": {"value": 0.44, "least": 0.1, "most": 1.0, "low": 0.1, "high": 0.9},
    }
    rows = files.efficiency_rows(
        table,
        toy(),
        {**TRUE, "unread": 0.44},
        {"memory": (0.8, 0.9), "unread": (0.4, 0.5)},
    )
    assert rows["memory"] == {
        "value": 0.87,
        "low": 0.8,
        "high": 0.9,
        "least": 0.3,
        "most": 1.0,
        "class": "gpu",
        "text": "why",
        "rows": 46,
        "sources": 3,
        "devices": 3,
    }
    assert next(iter(rows["memory"])) == "value"
    assert rows["unread"]["rows"] == 0 and "low" not in rows["unread"]


def test_a_fixed_factor_read_elsewhere_keeps_its_rows():
    fixed = {"value": 3.4, "least": 2.0, "most": 5.0, "fixed": True}
    counts = {"rows": 2, "sources": 2, "devices": 2}
    memory = {"value": 0.7, "least": 0.3, "most": 1.0}
    values = {**TRUE, "turn": 3.4, "bare": 3.4}
    factor = Factor(3.4, 2.0, 5.0, fixed=True)
    factors = {**FACTORS, "turn": factor, "bare": factor}
    problem = Problem(factors, toy().cases, override)
    table = {"memory": memory, "turn": {**fixed, **counts}, "bare": fixed}
    rows = files.efficiency_rows(table, problem, values, {"memory": (0.8, 0.9)})
    assert {key: rows["turn"][key] for key in counts} == counts
    assert rows["bare"]["rows"] == 0


def test_the_band_is_the_larger_of_both_cross_validations():
    by = {"source": {"A": Errors(0.1, 0.5, 7)}, "device": {"A": Errors(0.2, 0.4, 7)}}
    row = files.error_rows({"A": Errors(0.05, 0.3, 9)}, by)["A"]
    assert (row["median"], row["p90"], row["n"]) == (0.2, 0.5, 9)
    assert row["unseen"] == 7
    assert row["in_sample"] == {"median": 0.05, "p90": 0.3}
    assert row["by_device"] == {"median": 0.2, "p90": 0.4, "unseen": 7}


def test_held_out_predictions_are_written_by_id():
    text = files.held_out_text(
        {
            "by_source": {"A-2": 1.23456, "A-1": 2.0},
            "by_device": {"A-2": 3.0},
            "least": {"A-2": 1.0},
            "most": {"A-2": 3.0},
        }
    )
    head = "id,by_source,by_device,least,most"
    assert text == f"{head}\nA-1,2,,,\nA-2,1.235,3,1,3\n"


test_bounds_that_contradict_are_refused = refusals(
    ({"value": 0.5, "least": 0.6, "most": 1.0}, "not between"),
    ({"value": 0.5, "least": 0.5, "most": 0.5}, "not between"),
    ({"value": 2.0, "least": 0.5, "most": 1.0}, "not between"),
    by=factor_of,
)


def test_a_family_is_fitted_alone_and_what_files_say_of_others_stays():
    from stacklib.evidence import measurements
    from stacklib.evidence.calibrate.public import family_problem

    problem = family_problem("E")
    assert {f.family for f in problem.factors.values()} == {"E"}
    assert {case.family for case in problem.cases} == {"E"}
    with pytest.raises(ValueError, match="'F'"):
        family_problem("A")
    kept = files.held_out_with({"by_source": {"E-0001": 1.0}}, "E")["by_source"]
    own = {row.id for row in measurements.fitted() if row.family == "E"}
    assert own & set(kept) == {"E-0001"} and len(kept) > 2000
    others = files.bands_but({"E", "J"})  # a run of E makes those of rigs anew, too
    assert others and not any(line[0].startswith(("E", "J")) for line in others)
    new = files.errors_with({"E_decode": {"median": 0.5}})
    assert new["E_decode"] == {"median": 0.5} and new["A"]["n"] > 1000
