"""Verdicts and the leaf walk, each with planted faults."""

import json
from types import ModuleType

import pytest

from stacklib.evidence import Finding, claim, leaf_faults, ledger
from stacklib.evidence.checks import carried
from stacklib.evidence.judge import judge, judged, verdict_of
from stacklib.quantity import (
    Quantity,
    Source,
    UnitError,
    chosen,
    constant,
    maximum,
    one_of,
)
from stacklib.quantity.core import _make

RIDGE = "h200-ridge"  # claims 148 FLOP/B


def plant(found, id=RIDGE):
    """The judgement of a claim whose check found this."""
    return judged(ledger.get(id), found)


def guess(value):
    return chosen(value, "FLOP/B", "a guess")


# -- verdicts -----------------------------------------------------------------


@pytest.mark.rows(
    ("ours", "verdict"),
    [
        (148 * 1.1, "reproduced"),
        (148 * 0.9, "reproduced"),
        (148 * 1.11, "close"),
        (148 * 2, "close"),
        (148 / 2, "close"),
        (148 * 2.01, "wrong"),
        (148 / 2.01, "wrong"),
        (-148, "wrong"),
    ],
)
def test_the_ratio_decides(ours, verdict):
    judgement = plant(guess(ours) * 1)
    assert judgement.verdict == verdict
    assert judgement.ratio == pytest.approx(ours / 148)


def test_a_claim_of_zero_is_right_only_if_we_get_zero():
    assert verdict_of(None, Quantity(0)) == "reproduced"
    assert verdict_of(None, Quantity(1e-9)) == "wrong"


def test_a_check_may_say_that_sources_disagree():
    found = Finding(guess(148), why="Two data sheets.", verdict="conflict")
    assert plant(found).verdict == "conflict"


@pytest.mark.rows("verdict", ["reproduced", "close", "wrong", "fine"])
def test_a_check_may_not_choose_its_verdict(verdict):
    with pytest.raises(ValueError, match="the ratio decides"):
        Finding(guess(148), why="x", verdict=verdict)


@pytest.mark.rows(
    ("ours", "then", "verdict"),
    [
        (900, 148, "right if"),
        (900, 148 * 1.11, "wrong"),  # a condition that does not hold helps nobody
        (900, 800, "wrong"),
        (200, 148, "close"),  # within two, without exception
        (200, 800, "close"),
        (148, 800, "reproduced"),
    ],
)
def test_a_condition_makes_right_only_what_is_outside_two(ours, then, verdict):
    found = plant(Finding(guess(ours), then=guess(then), condition="it is so"))
    assert found.verdict == verdict
    said = "Right if it is so: then" if verdict == "right if" else "If it is so:"
    assert found.reason.startswith(f"{said} {found.then.text(digits=4)}")


def test_a_condition_from_memory_makes_nothing_right():
    sheet = Source("Somebody said", "", "2026-11-21", "recalled")
    then = Quantity(148, "FLOP/B", label="ridge", kind="spec", source=sheet, key="s")
    assert plant(Finding(guess(900), then=then, condition="x")).verdict == "wrong"


def of_module(mark, found):
    """The check of a planted module of checks, as a page would carry it."""
    planted = ModuleType("planted")
    planted.check = mark(lambda: found)
    planted.check.__module__ = "planted"
    return carried(planted)[RIDGE]


@pytest.mark.rows(
    ("mark", "found", "says"),
    [
        (
            claim(RIDGE),
            Finding(guess(9), condition="x", then=guess(148)),
            "in the mark",
        ),
        (claim(RIDGE, right_if="x"), Finding(guess(9)), "go together"),
        (claim(RIDGE, right_if="x"), guess(148), "go together"),
        (claim(RIDGE), Finding(guess(9), then=guess(148)), "go together"),
    ],
)
def test_a_condition_is_written_before_the_value_and_never_left_out(mark, found, says):
    row = judge(ledger.get(RIDGE), of_module(mark, found))
    assert row.verdict == "open" and says in row.failure


def test_a_marked_condition_reaches_the_judgement():
    mark = claim(RIDGE, right_if="it is an A100")
    row = judge(
        ledger.get(RIDGE), of_module(mark, Finding(guess(900), then=guess(150)))
    )
    assert (row.verdict, row.condition) == ("right if", "it is an A100")


# -- ranges: both ends ----------------------------------------------------------

WIDE = "decode-intensity"  # claims 1 to 10 FLOP/B


