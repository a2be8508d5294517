"""The possibility guard: one planted impossibility for each rule."""

import json
import math

import pytest

from stacklib import hardware, models, roofline
from stacklib.evidence import guard


def faults(values, **about):
    about = {"device": "h100_sxm", "dtype": "bf16", **about}
    row = guard.row("planted", values, **about)
    # As a notebook stores it: through JSON.
    stored = json.loads(json.dumps(guard.entry("table", "t", [row])))
    return guard.faults([stored])


@pytest.mark.rows(
    ("column", "value", "unit", "role", "bound"),
    [
        ("rate", 1000, "TFLOP/s", "", "989.4 TFLOP/s"),
        ("bandwidth", 3.4, "TB/s", "", "3.35 TB/s"),
        ("weights", 81, "GB", "resident", "80 GB"),
        ("busy", 101, "%", "", "100 %"),
        ("busy", 1.01, "", "share", "100 %"),
        ("count", -1, "", "", "below 0"),
        ("time", -1, "ms", "", "below 0"),
    ],
)
def test_an_impossible_value_is_named_with_its_bound(column, value, unit, role, bound):
    (fault,) = faults({column: [value, unit, role]})
    assert "table t, row planted" in fault and f"column {column}" in fault
    assert bound in fault


@pytest.mark.rows(
    ("value", "unit", "role"),
    [
        (989.4, "TFLOP/s dense", ""),
        (3.35, "TB/s", ""),
        (80, "GB", "resident"),
        (100, "%", ""),
        (140, "%", "ratio"),
        (500, "GB", ""),
        (900, "GB/s", "link"),
        (900, "GB/s bidirectional", ""),
        (-1.5, "", "signed"),
    ],
)
def test_what_is_possible_passes(value, unit, role):
    assert faults({"x": [value, unit, role]}) == []


def test_a_cache_writes_what_was_dirtied_and_reads_what_was_touched():
    from stacklib.memory import Cache, chain

    levels = [Cache(256, 1, 128, 32), Cache(512, 2, 64)]
    for level in chain(
        levels, [96, 224, 480, 96, 352], [True, False, True, True, False]
    ):
        cells = {
            "out": [level.bytes_out, "B", "written"],
            "dirty": [level.bytes_dirtied, "B", "dirtied"],
            "in": [level.bytes_in, "B", "read"],
            "asked": [level.bytes_touched, "B", "touched"],
        }
        assert faults(cells) == []
        for column, role in (("out", "written"), ("in", "read")):
            most = cells["dirty" if role == "written" else "asked"][0]
            (fault,) = faults(cells | {column: [most + 32, "B", role]})
            assert f"column {column}" in fault and "exceeds" in fault


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_is_caught(value):
    (fault,) = faults({"x": [value, "s", ""]})
    assert "column x" in fault and "finite" in fault


def test_limits_scale_with_the_chips():
    for cell in (["rate", 1.9, "PFLOP/s", ""], ["kept", 150, "GB", "resident"]):
        column, *value = cell
        assert faults({column: value})
        assert faults({column: value}, chips=2) == []


def test_a_bandwidth_of_another_level_is_not_held_to_main_memory():
    assert faults({"b": [30, "TB/s", ""]}, level="L2") == []


def test_a_time_below_its_own_roofline_is_caught():
    step = roofline.decode_step("llama-3-70b", on="h100_sxm", tp=2)
    cells = {"work": guard.cell(step.operations), "bytes": guard.cell(step.bytes)}
    good = {**cells, "time": guard.cell(step.time)}
    assert faults(good, chips=2) == []
    short = {**cells, "time": guard.cell(step.time / 2)}
    (fault,) = faults(short, chips=2)
    assert "column time" in fault and step.time.text(digits=5) in fault
    part = {**good, "arithmetic": guard.cell(step.t_compute, role="part")}
    assert faults(part, chips=2) == []


def test_a_rate_above_the_roofline_at_its_intensity_is_caught():
    below_peak = {"intensity": [1, "FLOP/B", ""], "rate": [500, "TFLOP/s", ""]}
    (fault,) = faults(below_peak)
    assert "roofline" in fault and "3.35 TFLOP/s" in fault


