"""The ledger by itself lists rows; with checks it judges those asked for."""

import json

import pytest

from stacklib.evidence import claim, claims, counted, ledger
from stacklib.evidence.checks import carried
from stacklib.quantity import chosen

RIDGE = "h200-ridge"  # chapter 1, claims 148 FLOP/B
OWN = [c.id for c in ledger.load() if c.chapter == 1]


def test_without_checks_no_row_is_judged():
    rows = claims()
    assert [row.claim for row in rows] == ledger.load()
    assert {row.verdict for row in rows} == {"not judged here"}
    assert all(row.computed is None and not row.first_review for row in rows)
    many = len(OWN)
    assert counted(claims(chapter=1)) == f"{many} claims: {many} not judged here"
    assert len(claims(chapter=1, search="ridge")) < len(OWN)
    with pytest.raises(ValueError, match="no verdict 'close': not judged here"):
        claims(verdict="close")


def test_only_what_is_asked_for_is_judged():
    asked = []

    def check():
        asked.append(1)
        return chosen(100, "FLOP/B", "a guess") * 1.5

    checks = {RIDGE: check}
    for others in ({"chapter": 2}, {"source": "003"}):
        assert all(row.claim.id != RIDGE for row in claims(checks, **others))
    assert asked == []
    (found,) = claims(checks, chapter=1, verdict="reproduced")
    assert (found.claim.id, len(asked)) == (RIDGE, 1)


def test_a_check_that_fails_is_one_open_row():
    def broken():
        raise OSError("no such file")

    rows = {row.claim.id: row for row in claims({RIDGE: broken}, chapter="1")}
    assert list(rows) == OWN
    assert rows[RIDGE].why == "Its check fails: OSError: no such file"


def test_filters_combine_and_rows_are_plain():
    checks = {RIDGE: lambda: chosen(100, "FLOP/B", "a guess") * 2}
    rows = claims(checks, chapter=1)
    assert [row.claim.id for row in rows] == OWN
    assert claims(checks, chapter="1", search="ridge", verdict="close") == [
        row for row in rows if row.claim.id == RIDGE
    ]
    assert len(json.dumps([row.row for row in rows])) > 10_000


def test_a_search_judges_only_what_it_finds():
    judged = []
    checks = {c.id: lambda id=c.id: judged.append(id) for c in ledger.load()}
    found = {row.claim.id for row in claims(checks, search="ridge", source="000")}
    assert set(judged) == found and 0 < len(found) < 30


def test_a_search_finds_rows_that_hold_every_word():
    found = claims({}, search="  JEDEC hbm4 ")
    assert {row.claim.id for row in found} == {"hbm4-jedec-date"}
    assert claims({}, search="no such words") == []
    assert counted([]) == "0 claims: none"


@pytest.mark.rows(
    "filters",
    [{"chapter": 0}, {"source": "009"}, {"verdict": "fine"}, {"search": "  "}],
)
def test_a_filter_that_cannot_match_is_refused(filters):
    with pytest.raises(ValueError, match=str(*filters.values())):
        claims({}, **filters)


def test_one_function_may_check_several_claims(tmp_path, monkeypatch):
    (tmp_path / "planted_page.py").write_text(
        "from stacklib.evidence import claim\n"
        '@claim("one", 2)\n@claim("other", 3)\n'
        "def twice(n): return 2 * n\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import planted_page

    checks = carried(planted_page)
    assert {id: check() for id, check in checks.items()} == {"one": 4, "other": 6}
    assert planted_page.twice(1) == 2
    # what a module only imports is not written in it
    planted_page.elsewhere = claim("third")(lambda: 1)
    assert set(carried(planted_page)) == {"one", "other"}
