"""Verdicts and the leaf walk, each with planted faults."""

import json
from types import ModuleType

import pytest

from stacklib.evidence import Finding, claim, leaf_faults, ledger
from stacklib.evidence.checks import carried
from stacklib.evidence.judge import judge, judged
from stacklib.evidence.kinds import KINDS, Number
from stacklib.quantity import (
    Quantity,
    Source,
    UnitError,
    chosen,
    constant,
    maximum,
)

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
        (148 * 1.10001, "close"),  # a hair beyond a bound: none may grow
        (148 * 1.5, "close"),
        (148 / 1.5, "close"),
        (148 * 1.50001, "wrong"),
        (148 / 1.50001, "wrong"),
        (148 * 2, "wrong"),
        (-148, "wrong"),
    ],
)
def test_the_ratio_decides_a_quantity(ours, verdict):
    judgement = plant(guess(ours) * 1)
    assert judgement.verdict == verdict
    assert judgement.ratio == pytest.approx(ours / 148)


@pytest.mark.rows(
    ("kind", "ours", "claimed", "word", "ratio"),
    [
        ("count", [8], [6], "wrong", 8 / 6),  # never close
        ("count", [592], [576], "wrong", 592 / 576),  # within 3 %
        ("count", [131.4], [131], "reproduced", 131.4 / 131),  # divided out
        ("count", [132.6], [132], "wrong", 132.6 / 132),
        ("law", [1.1], [1], "reproduced", 1.1),
        ("law", [1.10001], [1], "wrong", 1.10001),
        ("law", [2], [1], "wrong", 2),
        ("law", [0], [1], "wrong", 0),
        ("share", [99.64], [97], "wrong", 0.12),  # 3 % of work against .36
        ("share", [99.45], [99.4], "reproduced", 0.55 / 0.6),
        ("share", [0.36], [0.34], "reproduced", 0.36 / 0.34),
        ("share", [85, 99.6], [97, 99], "wrong", 5),
        ("share", [100], [100], "reproduced", None),
        ("share", [99.9], [100], "wrong", None),
        ("range", [28, 39], [28, 39], "reproduced", 1),
        ("range", [5], [1, 10], "wrong", 5),  # inside is no agreement
        ("range", [28, 60], [28, 39], "wrong", 60 / 39),
        ("range", [39, 28], [28, 39], "reproduced", 1),  # in either order
        ("quantity", [148, 300], [148], "wrong", 300 / 148),
        ("quantity", [0], [0], "reproduced", None),
        ("quantity", [1e-9], [0], "wrong", None),
    ],
)
def test_each_kind_has_its_rule(kind, ours, claimed, word, ratio):
    said, found = KINDS[kind].judge(ours, [Number(value) for value in claimed])
    assert said == word
    assert found is ratio if ratio is None else found == pytest.approx(ratio)


@pytest.mark.rows(
    ("value", "digits", "ours", "prints"),
    [
        (300, 1, 320, True),
        (300, 1, 336, False),  # over a tenth, whatever the digits say
        (3.9, 2, 3.92, True),
        (128, 3, 128.6, False),
        (10, 1, 14, False),
    ],
)
def test_a_number_is_printed_to_its_digits(value, digits, ours, prints):
    assert Number(value, digits).prints(ours) is prints


def test_sources_that_differ_are_a_conflict_with_both_ratios():
    def found(one, other):
        return plant(
            Finding(guess(one), to=guess(other), why="Two.", verdict="conflict")
        )

    row = found(150, 900)
    assert (row.verdict, row.ratio) == ("conflict", pytest.approx(900 / 148))
    assert "Over the claimed figure: 1.01 and 6.08." in row.reason
    assert found(900, 1800).verdict == "wrong"  # both refute it
    assert found(148, 150).verdict == "reproduced"
    with pytest.raises(ValueError, match="give to="):
        Finding(guess(148), why="One.", verdict="conflict")


def convention(name, stated, ours=74):
    return Finding(guess(ours), convention=name, stated=stated)


def test_a_factor_of_two_is_another_convention_only_if_stated():
    assert plant(guess(74)).verdict == "wrong"
    row = plant(convention("sparse", "the data sheet"))
    assert (row.verdict, row.ratio) == ("other convention", 0.5)
    assert row.reason == "The claim counts otherwise (sparse), as the data sheet does."
    assert plant(convention("sparse", "x", 148 * 2.03)).verdict == "other convention"
    for ours, far in ((145, "0.98"), (148 * 2.0401, "2.04")):
        with pytest.raises(ValueError, match=f"sparse is off by two, not {far}"):
            plant(convention("sparse", "x", ours))
    for name, stated, says in (
        ("a slip", "x", "no convention 'a slip': both directions"),
        ("sparse", " ", "go together"),
        ("", "x", "go together"),
    ):
        with pytest.raises(ValueError, match=says):
            convention(name, stated)


@pytest.mark.rows("verdict", ["reproduced", "close", "wrong", "fine"])
def test_a_check_may_not_choose_its_verdict(verdict):
    with pytest.raises(ValueError, match="the rule of its kind"):
        Finding(guess(148), why="x", verdict=verdict)