def test_every_point_of_a_mark_is_walked():
    (fault,) = faults({"r": [[1.0, 2000.0, 5.0], "TFLOP/s", ""]})
    assert "point 2" in fault


@pytest.mark.rows(
    ("value", "unit"),
    [(1, "ms"), (10, "token/s"), (1, "TB/s"), (3, "USD"), (3, "USD/h")],
)
def test_what_does_not_fit_carries_no_speed_and_no_price(value, unit):
    (fault,) = faults({"x": [value, unit, ""]}, feasible=False)
    assert "does not fit" in fault


def test_what_does_not_fit_may_show_the_sum_and_the_data_sheet():
    cells = {"need": [150, "GB", "resident"], "peak": [989.4, "TFLOP/s", "spec"]}
    assert faults(cells, feasible=False) == []


@pytest.mark.parametrize("evidence", ["claimed", "impossible"])
def test_a_quoted_claim_may_be_impossible(evidence):
    assert faults({"x": [5, "PFLOP/s", ""]}, evidence=evidence) == []
    assert faults({"x": [-5, "PFLOP/s", ""]}, evidence=evidence)


def test_an_unknown_device_or_format_is_a_fault():
    assert "h10O" in faults({"x": [1, "s", ""]}, device="h10O")[0]
    assert "fp4" in faults({"x": [1, "FLOP/s", ""]}, dtype="fp4")[0]


def test_a_malformed_entry_is_refused():
    for wrong in (
        lambda: guard.cell(1, "s", "fast"),
        lambda: guard.row("x", {}, evidence="felt"),
        lambda: guard.row("x", {}, chips=0),
        lambda: guard.entry("poster", "x", []),
    ):
        with pytest.raises(ValueError):
            wrong()


# What one H100 cannot do, and what it can: column, both cells, what is told, the bound.
ONE_H100 = [
    ("NVLink", 900, 450, "GB/s per_direction", {}, "450 GB/s, what its links carry"),
    ("port", 1, 0.9, "TB/s bidirectional", {}, "900 GB/s, what its links carry both"),
    ("PCIe, one way (GB/s)", 126, 63, "", {}, "63 GB/s, what its links carry"),
    ("power", 5, 0.7, "kW", {}, "0.7 kW, the design power"),
    ("speed, 70B", 400, 90, "token/s", {}, "191.43 tokens/s, reading the weights"),
    ("70B, tokens/s", 400, 90, "", {}, "191.43 tokens/s, reading the weights"),
    ("speed", 400, 47, "token/s", {"model": "llama-3-70b"}, "48.199 tokens/s, reading"),
    ("speed", 900, 220, "token/s", {"model": "llama-3-8b"}, "reading the weights"),
    ("all", 8e4, 3e4, "token/s", {"model": "llama-3-8b", "batch": 512}, "arithmetic"),
    ("held by a chip", 86, 80, "GB", {}, "80 GB, the capacity"),
    ("share of the peak", 1.07, 0.93, "", {}, "100 %"),
    ("busy (%)", 107, 93, "", {}, "100 %"),
]


@pytest.mark.rows(("column", "cannot", "can", "unit", "told", "bound"), ONE_H100)
def test_what_one_h100_cannot_do_is_named_with_its_bound(
    column, cannot, can, unit, told, bound
):
    told = {"dtype": "fp8" if told.get("batch", 1) == 1 else "bf16", **told}
    told["dtype"] = None if "70B" in column else told["dtype"]
    (fault,) = faults({column: [cannot, unit, ""]}, **told)
    assert "row planted" in fault and f"column {column}" in fault and bound in fault
    assert faults({column: [can, unit, ""]}, **told) == []
    twice = faults({column: [cannot, unit, ""]}, chips=16, **told)
    assert twice == ([fault] if "100 %" in bound else [])


def test_tokens_a_second_say_their_model_and_its_weights_fit():
    (fault,) = faults({"speed": [20, "token/s", ""]})
    assert "of no model: say model=" in fault
    (fault,) = faults({"speed": [20, "token/s", ""]}, model="llama-3-70b")
    assert "141.1 GB of weights do not fit 1 x h100_sxm" in fault
    assert faults({"speed": [20, "token/s", ""]}, model="llama-3-70b", chips=2) == []


