"""Tables: one unit a column, few digits, known to the guard."""

from dataclasses import dataclass

import pytest

from stacklib import hardware, plots
from stacklib.evidence import guard
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity, UnitError, chosen

from ..rows import refusals


def show(rows, **options):
    return plots.table(rows, name="planted", caption="A <caption>.", **options)


def ms(value):
    return chosen(value, "ms")


def test_a_column_is_shown_in_the_unit_of_its_header():
    found = show([{"t": ms(21.08)}, {"t": chosen(9, "µs")}], units={"t": "ms"})
    assert list(found.frame.columns) == ["t (ms)"]
    assert found.frame["t (ms)"].tolist() == ["21.08", "0.009"]


def test_without_a_unit_the_first_quantity_chooses():
    assert list(show([{"t": chosen(0.021, "s")}]).frame.columns) == ["t (ms)"]


def test_no_float_prints_more_than_four_digits():
    found = show([{"a": 1 / 3, "b": ms(12345.678), "c": 70_553_706_496}])
    assert found.frame.iloc[0].tolist() == ["0.3333", "12,350", "70553706496"]


test_a_column_that_mixes_units_is_refused = refusals(
    (chosen(1, "GB"), "t"),
    (7, "mixes quantities with 7"),
    (7.0, "mixes quantities with 7.0"),
    ("fast", "mixes quantities with 'fast'"),
    by=lambda other: show([{"t": ms(1)}, {"t": other}]),
    error=UnitError,
)


def test_rates_at_two_clocks_stand_side_by_side():
    rates = [
        chosen(1, "TB/s per_chip"),
        chosen(1, "TB/s @1980MHz per_chip"),
        chosen(2, "TB/s @1410MHz per_chip"),
    ]
    assert show([{"r": r} for r in rates]).frame["r (TB/s)"].tolist() == ["1", "1", "2"]


def test_a_column_that_mixes_bases_is_refused():
    rows = [
        {"r": chosen(1, "GB/s per_direction")},
        {"r": chosen(1, "GB/s bidirectional")},
    ]
    with pytest.raises(UnitError, match="mixes"):
        show(rows)


def test_html_has_header_scopes_escapes_and_text_on_the_left():
    html = show([{"chip": "<b>", "t": ms(1), "fits": True}]).html
    assert html.startswith('<div class="st-table" id="tab-planted" role="region"')
    assert "<caption>A &lt;caption&gt;.</caption>" in html
    assert '<th scope="row" class="st-text">&lt;b&gt;</th><td>1</td>' in html
    assert '<td class="st-text">yes</td>' in html
    assert '<th scope="col">t (ms)</th>' in html


def test_a_dataclass_is_a_row_and_none_a_dash():
    @dataclass
    class Result:
        name: str
        time: Quantity | None

    found = show([Result("a", ms(1)), Result("b", None)])
    assert found.frame["time (ms)"].tolist() == ["1", "–"]


def test_a_column_of_devices_tells_the_guard():
    chip = hardware.get("rtx-4090")
    found = show([{"Device": chip, "rate": chosen(1, "PFLOP/s")}], dtype="bf16")
    assert found.entry["rows"][0]["device"] == "rtx_4090"
    assert "RTX 4090" in found.html
    (fault,) = guard.faults([found.entry])
    assert "table planted, row RTX 4090" in fault and "PFLOP/s" in fault


def test_what_does_not_fit_must_not_be_timed():
    rows = [{"chip": "a", "t": ms(1)}, {"chip": "b", "t": ms(2)}]
    found = show(rows, feasible=[True, False], device="none: a test")
    (fault,) = guard.faults([found.entry])
    assert "row b" in fault and "does not fit" in fault


def test_roles_reach_the_guard():
    rows = [{"need": chosen(90, "GB")}]
    found = show(rows, roles={"need": "resident"}, device="h100_sxm")
    assert "capacity" in guard.faults([found.entry])[0]


def test_the_bundle_is_deterministic():
    rows = [{"a": "x", "t": ms(1)}]
    first, second = show(rows), show(rows)
    assert first._repr_mimebundle_() == second._repr_mimebundle_()
    assert {"text/html", "text/plain", guard.MIME} == set(first._repr_mimebundle_())


test_a_bad_table_is_refused = refusals(
    ([], {}, "needs rows"),
    ([{"a": 1}, {"b": 1}], {}, "differ"),
    ([{"a": 1}], {"digits": 5}, "digits=5"),
    ([{"a": 1}], {"units": {"b": "ms"}}, "no column 'b'"),
    ([{"a": 1}], {"roles": {"b": "link"}}, "no column 'b'"),
    ([{"a": 1}], {"chips": [1, 2]}, "2 values for 1 rows"),
    ([{"a": 1}], {"colour": "red"}, "colour"),
    ([7], {}, "not 7"),
    by=lambda rows, options: show(rows, **options),
    error=plots.SpecError,
)


def test_a_typed_number_is_refused_with_its_label_wherever_it_stands():
    typed = Quantity(421.7, "ns", label="latency")
    says = r"latency = 422 ns: a typed number; say what it is with chosen\(\)"
    for found in (typed, 2 * typed, ms(1) + 2 * typed):
        with pytest.raises(ValueError, match=f"column 't': {says}"):
            show([{"t": ms(1)}, {"t": found}])
        with pytest.raises(ValueError, match=f"readout 't': {says}"):
            readout("t", "Time", found)