@pytest.mark.rows(
    ("ours", "then", "verdict"),
    [
        (900, 148, "right if"),
        (900, 148 * 1.11, "wrong"),  # a condition that does not hold helps nobody
        (900, 800, "wrong"),
        (200, 148, "close"),  # within 1.5, without exception
        (200, 800, "close"),
        (148, 800, "reproduced"),
    ],
)
def test_a_condition_makes_right_only_what_is_wrong(ours, then, verdict):
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
    ("ours", "to", "verdict"),
    [
        (1, 10, "reproduced"),
        (0.9, 11, "reproduced"),
        (0.7, 10, "close"),
        (5, None, "wrong"),  # one number is no range
        (1, 43, "wrong"),  # one end alone would be reproduced
        (43, 1, "wrong"),  # in either order
        (0.2, 0.4, "wrong"),
    ],
)
def test_both_ends_of_a_range_are_judged_and_shown(ours, to, verdict):
    other = None if to is None else guess(to)
    row = plant(Finding(guess(ours), to=other), WIDE)
    assert row.verdict == verdict
    assert row.claim.claimed == "1 to 10 FLOP/B"
    ends = sorted({ours, to} - {None})
    assert row.computed_text == " to ".join(f"{end:g} FLOP/B" for end in ends)


def test_a_range_of_ours_is_held_to_one_number_at_both_ends():
    assert plant(Finding(guess(148), to=guess(600))).verdict == "wrong"


def test_a_condition_has_two_ends_where_the_claim_has():
    ends = {"then": guess(1), "then_to": guess(10)}
    row = plant(Finding(guess(1), to=guess(43), condition="x", **ends), WIDE)
    assert row.verdict == "right if" and "then 1 FLOP/B to 10 FLOP/B" in row.reason
    one = Finding(guess(1), to=guess(43), condition="x", then=guess(1))
    assert plant(one, WIDE).verdict == "wrong"


# -- propositions ---------------------------------------------------------------

YES = "matmul-small-bound"


def test_a_proposition_is_true_false_or_depends_and_has_its_ground():
    assert plant(Finding.true("Source: a paper."), YES).verdict == "true"
    row = plant(Finding.false("Counted.", guess(9).named("rows")), YES)
    assert (row.verdict, row.ratio) == ("false", None)
    assert row.computed_text == "rows: 9 FLOP/B"
    row = plant(Finding.depends("it is large", "Source: a paper."), YES)
    assert (row.verdict, row.why) == (
        "depends",
        "It holds if it is large. Source: a paper.",
    )


@pytest.mark.rows(
    ("make", "says"),
    [
        (lambda: Finding.true("We know."), "name the document"),
        (lambda: Finding.cited("Everybody says so."), "name the document"),
        (lambda: Finding.cited("Source: a firm (recalled)."), "not our memory"),
        (lambda: Finding.open("Nobody knows."), "what would settle it"),
        (lambda: plant(Finding.true("Source: a paper.")), "is no ratio"),
        (lambda: plant(Finding.cited("Source: a paper."), YES), "true, false"),
        (lambda: plant(guess(1), YES), "true, false, depends or open"),
    ],
)
def test_a_word_without_ground_or_of_another_kind_is_refused(make, says):
    with pytest.raises(ValueError, match=says):
        make()


# -- looked up, read back, from memory ------------------------------------------


def spec(value, confidence="vendor", key="chip.ridge", unit="FLOP/B"):
    sheet = Source("A data sheet", "page 1", "2026-11-21", confidence)
    return Quantity(value, unit, label=key, kind="spec", source=sheet, key=key)


def test_a_look_up_agrees_with_its_source_and_names_it():
    for looked in (
        spec(148),
        spec(148.2).to("kFLOP/B"),
        spec(74) * constant("multiply_add").retag("dense").si,
        maximum(spec(148), spec(20, key="other.ridge")),
    ):
        row = plant(looked)
        assert row.verdict == "agrees with its source"
        assert row.reason == "Not computed: A data sheet."
    assert plant(spec(155)).verdict == "reproduced"  # it prints another number
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


@pytest.mark.rows("ours", [148, 190, 900])
def test_a_recalled_figure_leaves_its_claim_open_and_refutes_none(ours):
    row = plant(spec(ours, "recalled"))
    assert row.verdict == "open" and row.reason.endswith("a document that prints it.")


def test_a_figure_partly_recalled_says_of_what():
    product = spec(296, "recalled", "a.x") / spec(2, "recalled", "b.y", "")
    assert plant(product).verdict == "open"
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
    (lambda: Quantity(1), YES, ValueError, "a proposition"),
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
    judgement = plant(guess(148 * 1.4) * 1)
    assert (judgement.claim.first_verdict, judgement.verdict) == ("wrong", "close")
    assert judgement.first_review == "A first review called it wrong."
    assert judgement.first_review not in judgement.why
    assert plant(guess(1e6) * 1).first_review == ""
    # its words for what no model settles are ours in other words
    assert judge(ledger.get("tma-dimensions"), None).first_review == ""
    assert judge(ledger.get("paradigm-3-5-years"), None).first_review == ""
    unnamed = judge(ledger.get("openai-cerebras-deal"), None)
    assert unnamed.first_review.endswith("cited.")


def test_a_judgement_is_json():
    found = plant(Finding(guess(300), "Why.", guess(148), condition="x"))
    told = json.loads(json.dumps(found.as_dict()))
    assert told["computed"]["unit"] == "FLOP/B"
    assert (told["condition"], told["why"]) == ("x", "Why.")
    assert (told["then"], told["kind"]) == ("148 FLOP/B", "quantity")
    row = json.loads(json.dumps(found.row))
    assert (row["computed"], row["why"]) == (
        "300 FLOP/B",
        "Right if x: then 148 FLOP/B. Why.",
    )