def test_what_no_device_does_is_not_held_to_one():
    for name, unit in (("out of a rack", "GB/s per_direction"), ("of memory", "GB/s")):
        assert faults({name: [1600, unit, ""]}) == []
    assert faults({"X over the store (%)": [340, "", ""]}) == []


# -- whose row ----------------------------------------------------------------


def row_of(*values, **about):
    """A row as a table makes it, of quantities."""
    found = {f"c{i}": value for i, value in enumerate(values)}
    of = set().union(*map(guard.records, values))
    cells = {name: guard.cell(value) for name, value in found.items()}
    return guard.row("r", cells, of=of, **about)


def test_a_row_takes_device_and_model_from_what_it_stands_on():
    h100, a100 = hardware.get("h100"), hardware.get("a100")
    model = models.get("llama-3-70b")
    alone = row_of(model.parameters / h100.peak("bf16"), model.parameters)
    assert (alone["device"], alone["model"]) == ("h100_sxm", "llama-3-70b")
    both = row_of(h100.memory_bandwidth, a100.memory_bandwidth)
    assert both["device"] == "none: of a100_sxm_80gb, h100_sxm"
    link = row_of(hardware.link("nvlink4").per_direction)
    assert link["device"] == "none: of scaleup/nvlink4"
    assert row_of(model.parameters)["device"] == "none: a count"
    assert row_of(h100.tdp, device="b200_sxm")["device"] == "b200_sxm"


def test_a_time_of_no_device_is_a_fault_and_a_count_is_none():
    for column, unit in (("t", "s"), ("time (ms)", ""), ("p", "W"), ("cost", "USD")):
        (fault,) = faults({column: [3, unit, ""]}, device=None)
        assert "row planted: no device: say device=" in fault
    assert faults({"count": [3, "", ""], "held": [5, "GB", ""]}, device=None) == []


def test_what_no_record_tells_is_listed_by_name():
    row = guard.row("r", {"t": [3, "s", ""]})
    (told,) = guard.entry("figure", "timers", [row])["rows"]
    assert told["device"] == "this_machine"
    (told,) = guard.entry("figure", "timer", [row])["rows"]
    assert told["device"] is None


# -- notebooks ----------------------------------------------------------------


def notebook(path, *datas):
    outputs = [{"output_type": "display_data", "data": data} for data in datas]
    cells = [{"cell_type": "markdown", "source": "x"}]
    cells += [{"cell_type": "code", "outputs": [out]} for out in outputs]
    path.write_text(json.dumps({"cells": cells}))
    return path


def entry(name="t", value=1.0):
    row = guard.row("r", {"x": [value, "PFLOP/s", ""]}, device="h100_sxm")
    return guard.entry("table", name, [row])


def test_committed_outputs_are_walked(tmp_path):
    data = {"text/html": ["<div><table>"], guard.MIME: entry(value=7.0)}
    path = notebook(tmp_path / "n.ipynb", data, {"text/html": "<p>words</p>"})
    (fault,) = guard.faults(guard.read_notebook(path))
    assert "7 PFLOP/s" in fault
    assert guard.unregistered(path) == []


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ({"text/html": ["<div>", "<TABLE>"]}, "<table>"),
        ({"text/html": "<svg viewBox=''>"}, "<svg>"),
        ({"text/html": "<img src='data:...'>"}, "<img>"),
        ({"image/png": "iVBOR"}, "image/png"),
        ({"image/svg+xml": "<svg/>"}, "image/svg+xml"),
    ],
)
def test_what_goes_past_the_guard_is_caught(tmp_path, data, what):
    (fault,) = guard.unregistered(notebook(tmp_path / "n.ipynb", data))
    assert "cell 2" in fault and what in fault


def test_a_name_shown_twice_in_a_notebook_is_caught(tmp_path):
    path = notebook(tmp_path / "n.ipynb", {guard.MIME: entry()}, {guard.MIME: entry()})
    with pytest.raises(ValueError, match="'t' is shown twice"):
        guard.read_notebook(path)
