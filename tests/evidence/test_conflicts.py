"""What tables got wrong: every row has a cause and a number that is computed."""

import csv
import re
from dataclasses import replace

import pytest

from stacklib import hardware
from stacklib.evidence import conflicts
from stacklib.evidence.conflicts import checks, ledger
from stacklib.evidence.conflicts.verdict import Ruling
from stacklib.quantity import Quantity
from stacklib.quantity.core import _make

IDS = [row.id for row in conflicts.load()]
# Words, not numbers: nothing can be computed.
WITHOUT_A_NUMBER = {"ai5", "cpx"}


def test_every_row_of_the_draft_is_here_and_has_a_cause():
    assert len(IDS) == 66
    used = {row.cause for row in conflicts.load()}
    assert used <= set(conflicts.CAUSES)
    assert set(checks.CHECKS) == set(IDS) - WITHOUT_A_NUMBER


@pytest.mark.rows("id", IDS)
def test_a_ruling_stands_on_published_figures_and_meets_its_sources(id):
    assert conflicts.ruling_faults(conflicts.rule(id)) == []


@pytest.mark.rows("id", IDS)
def test_a_row_has_its_texts(id):
    row = conflicts.get(id)
    assert row.why.endswith(".") and row.source.strip() and row.correct.strip()
    assert (row.value is None) == (id in WITHOUT_A_NUMBER)
    assert set(row.devices) <= set(hardware.names())


def test_a_row_ruled_right_that_is_not_only_rounded_has_no_other_cause():
    for row in conflicts.load():
        if row.cause == "right":
            assert row.verdict == "right"


def test_the_rows_for_a_page_are_plain():
    rows = conflicts.rows()
    assert len(rows) == 66
    (link,) = (row for row in rows if row["id"] == "nvlink5")
    assert link["computed"] == "900 GB/s per direction"
    assert (
        link["quantity"].tree()["formula"] and link["cause"] == "one-way vs both ways"
    )
    (ai5,) = (row for row in rows if row["id"] == "ai5")
    assert (ai5["computed"], ai5["quantity"], ai5["gap"]) == ("", None, None)


def test_rows_can_be_chosen():
    sparse = conflicts.rows(cause="sparse vs dense")
    assert sparse and {row["cause"] for row in sparse} == {"sparse vs dense"}
    wrong = conflicts.rows(verdict="wrong")
    assert wrong and {row["verdict"] for row in wrong} == {"wrong"}
    with pytest.raises(ValueError, match="no cause 'bad luck'"):
        conflicts.rows(cause="bad luck")
    with pytest.raises(ValueError, match="no verdict 'maybe'"):
        conflicts.rows(verdict="maybe")


def test_an_unknown_conflict_names_the_nearest():
    with pytest.raises(conflicts.UnknownConflict, match="nvlink5"):
        conflicts.get("nvlink55")


# ---- planted faults ----


def ruling(computed: Quantity, **changes) -> Ruling:
    row = replace(conflicts.get("h100_fp8"), **changes)
    return Ruling(row, computed, computed.si / row.quantity().si - 1)


def test_a_number_that_moved_must_be_explained():
    half = hardware.get("h100_sxm").peak("bf16")
    (fault,) = conflicts.ruling_faults(ruling(half))
    assert "-50.0%" in fault and "explain it" in fault
    assert conflicts.ruling_faults(ruling(half, explained="it is FP16")) == []


def test_an_explanation_of_no_gap_is_a_fault():
    whole = hardware.get("h100_sxm").peak("fp8")
    (fault,) = conflicts.ruling_faults(ruling(whole, explained="something"))
    assert "which is none" in fault


def test_a_typed_answer_is_a_fault():
    typed = Quantity(1978.9, "TFLOP/s dense")
    faults = conflicts.ruling_faults(ruling(typed))
    assert any("has a unit and no source" in fault for fault in faults)
    assert any("no leaf is a published figure" in fault for fault in faults)


def test_a_named_answer_is_a_fault_too():
    named = Quantity(1978.9, "TFLOP/s dense", label="peak")
    named = _make(named, kind="constant")
    faults = conflicts.ruling_faults(ruling(named))
    assert any("is the stated value itself" in fault for fault in faults)


def test_the_answer_as_a_plain_factor_is_a_fault():
    row = replace(conflicts.get("b200_sms"), value=148.0)
    one = hardware.get("b200_sxm").compute_units
    built = one / one * 148
    (fault,) = conflicts.ruling_faults(Ruling(row, built, 0.0))
    assert "is the stated value itself" in fault


def test_a_value_without_a_check_is_a_fault():
    row = replace(conflicts.get("ai5"), value=144.0, unit="GB")
    (fault,) = conflicts.ruling_faults(Ruling(row, None, None))
    assert "a value and no check" in fault


FAULTS = {
    "verdict 'maybe'": {"verdict": "maybe"},
    "cause 'bad luck'": {"cause": "bad luck"},
    "confidence 'sure'": {"confidence": "sure"},
    "value 'many'": {"value": "many"},
    "value '-1'": {"value": "-1"},
    "why is empty": {"why": " "},
    "source is empty": {"source": ""},
    "id 'Big Chip'": {"id": "Big Chip"},
    "ambiguous": {"unit": "TFLOPS"},
    "needs the verdict 'right'": {"cause": "right", "verdict": "wrong"},
}


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ledger.COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


def row_of(id: str) -> dict:
    row = conflicts.get(id)
    cells = {name: getattr(row, name) for name in ledger.COLUMNS}
    return {**cells, "devices": " ".join(row.devices)}


@pytest.mark.parametrize("message, change", FAULTS.items(), ids=FAULTS.keys())
def test_a_faulty_row_is_refused_naming_it(tmp_path, message, change):
    path = write(tmp_path / "c.csv", [{**row_of("h100_fp8"), **change}])
    with pytest.raises(conflicts.ConflictError, match=re.escape(message)) as caught:
        conflicts.read(path)
    assert "line 2" in str(caught.value)


def test_a_repeated_id_and_a_missing_column_are_refused(tmp_path):
    row = row_of("h100_fp8")
    with pytest.raises(conflicts.ConflictError, match="appears twice"):
        conflicts.read(write(tmp_path / "c.csv", [row, row]))
    (tmp_path / "d.csv").write_text("id,item\na,b\n")
    with pytest.raises(conflicts.ConflictError, match="columns must be"):
        conflicts.read(tmp_path / "d.csv")
    (tmp_path / "e.csv").write_text(",".join(ledger.COLUMNS) + "\na,b\n")
    with pytest.raises(conflicts.ConflictError, match="needs 13 cells"):
        conflicts.read(tmp_path / "e.csv")
