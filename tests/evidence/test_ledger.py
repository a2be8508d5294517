"""The rows of the ledger: read strictly, and shown in words."""

import csv
import re
from dataclasses import replace

import pytest

from stacklib.evidence import (
    DOCUMENTS,
    LedgerError,
    UnknownClaim,
    claims,
    ledger,
    moved,
    pins,
)

from ..rows import refusals

RIDGE = "h200-ridge"
GOOD = {
    "id": "a-claim",
    "seed": "000",
    "chapter": "1",
    "claim": "Twice as fast",
    "value": "2",
    "unit": "ratio",
    "kind": "quantity",
    "how_to_check": "divide",
    "computed": "",
    "verdict": "external",
    "why": "a datasheet says so",
}


def test_the_ledger_holds_every_claim_of_five_documents():
    found = ledger.load()
    assert len(found) == len({c.id for c in found}) >= 760
    assert {c.source for c in found} == set(DOCUMENTS)
    assert {c.chapter for c in found} == set(range(1, 11))


def write(path, rows):
    with path.open("w", newline="") as out:
        writer = csv.DictWriter(out, ledger.COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_good_row_is_read(tmp_path):
    (claim,) = ledger.read(write(tmp_path / "c.csv", [GOOD]))
    assert claim.claimed == "2 ×" and claim.is_number


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("verdict", "plausible", "plausible"),
        ("value", "two", "two"),
        ("value", "nan", "nan"),
        ("value", "", "''"),
        ("computed", "a lot", "a lot"),
        ("seed", "005", "005"),
        ("kind", "number", "kind 'number' is not one of quantity, count"),
        ("chapter", "11", "11"),
        ("claim", " ", "claim is empty"),
        ("id", "A Claim", "A Claim"),
    ],
)
def test_a_bad_cell_is_named_with_its_row(tmp_path, column, value, says):
    rows = [{**GOOD, "id": "first"}, {**GOOD, column: value}]
    with pytest.raises(LedgerError, match=says) as caught:
        ledger.read(write(tmp_path / "c.csv", rows))
    assert "c.csv line 3" in str(caught.value)


def test_an_id_that_appears_twice_is_refused(tmp_path):
    with pytest.raises(LedgerError, match=r"line 3, 'a-claim': .*twice"):
        ledger.read(write(tmp_path / "c.csv", [GOOD, GOOD]))