@pytest.mark.rows(
    ("ours", "to", "verdict", "place"),
    [
        (1, 10, "reproduced", "inside"),
        (5, None, "reproduced", "inside"),
        (0.9, 11, "reproduced", "inside"),
        (0.6, 5, "close", "overlaps"),
        (5, 19, "close", "overlaps"),
        (1, 43, "wrong", "overlaps"),  # one end alone would be reproduced
        (43, 1, "wrong", "overlaps"),  # in either order
        (12, None, "close", "outside"),
        (0.2, 0.4, "wrong", "outside"),
    ],
)
def test_both_ends_of_a_range_are_judged_and_shown(ours, to, verdict, place):
    other = None if to is None else guess(to)
    row = plant(Finding(guess(ours), to=other), WIDE)
    assert (row.verdict, row.place) == (verdict, place)
    assert row.claim.claimed == "1 to 10 FLOP/B"
    ends = sorted({ours, to} - {None})
    assert row.computed_text == " to ".join(f"{end:g} FLOP/B" for end in ends)


def test_a_range_of_ours_is_held_to_one_number_at_both_ends():
    row = plant(Finding(guess(148), to=guess(600)))
    assert (row.verdict, row.place) == ("wrong", "overlaps")


# -- looked up, read back, from memory ------------------------------------------


def spec(value, confidence="vendor", key="chip.ridge", unit="FLOP/B"):
    sheet = Source("A data sheet", "page 1", "2026-11-21", confidence)
    return Quantity(value, unit, label=key, kind="spec", source=sheet, key=key)


def test_a_look_up_agrees_with_its_source_and_names_it():
    for looked in (
        spec(150),
        spec(150).to("kFLOP/B"),
        spec(75) * constant("multiply_add").retag("dense").si,
        maximum(spec(150), spec(20, key="other.ridge")),
    ):
        row = plant(looked)
        assert row.verdict == "agrees with its source"
        assert row.reason == "Not computed: A data sheet."
    assert plant(spec(200)).verdict == "close"
    assert plant(spec(500)).verdict == "wrong"
    both = spec(300, key="a.x") / spec(2, key="b.y", unit="")
    assert plant(both).verdict == "reproduced"


def test_a_printed_peak_over_its_own_factors_is_read_back():
    peak = spec(296, key="h.peak.bf16", unit="FLOP/s")
    units = spec(2, key="h.compute_units", unit="B/s")
    assert plant(peak / units).verdict == "agrees with its source"
    foreign = spec(2, key="g.compute_units", unit="B/s")
    assert plant(peak / foreign).verdict == "reproduced"


def test_a_recalled_figure_that_equals_the_claim_is_cited():
    assert plant(spec(148, "recalled")).verdict == "cited"
    product = spec(296, "recalled", "a.x") / spec(2, "recalled", "b.y", "")
    assert plant(product).verdict == "cited"
    assert "From memory, with no document read: a.x; b.y." in plant(product).reason
    partly = spec(296, key="a.x") / spec(2, "recalled", "b.y", "")
    assert plant(partly).verdict == "reproduced"
    assert plant(partly).reason.endswith("no document read: b.y.")


REFUSED = [
    (lambda: Quantity(3, "ms") * 1, RIDGE, UnitError, "ms"),
    (lambda: 148.0, RIDGE, TypeError, r"148\.0"),
    (
        lambda: Finding(guess(900), then=guess(148)),
        RIDGE,
        ValueError,
        "go together",
    ),
    (lambda: Quantity(1), "matmul-small-bound", ValueError, "not a number"),
]


@pytest.mark.rows(("check", "id", "error", "says"), REFUSED)
def test_what_cannot_be_judged_is_refused_and_leaves_its_row_open(
    check, id, error, says
):
    with pytest.raises(error, match=says) as caught:
        plant(check(), id)
    row = judge(ledger.get(id), check)
    assert (row.verdict, row.computed, row.ratio) == ("open", None, None)
    assert row.why == f"Its check fails: {error.__name__}: {caught.value}"
    assert leaf_faults(row) == [f"{id}: its check fails: {row.failure}"]


def test_a_check_that_raises_leaves_its_row_open_with_the_reason():
    row = judge(ledger.get(RIDGE), lambda: 1 / 0)
    assert row.verdict == "open"
    assert row.why == "Its check fails: ZeroDivisionError: division by zero"
    assert "division by zero" in leaf_faults(row)[0]


def test_a_claim_that_is_not_a_number_may_be_left_open():
    assert not ledger.get("matmul-small-bound").is_number
    found = Finding.open("Chapter 4 measures it.")
    assert plant(found, "matmul-small-bound").verdict == "open"
    assert plant(Finding.cited("A paper."), "matmul-small-bound").verdict == "cited"


