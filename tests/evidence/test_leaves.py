"""The leaf walk: planted faults in what a check stands on."""

import pytest

from stacklib.evidence import Finding, leaf_faults, ledger
from stacklib.quantity import (
    Quantity,
    Source,
    assumed,
    chosen,
    constant,
    minimum,
    one_of,
)
from stacklib.quantity.core import _make

from .test_judge import RIDGE, guess, plant, spec


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


def quote(value, key, unit="", title="A blog"):
    source = Source(title, "line 3", "2026-11-28", "secondary")
    return Quantity(value, unit, label="it", kind="claimed", source=source, key=key)


RIDGE_OF_OURS = spec(206, key="chip.ridge")
FITTED = [
    (RIDGE_OF_OURS * chosen(0.7182, label="software"), "software = 0.7182"),
    (RIDGE_OF_OURS * assumed(0.7182, "", "share", why="It is so."), "share = 0.7182"),
    (RIDGE_OF_OURS * 0.7182, "0.7182"),
    (RIDGE_OF_OURS / chosen(1.39, label="x"), "x = 1.39"),
    (
        RIDGE_OF_OURS * chosen(7182, label="a") / chosen(10_000, label="b"),
        "a and b = 0.7182",
    ),
    (RIDGE_OF_OURS * chosen(72, "%", "at work"), "at work = 0.72"),
    (
        RIDGE_OF_OURS * (chosen(718, "MB", "used") / chosen(1, "GB", "of")),
        "used and of = 0.718",
    ),
    (RIDGE_OF_OURS * (one_of("GB") / one_of("GiB")), "a unit = 0.931323"),
    (minimum(RIDGE_OF_OURS, chosen(150.5, "FLOP/B", "cap")), "cap = 150.5"),
    ((spec(0, key="a.b") + RIDGE_OF_OURS * chosen(0.7, label="x")) * 2, "x = 0.7"),
    (RIDGE_OF_OURS - chosen(58, "FLOP/B", "overhead"), "overhead is typed and added"),
    (quote(148, "A blog.it", "FLOP/B"), "it is quoted on the spot"),
    (
        quote(296, "quotes/a", "FLOP/B") / quote(2, "quotes/b"),
        "figures of one document, A blog",
    ),
]


@pytest.mark.rows(("tree", "says"), FITTED)
def test_a_number_made_to_fit_may_not_decide(tree, says):
    (fault,) = leaf_faults(plant(tree))
    assert says in fault


@pytest.mark.rows(
    "tree",
    [
        RIDGE_OF_OURS * chosen(3, label="chips") / chosen(4, label="of"),
        RIDGE_OF_OURS * chosen(7182, label="a") / 10_000,
    ],
)
def test_a_fraction_of_whole_numbers_is_no_count(tree):
    assert len(leaf_faults(plant(tree))) == 1


@pytest.mark.rows(
    "tree",
    [
        RIDGE_OF_OURS / chosen(2, label="chips"),
        RIDGE_OF_OURS * chosen(8, label="chips") * 0.125,
        quote(148, "quotes/ridge", "FLOP/B"),
        quote(296, "quotes/a", "FLOP/B") / quote(2, "quotes/b", title="A paper"),
    ],
)
def test_what_counts_things_or_has_a_record_may_stand(tree):
    assert leaf_faults(plant(tree)) == []


def test_figures_of_one_document_may_refute_and_its_own_may_but_agree():
    assert leaf_faults(plant(quote(900, "quotes/a", "FLOP/B") / quote(2, "q"))) == []
    own = ledger.get(RIDGE).source
    one, two = (quote(n, f"quotes/{n}", "FLOP/B", own) for n in (70, 78))
    row = plant(one + two)
    assert (row.verdict, leaf_faults(row)) == ("agrees with its source", [])
    assert row.reason.startswith(f"It follows from figures of {ledger.titled(own)}")
    assert plant(one + quote(78, "quotes/b", "FLOP/B")).verdict == "reproduced"
    (fault,) = leaf_faults(plant(quote(148, "quotes/c", "FLOP/B", own)))
    assert "it agrees with itself" in fault


@pytest.mark.rows(("many", "made"), [(1725, True), (1700, False), (4096, False)])
def test_a_condition_made_to_fit_is_caught(many, made):
    asked = spec(2**18, key="a.b", unit="FLOP/B") / chosen(many, label="tokens")
    faults = leaf_faults(plant(Finding(spec(64), then=asked, condition="x")))
    assert any("tokens = 1725: made to fit" in fault for fault in faults) is made


def test_a_payload_multiplied_back_is_the_quote_itself():
    lane = spec(157.25, key="link/x.lane_rate")
    made = Source("derived: quoted payload over line rate", "", "2026-11-28", "vendor")
    code = Quantity(16 / 17, "", label="code", kind="spec", source=made, key="l.code")
    (fault,) = leaf_faults(plant(lane * code))
    assert "code was made from the quoted payload" in fault


def test_a_sourced_fact_may_agree_with_a_claim_about_it():
    sheet = Source("A data sheet", "page 1", "2026-11-21", "vendor")
    fact = Quantity(148, "FLOP/B", label="ridge", kind="spec", source=sheet, key="s")
    assert leaf_faults(plant(fact)) == []
