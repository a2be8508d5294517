"""Verdicts and the leaf walk, each with planted faults."""

import json

import pytest

from stacklib.evidence import Finding, leaf_faults, ledger
from stacklib.evidence.judge import judge, judged, verdict_of
from stacklib.quantity import Quantity, Source, UnitError, chosen, constant

RIDGE = "h200-ridge"  # claims 148 FLOP/B


def plant(found, id=RIDGE):
    """The judgement of a claim whose check found this."""
    return judged(ledger.get(id), found)


def guess(value):
    return chosen(value, "FLOP/B", "a guess")


# -- verdicts -----------------------------------------------------------------


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("verdict", ["reproduced", "close", "wrong", "fine"])
def test_a_check_may_not_choose_its_verdict(verdict):
    with pytest.raises(ValueError, match="the ratio decides"):
        Finding(guess(148), why="x", verdict=verdict)


def test_a_condition_must_be_computed():
    with pytest.raises(ValueError, match="then="):
        Finding(guess(1), condition="the moon is full")


def test_a_condition_that_holds_makes_a_claim_right_if_whatever_the_ratio():
    for ours in (900, 200, 148):
        found = Finding(guess(ours) * 1, condition="x", then=guess(148) * 1)
        judgement = plant(found)
        assert judgement.verdict == "right if"
        assert judgement.reason.startswith("Right if x. ")


def test_a_condition_that_does_not_hold_is_said_and_the_ratio_decides():
    for ours, verdict in ((900, "wrong"), (200, "close")):
        found = Finding(guess(ours) * 1, condition="x", then=guess(800) * 1)
        assert plant(found).verdict == verdict
        assert plant(found).reason.startswith("Not even if x: then 800 FLOP/B. ")


RANGE = "cowos-l-pitch"  # claims 2 to 5 micrometres


@pytest.mark.parametrize(
    ("ours", "verdict", "place"),
    [
        (2, "reproduced", "Inside"),
        (4, "reproduced", "Inside"),
        (5, "reproduced", "Inside"),
        (5.1, "close", "Outside"),
        (1.9, "close", "Outside"),
        (10.1, "wrong", "Outside"),
        (0.9, "wrong", "Outside"),
    ],
)
def test_a_range_is_judged_at_both_ends(ours, verdict, place):
    pitch = chosen(ours, "µm", "a guess")
    judgement = plant((pitch + pitch) / 2, RANGE)
    assert (judgement.verdict, judgement.claim.ends) == (verdict, (2, 5))
    assert judgement.reason.startswith(f"{place} 2 to 5 um. ")
    assert judgement.claim.claimed == "2 to 5 um"


@pytest.mark.parametrize(
    ("text", "value", "ends"),
    [
        ("Wiring pitch is 2 to 5 micrometre", 2, (2, 5)),
        ("HBM3e gives 8-9 TB/s", 8.5, (8, 9)),
        ("a million 1,000 to 2,500 times", 2500, (1000, 2500)),
        ("Spill rises 32x (29 to 931 MB)", 32, None),
        ("width doubles from 16,384 to 32,768", 32768, None),
        ("the B200-12 has 5", 5, None),
        ("on 2026-11-21", 11, None),
        ("10 to 5", 7, None),
    ],
)
def test_both_ends_of_a_range_are_read(text, value, ends):
    assert ledger._ends(text, value) == ends


def fact(confidence, value=148):
    source = Source("A table", "row 1", "2026-11-21", confidence)
    return Quantity(value, "FLOP/B", label="ridge", kind="spec", source=source)


def test_what_was_looked_up_agrees_and_what_was_recalled_is_cited():
    assert plant(fact("vendor")).verdict == "agrees"
    assert plant((fact("vendor") + fact("measured")) / 2).verdict == "reproduced"
    assert plant(fact("recalled")).verdict == "cited"
    for confidence in ("vendor", "recalled"):
        assert plant(fact(confidence, 200)).verdict == "close"


REFUSED = [
    (lambda: Quantity(3, "ms") * 1, RIDGE, UnitError, "ms"),
    (lambda: 148.0, RIDGE, TypeError, r"148\.0"),
    (lambda: Quantity(1), "matmul-small-bound", ValueError, "not a number"),
]


@pytest.mark.parametrize(("check", "id", "error", "says"), REFUSED)
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
    for claim in ledger.load():
        row, source = judge(claim, None), ledger.sources().get(claim.id)
        assert row.verdict == ("cited" if source else "open")
        assert (source or claim.how) in row.why
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
    found = plant(Finding(guess(300) * 1, "Why.", "x", guess(148) * 1))
    told = json.loads(json.dumps(found.as_dict()))
    assert told["computed"]["unit"] == "FLOP/B"
    assert (told["condition"], told["why"]) == ("x", "Why.")
    row = json.loads(json.dumps(found.row))
    assert (row["computed"], row["why"]) == ("300 FLOP/B", "Right if x. Why.")


# -- leaf walk ----------------------------------------------------------------


def test_a_check_without_a_leaf_is_caught():
    (fault,) = leaf_faults(plant(Quantity(150, "FLOP/B")))
    assert "no leaf" in fault and RIDGE in fault


@pytest.mark.parametrize("kind", ["constant", "chosen", "assumed", "spec", "measured"])
def test_a_literal_equal_to_its_own_claim_is_caught(kind):
    literal = Quantity(148, "FLOP/B", label="a number I like", kind=kind)
    (fault,) = leaf_faults(plant(literal * 1))
    assert "claimed value itself" in fault and "a number I like" in fault


def test_the_literal_is_caught_in_another_unit_too():
    assert leaf_faults(plant(chosen(0.148, "kFLOP/B", "scaled") * 1))


def test_the_literal_is_caught_under_a_condition_too():
    honest = chosen(900, "TFLOP/s", "peak") / chosen(3, "TB/s", "bandwidth")
    found = Finding(honest, condition="x", then=guess(148) * 1)
    (fault,) = leaf_faults(plant(found))
    assert "claimed value itself" in fault


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


def test_a_sourced_fact_may_agree_with_a_claim_about_it():
    sheet = Source("A data sheet", "page 1", "2026-11-21", "vendor")
    fact = Quantity(148, "FLOP/B", label="ridge", kind="spec", source=sheet)
    assert leaf_faults(plant(fact)) == []
