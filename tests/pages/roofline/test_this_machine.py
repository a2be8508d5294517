"""The book's machine: levels, widths and copies, joined with their predictions."""

import pytest
from _tools import said

from stacklib.evidence import results
from stacklib.pages.roofline.this_machine import machine

SAID = said.index(said.cells())
NAMES = [name for name in SAID if name.startswith("machine.")]


def test_every_reported_cache_has_a_row_and_memory_is_last():
    for threads in (1, machine.cores()):
        rows = machine.level_rows(threads)
        assert [r.level for r in rows[:-1]] == [f"L{c.level}" for c in machine.caches()]
        assert rows[-1].level == "memory" and rows[-1].rate is not None


def test_levels_get_slower_outwards():
    rates = [r.rate.si for r in machine.level_rows(1) if r.rate]
    assert rates == sorted(rates, reverse=True) and len(rates) >= 3


def test_a_level_that_was_not_found_has_no_rate(monkeypatch):
    *_, last = machine.levels(1)
    monkeypatch.setattr(machine, "levels", lambda threads: (last,))
    rows = machine.level_rows(1)
    assert all(r.found is r.ratio is r.rate is None for r in rows[:-1])
    table = machine.level_table(1)
    assert table[0]["reported"].endswith("KiB") and table[0]["found"] is None


def test_every_quantity_stands_on_a_result_file():
    for q in (
        machine.memory_rate("copy"),
        machine.seconds("dot-python"),
        machine.level_rows(1)[0].found,
    ):
        leaves = [x for x in q.leaves() if x.kind != "constant"]
        assert leaves and all("benchmarks/results" in x.source.title for x in leaves)
        assert all(x.kind == "measured" and x.key for x in leaves)


def test_what_is_read_is_what_was_found_in_the_curve():
    *inner, last = machine.levels(1)
    rows = [row for row in machine.level_rows(1) if row.rate is not None]
    found = [row.found.si for row in rows if row.found is not None]
    assert found == pytest.approx([level.ends for level in inner if level.ends])
    assert [row.rate.si for row in rows] == pytest.approx(
        [level.rate for level in (*inner, last)]
    )


def test_ways_are_sorted_and_start_with_the_slowest():
    for op in ("dot", "matmul"):
        rows = machine.case_rows(op)
        assert rows[0].faster.si == pytest.approx(1) and "Python" in rows[0].how
        seen = [r.measured.si for r in rows]
        assert seen == sorted(seen, reverse=True)


def test_what_was_not_predicted_says_so():
    assert machine.predicted("dot-python") is None
    assert machine.predicted("dot-blas").si > 0


def test_copies_and_peaks_have_rates():
    assert machine.copy_rows()[0].what == "the C library's"
    for row in (*machine.copy_rows(), *machine.peak_rows()):
        assert row.rate.si > 1e9


def test_a_case_that_was_not_run_is_named():
    with pytest.raises(results.ResultError, match="no case 'dot-abacus'"):
        machine.seconds("dot-abacus")


def test_a_result_that_is_not_there_says_how_to_make_it(monkeypatch):
    monkeypatch.setattr(results, "load", lambda name: None)
    machine.result.cache_clear()
    with pytest.raises(results.ResultError, match="measure with `make bench`"):
        machine.result("host_levels")


@pytest.mark.rows("name", NAMES)
def test_every_number_of_the_section_is_a_positive_quantity(name):
    assert SAID[name].quantity.si > 0 and SAID[name].text


def test_predicted_numbers_do_not_follow_the_measurement():
    assert SAID["machine.past_predicted"].quantity.si == pytest.approx(1.5)