def test_a_row_without_a_check_is_cited_or_open_and_says_what_would_settle_it():
    for one in ledger.load():
        row, source = judge(one, None), ledger.sources().get(one.id)
        assert row.verdict == ("cited" if source else "open")
        assert (source or one.how) in row.why
        assert row.computed is None and row.ratio is None
    unnamed = judge(ledger.get("openai-cerebras-deal"), None)
    assert unnamed.claim.first_verdict == "external" and unnamed.verdict == "open"
    assert unnamed.why.startswith("No document is named. To settle it: ")


def test_the_first_review_is_told_apart_and_only_where_it_differs():
    judgement = plant(guess(148 * 1.5) * 1)
    assert (judgement.claim.first_verdict, judgement.verdict) == ("wrong", "close")
    assert judgement.first_review == "A first review called it wrong."
    assert judgement.first_review not in judgement.why
    assert plant(guess(1e6) * 1).first_review == ""
    # its words for what no model settles are ours in other words
    assert judge(ledger.get("fa3-740"), None).first_review == ""
    assert judge(ledger.get("paradigm-3-5-years"), None).first_review == ""
    unnamed = judge(ledger.get("openai-cerebras-deal"), None)
    assert unnamed.first_review.endswith("cited.")


def test_a_judgement_is_json():
    found = plant(Finding(guess(300), "Why.", guess(148), condition="x"))
    told = json.loads(json.dumps(found.as_dict()))
    assert told["computed"]["unit"] == "FLOP/B"
    assert (told["condition"], told["why"]) == ("x", "Why.")
    assert (told["then"], told["place"]) == ("148 FLOP/B", "")
    row = json.loads(json.dumps(found.row))
    assert (row["computed"], row["why"]) == (
        "300 FLOP/B",
        "Right if x: then 148 FLOP/B. Why.",
    )


# -- leaf walk ----------------------------------------------------------------


def test_a_check_without_a_leaf_is_caught():
    (fault,) = leaf_faults(plant(Quantity(150, "FLOP/B")))
    assert "no leaf" in fault and RIDGE in fault


@pytest.mark.rows("kind", ["constant", "chosen", "assumed", "spec", "measured"])
def test_a_literal_equal_to_its_own_claim_is_caught(kind):
    made = Quantity(148, "FLOP/B", label="a number I like", key="s")
    literal = _make(made, kind=kind)
    (fault,) = leaf_faults(plant(literal * 1))
    assert "claimed value itself" in fault and "a number I like" in fault


def test_the_literal_is_caught_in_another_unit_too():
    assert leaf_faults(plant(chosen(0.148, "kFLOP/B", "scaled") * 1))


def test_the_literal_is_caught_under_a_condition_too():
    honest = chosen(900, "TFLOP/s", "peak") / chosen(3, "TB/s", "bandwidth")
    found = Finding(honest, then=guess(148) * 1, condition="x")
    assert any("claimed value itself" in fault for fault in leaf_faults(plant(found)))


def test_quoting_the_claim_is_caught():
    (fault,) = leaf_faults(plant(ledger.get(RIDGE).quantity() * 1))
    assert "claimed" in fault


def test_a_size_without_a_name_is_caught():
    (fault,) = leaf_faults(plant(chosen(100, "FLOP/B") * 2))
    assert "is chosen and has no name" in fault


def test_a_bare_number_is_caught():
    bare = Quantity(300, "FLOP/B", label="a number I like")
    (fault,) = leaf_faults(plant(bare * constant("triangle")))
    assert "a number I like is bare, not one of spec, config" in fault


def test_a_tree_of_typed_numbers_is_caught():
    typed = chosen(900, "TFLOP/s", "peak") / chosen(3, "TB/s", "bandwidth")
    (fault,) = leaf_faults(plant(typed))
    assert "no leaf is a field, a measurement or a counted run" in fault
    assert leaf_faults(plant(Finding(spec(200), to=typed)))  # at either end
    assert leaf_faults(plant(typed * spec(1, key="a.x", unit="").named("x"))) == []


def test_a_product_with_one_is_caught():
    for padded in (spec(200) * 1, spec(200) / one_of("", "stack")):
        (fault,) = leaf_faults(plant(padded))
        assert "product with 1" in fault
    assert leaf_faults(plant(spec(100) * 2)) == []


def test_a_sourced_fact_may_agree_with_a_claim_about_it():
    sheet = Source("A data sheet", "page 1", "2026-11-21", "vendor")
    fact = Quantity(148, "FLOP/B", label="ridge", kind="spec", source=sheet, key="s")
    assert leaf_faults(plant(fact)) == []