def test_a_missing_column_is_refused(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("id,claim\na-claim,short\n")
    with pytest.raises(LedgerError, match="columns must be"):
        ledger.read(path)


def test_a_row_with_too_many_cells_is_refused(tmp_path):
    path = write(tmp_path / "c.csv", [GOOD])
    path.write_text(path.read_text().rstrip() + ",more\n")
    with pytest.raises(LedgerError, match="needs 11 cells"):
        ledger.read(path)


def test_a_row_that_repeats_no_claim_is_refused(tmp_path):
    row = {**GOOD, "why": "dup-of:another"}
    with pytest.raises(LedgerError, match="repeats 'another'"):
        ledger.read(write(tmp_path / "c.csv", [row]))


def test_an_unknown_claim_suggests_the_nearest():
    with pytest.raises(UnknownClaim, match="h200-ridge"):
        ledger.get("h200-rigde")


test_a_source_of_no_external_claim_is_refused = refusals(
    ({"no-such-claim": "A paper"}, "'no-such-claim' is no claim"),
    ({RIDGE: "A data sheet"}, "'h200-ridge' is no claim of verdict 'external'"),
    ({"fa3-740": " "}, "'fa3-740' names no source"),
    ({"fa3-740": 3}, "'fa3-740' names no source"),
    ({"fa3-740": "A paper (recalled)"}, "'fa3-740' rests on memory"),
    by=ledger.checked_sources,
    error=LedgerError,
)


# -- pinned ---------------------------------------------------------------------

LEDGER = (ledger.DATA / "claims.csv").read_text("utf-8")
PINS = pins.PINNED.read_text("utf-8")


def test_the_ledger_is_as_it_is_pinned():
    assert pins.fault(LEDGER, PINS) == ""


@pytest.mark.rows(
    ("old", "new"),
    [
        (",104,1e9 transistors,", ",99,1e9 transistors,"),  # a value
        ("104 billion transistors,", "99 billion transistors,"),  # the words
        ("h200-ridge,001,1,", "h200-ridge,000,1,"),  # who said it
        ("h200-ridge,001,1,", "h200-ridge,001,2,"),  # where it is judged
        (",104,1e9 transistors,count,", ",104,1e9 transistors,quantity,"),  # its kind
    ],
)
def test_a_changed_claim_is_refused_until_a_reason_stands_beside_it(old, new):
    assert LEDGER.count(old) == 1
    changed = LEDGER.replace(old, new)
    fault = pins.fault(changed, PINS)
    assert "none of that is pinned" in fault and pins.state(changed).digest in fault
    assert (
        pins.fault(changed, pins.with_pin(PINS, changed, "A page was misread.")) == ""
    )


def test_our_own_review_may_change():
    row = next(csv.DictReader(LEDGER.splitlines()))
    assert pins.fault(LEDGER.replace(row["why"], "Another word."), PINS) == ""


@pytest.mark.rows("reason", ["", "changed", "As read from the five documents."])
def test_a_pin_without_a_reason_of_its_own_is_refused(reason):
    with pytest.raises(LedgerError, match="is no reason"):
        pins.pinned(pins.with_pin(PINS, LEDGER, reason))


# -- a kind that its unit allows ---------------------------------------------------

YES_OR_NO = re.compile(r"bool|\(name\)|^(code|version|generation|basis)$|capability")
COUNTED = re.compile(
    r"^(year|.*transistors|1e3 (GPUs|cores|chips)|M chips|GPUs?.*|chips|cores|SMs|"
    r"TSVs|dies|stacks|tensor cores|schedulers|warps|threads|lanes|ports|switches|"
    r"layers|experts|all-reduces.*|x \(N-1\) steps|sectors|requests|passes.*|reads|"
    r"launches|tiles|elements|values|variants|levels|units|ways?|fields|bits?|digits|"
    r"dim|versions|people|generations|M params|dimensions|steps|engines|ISAs|"
    r"products|instructions|conflicts|foundries|companies|channels|partitions|tokens|"
    r"MACs per side|B (params|active)|1e9 params.*)$"
)
BOUND = re.compile(
    r"\d\+|\b(over|above|below|more than|or more|and more|at least|up to|within)\b",
    re.IGNORECASE,
)
# Percentages that are of something else: a sum, and one time over another's.
NO_PART = {"token-cost-shares-sum", "naive-fp8-quant-76"}


def kind_faults(claim: ledger.Claim) -> list[str]:
    """What is wrong with a kind beside the unit, where that decides."""
    own, allowed = claim.kind, {"quantity", "range", "share"}
    if YES_OR_NO.search(claim.unit):
        allowed = {"proposition"}
    elif "exponent" in claim.unit:
        allowed = {"law"}
    elif COUNTED.search(claim.unit):
        allowed = {"count", "range"}
    if claim.ends:
        allowed &= {"range", "share"}
    else:
        allowed -= {"range"}
    if claim.unit != "percent":
        allowed -= {"share"}
    elif max(claim.ends or [claim.value]) > 50 and claim.id not in NO_PART:
        allowed = {"share"}  # a tenth of what is left is no tenth of the rest
    if BOUND.search(claim.text):
        allowed |= {"proposition"}
    wrong = f"{claim.id}: {claim.unit} is no {own}: {', '.join(sorted(allowed))}"
    return [] if own in allowed else [wrong]


def test_a_kind_is_one_that_the_unit_allows():
    assert [fault for claim in ledger.load() for fault in kind_faults(claim)] == []


@pytest.mark.rows(
    ("text", "value", "unit", "kind", "allowed"),
    [
        ("Six stacks", 6, "stacks", "quantity", "count"),  # 8 for 6 would be close
        ("Six stacks", 6, "stacks", "proposition", "count"),
        ("Built in 1989", 1989, "year", "quantity", "count"),  # 1991 would reproduce it
        ("Grows as N", 1, "exponent of N", "quantity", "law"),
        ("8 to 9 TB/s", 8, "TB/s", "quantity", "range"),
        ("8 TB/s", 8, "TB/s", "range", "quantity"),
        ("Twice", 2, "ratio", "share", "quantity"),
        ("Cut by 90%", 90, "percent", "quantity", "share"),  # 88.5 leaves 1.15 times
        ("70 to 80% of peak", 70, "percent", "range", "share"),
        ("It holds", 1, "bool", "quantity", "proposition"),
        ("30 GB", 30, "GB", "proposition", "quantity"),
    ],
)
def test_a_kind_that_would_excuse_is_named(text, value, unit, kind, allowed):
    claim = replace(
        ledger.load()[0], text=text, value=value, unit=unit, kind=kind, meant=""
    )
    (fault,) = kind_faults(claim)
    assert fault.endswith(f"{unit} is no {kind}: {allowed}")


# -- words that moved ------------------------------------------------------------


def test_a_former_word_is_of_a_claim_and_stands_once():
    for text, says in (
        ('close = "no-such-id"', "1 times"),
        ('close = "h200-ridge h200-ridge"', "2 times"),
    ):
        with pytest.raises(LedgerError, match=says):
            moved.read(text)


# -- what a reader sees of a row ----------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "unit", "shown"),
    [
        ("Twice", "2", "ratio", "2 ×"),
        ("Growth", "3", "ratio per 2 years", "3 × per 2 years"),
        ("Growth", "40", "ratio/yr", "40 × a year"),
        ("A to B (value = low end)", "10", "percent", "10 % (low end)"),
        ("It takes 10-1,000 ms (value = low end)", "10", "ms", "10 to 1,000 ms"),
        ("Shipped in 2025 to 2026", "2026", "year", "2025 to 2026"),
        ("It holds (value 1 = yes)", "1", "boolean", "yes"),
        ("It holds", "0", "bool", "no"),
        ("Dated", "2025.25", "year", "2025.25"),
        ("Big", "208", "1e9 transistors", "208 billion transistors"),
        ("Dear", "100", "MUSD", "100 million USD"),
        ("Small", "27", "B params", "27 billion parameters"),
        ("Named", "4", "nm (name)", "4 nm"),
        ("Nothing", "0", "speedup", "0 gain"),
    ],
)
def test_a_claimed_value_is_shown_in_words(tmp_path, text, value, unit, shown):
    row = {**GOOD, "claim": text, "value": value, "unit": unit}
    (claim,) = ledger.read(write(tmp_path / "c.csv", [row]))
    assert claim.claimed == shown and "(value" not in claim.text


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [("1", "cycles", "1 cycle"), ("208", "1e9 transistors", "208 billion transistors")],
)
def test_a_value_of_ours_is_told_in_the_unit_of_the_claim(tmp_path, value, unit, shown):
    row = {**GOOD, "value": value, "unit": unit}
    (claim,) = ledger.read(write(tmp_path / "c.csv", [row]))
    assert claim.in_words(claim.quantity()) == shown


def test_the_shorthand_of_the_review_is_not_shown(tmp_path):
    rows = [
        GOOD,
        {
            **GOOD,
            "id": "b",
            "how_to_check": "Seed 001 / seed 002",
            "why": "As seed 003 says. dup-of:a-claim",
        },
    ]
    _, claim = ledger.read(write(tmp_path / "c.csv", rows))
    whole, posts, basics = (DOCUMENTS[number] for number in ("001", "002", "003"))
    assert claim.how == f"“{whole}” / “{posts}”"
    assert claim.first_why == f"As “{basics}” says." and claim.same_as == "a-claim"
    for row in claims({}):  # without checks, the reasons are the ledger's own words
        shown = str(row.row).lower()
        assert not any(
            shorthand in shown
            for shorthand in ("dup-of", "(value =", "(value 1", "seed 00")
        )
