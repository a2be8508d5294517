"""Predictions held against measurements: rows, refusals, units and scores."""

import json
import math
import sys
import time

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.evidence import measurements
from stacklib.evidence.measurements import Measurement, Refusal
from stacklib.evidence.predict import Forecast, registry
from stacklib.evidence.validate import (
    BARS,
    KEYS,
    TITLES,
    Outcome,
    device_name,
    key_of,
    quantile,
    read_back,
    score,
    source_of,
    validate,
)
from stacklib.evidence.validate import units as row_units
from stacklib.evidence.validate.report import in_unit
from stacklib.evidence.validate.sources import project
from stacklib.hardware import error_band


def row_of(
    id="A-1",
    family="A",
    config="m=1",
    metric="latency",
    value=2.0,
    unit="ms",
    system="H100",
    source="repo a/b README",
    fault="",
):
    return Measurement(
        id,
        family,
        system,
        "x",
        "GEMM",
        config,
        metric,
        value,
        unit,
        source,
        "",
        "saw",
        "",
        fault,
    )


@pytest.fixture
def toy(monkeypatch):
    """A family A whose model says m milliseconds, and refuses without m."""

    def prepare(row):
        m = row.number("m")
        if m == 13:
            raise Refusal("thirteen is not modelled")
        return lambda: Forecast(1e-3 * m, "s", "memory")

    monkeypatch.setattr(registry, "PREDICTORS", {"A": prepare})


def test_a_predicted_row_has_the_rows_unit_and_a_ratio(toy):
    report = validate([row_of(config="m=3")])
    found = report.outcomes[0]
    assert found.predicted == pytest.approx(3)
    assert found.ratio == pytest.approx(1.5) and found.error == pytest.approx(0.5)
    assert found.as_dict() == {
        "id": "A-1",
        "predicted": found.predicted,
        "low": pytest.approx(found.predicted * error_band("A").low),
        "high": pytest.approx(found.predicted * error_band("A").high),
        "unit": "ms",
        "bound": "memory",
        "reason": None,
    }


@pytest.mark.parametrize(
    "row, says",
    [
        (row_of(config="m=13"), "thirteen is not modelled"),
        (row_of(config="n=1"), "config does not give 'm'"),
        (row_of(config="m=0"), "the model gives 0.0 s"),
        (row_of(config="m=-1"), "the model gives -0.001 s"),
        (row_of(config="m=1", unit="furlong"), "unit 'furlong' is not in the table"),
        (row_of(config="m=1", unit="GB/s"), "the model gives s, the row 'GB/s'"),
        (row_of(family="H"), "no predictor for family H yet"),
        (row_of(fault="value 'x' is not a number"), "value 'x' is not a number"),
    ],
)
def test_a_row_that_cannot_be_predicted_has_a_reason_and_no_number(toy, row, says):
    found = validate([row]).outcomes[0]
    assert says in found.reason
    assert found.predicted is None and found.bound is None
    assert math.isnan(found.ratio)


@pytest.mark.parametrize(
    "wrong, says",
    [
        (ZeroDivisionError("division by zero"), "cannot be computed: division"),
        (OverflowError(), "cannot be computed: OverflowError"),
        (ValueError("two\nlines"), "two; lines"),
        (ValueError(), "ValueError"),
    ],
)
def test_what_a_model_raises_becomes_the_reason(monkeypatch, wrong, says):
    def prepare(row):
        raise wrong

    monkeypatch.setattr(registry, "PREDICTORS", {"A": prepare})
    assert says in validate([row_of()]).outcomes[0].reason


def test_a_fault_of_the_program_is_not_hidden_as_a_refusal(monkeypatch):
    monkeypatch.setattr(registry, "PREDICTORS", {"A": lambda row: row.no_such_field})
    with pytest.raises(AttributeError):
        validate([row_of()])


def test_families_have_the_promised_keys_and_counts(toy):
    rows = [
        row_of("A-1", config="m=2"),
        row_of("A-2", config="m=13"),
        row_of("D-1", "D", "msg_bytes=1e6"),
        row_of("Z", "Z"),
    ]
    report = validate(rows)
    assert tuple(report.families) == KEYS == tuple(TITLES)
    assert report.families["A"].as_dict() == {
        "predicted": 1,
        "refused": 1,
        "median_error": 0.0,
        "p90_error": 0.0,
        "bias": 0.0,
    }
    assert report.families["D_large"].refused == 1
    assert report.families["B"].as_dict() == {
        "predicted": 0,
        "refused": 0,
        "median_error": None,
        "p90_error": None,
        "bias": None,
    }
    assert len(report.as_dict()["rows"]) == 4
    json.dumps(report.as_dict(), allow_nan=False)


def test_the_bars_are_those_of_the_plan():
    assert set(BARS) < set(KEYS)
    assert (BARS["A"].median, BARS["A"].p90) == (0.08, 0.22)
    assert (BARS["C"].median, BARS["C"].p90) == (0.10, 0.30)


@pytest.mark.rows(
    "family, config, metric, key",
    [
        ("D", "msg_bytes=999999", "latency", "D_small"),
        ("D", "msg_bytes=1000000", "busbw", "D_large"),
        ("D", "msg_size_as_stored=67584", "latency_median", "D_small"),
        ("D", "tokens=128;hidden=7168;topk=8", "latency", "D_large"),
        ("D", "batch=8;d_model=12288", "latency", "D_small"),
        ("D", "batch=8;seq=2048;d_model=12288", "latency", "D_large"),
        ("D", "msg=large", "busbw", "D_large"),
        ("D", "", "latency", "D_small"),
        ("D", "msg_bytes=many", "latency", "D_small"),
        ("E", "", "decode_speed", "E_decode"),
        ("E", "", "max_output_throughput", "E_decode"),
        ("E", "", "tpot_p99", "E_decode"),
        ("E", "", "prefill_speed", "E_prefill"),
        ("E", "", "ttft_mean", "E_prefill"),
        ("E", "", "median_ttft", "E_prefill"),
        ("J", "", "decode_speed", "J"),
        ("Z", "", "x", None),
    ],
)
def test_a_row_is_scored_under_one_key(family, config, metric, key):
    assert key_of(row_of(family=family, config=config, metric=metric)) == key


@settings(deadline=None)  # the first call imports NumPy
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60), st.floats(0, 1))
def test_quantiles_are_numpys(values, share):
    expected = float(numpy.quantile(numpy.array(values), share))
    assert quantile(values, share) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_no_values_have_no_quantile():
    with pytest.raises(ValueError, match="at least one"):
        quantile([], 0.5)


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=30))
def test_a_score_by_the_statistics_module(ratios):
    from statistics import median

    found = score(Outcome(row_of(value=1.0), "A", predicted=ratio) for ratio in ratios)
    assert found.median_error == pytest.approx(median(abs(r - 1) for r in ratios))
    assert found.bias == pytest.approx(median(r - 1 for r in ratios))
    assert found.p90_error >= found.median_error - 1e-12


@pytest.mark.rows(
    "model, row, factor",
    [
        ("s", "ms", 1e3),
        ("s", "us", 1e6),
        ("s", "µs", 1e6),
        ("s", "s", 1),
        ("FLOP/s", "TFLOPS", 1e-12),
        ("OP/s", "TFLOPS", 1e-12),
        ("FLOP/s", "TOPS", 1e-12),
        ("B/s", "GB/s", 1e-9),
        ("B/s", "GiB/s", 2**-30),
        ("cycle", "cycles", 1),
        ("Hz", "MHz", 1e-6),
        ("1/s", "Gelem/s", 1e-9),
        ("token/s", "tokens/s", 1),
        ("token/s", "tokens/s/GPU (output)", 1),
        ("", "x", 1),
        ("", "%", 100),
        ("B", "GiB", 2**-30),
        ("USD/token", "USD/Mtok", 1e6),
    ],
)
def test_units_of_tables(model, row, factor):
    assert row_units.factor(model, row) == pytest.approx(factor, rel=1e-12)


@pytest.mark.rows("row", ["TFLOPS", "ms", "GB/s", "Gelem/s", "%"])
def test_units_that_measure_something_else_are_refused(row):
    with pytest.raises(Refusal, match="the model gives USD"):
        row_units.factor("USD", row)


def test_every_unit_of_a_predicted_family_is_in_the_table():
    for row in measurements.public():
        if row.family in "ABCDEF":
            said = row_units.words(row.unit)
            assert said in row_units.WORDS or said in row_units.ELEMENTS, row.unit


@pytest.mark.rows("value", [math.nan, math.inf, 0.0, -1.0])
def test_a_forecast_that_is_no_number_is_refused(value):
    with pytest.raises(Refusal, match="the model gives"):
        in_unit(Forecast(value, "s", "memory"), "ms")


@pytest.mark.rows(
    "source, name",
    [
        (
            "repo te42kyfo/gpu-benches gpu-stream/v100.txt @1c36d50",
            "te42kyfo/gpu-benches",
        ),
        (
            "www.github.com/sjfeng1999/gpu-arch-microbenchmark (newer README)",
            "sjfeng1999/gpu-arch-microbenchmark",
        ),
        (
            "repo sjfeng1999/gpu-arch-microbenchmark README.md",
            "sjfeng1999/gpu-arch-microbenchmark",
        ),
        (
            "issue 108 of zzc0721/torch-performance-test-data",
            "zzc0721/torch-performance-test-data",
        ),
        ("chipsandcheese.com/2023/07/02 H100 article", "chipsandcheese.com"),
        ("arXiv 2501.12084", "arXiv_2501.12084"),
        (
            "public repository, name not recorded (OCI OKE guide, nccl-tests)",
            "unnamed: OCI OKE guide nccl-tests",
        ),
        ("Horowitz ISSCC 2014 via Han", "Horowitz ISSCC 2014 via"),
        ("", "not named"),
    ],
)
def test_rows_of_one_project_are_one_source(source, name):
    assert project(source) == name


def test_reports_break_down_by_source_and_device(toy):
    rows = [
        row_of("1", system="H100", config="m=2"),
        row_of("2", system="H100 SXM", config="m=4"),
        row_of("3", system="a toaster", source="c.com", config="m=2"),
    ]
    report = validate(rows)
    assert list(report.by(device_name)) == ["h100_sxm", "–"]
    assert report.by(source_of)["a/b"].predicted == 2
    assert [o.row.id for o in report.worst(1)] == ["2"]
    assert report.of("A").outcomes == report.outcomes and not report.of("B").outcomes


def test_the_worst_row_is_the_worst_factor_either_way(toy):
    rows = [row_of("high", config="m=3"), row_of("low", config="m=0.5")]
    assert [o.row.id for o in validate(rows).worst(2)] == ["low", "high"]


def test_ten_thousand_rows_a_second_are_judged(toy):
    rows = [row_of(str(i), config=f"m={1 + i % 97}") for i in range(20_000)]
    start = time.process_time()
    refused = len(range(12, 20_000, 97))
    assert validate(rows).families["A"].predicted + refused == 20_000
    assert time.process_time() - start < 2


def test_every_public_row_is_predicted_or_refused_with_a_reason():
    report = validate(measurements.public())
    for found in report.outcomes:
        assert (found.predicted is None) == bool(found.reason)
    counts = [s.predicted + s.refused for s in report.families.values()]
    assert sum(counts) == 2026


@pytest.mark.rows(
    "source, system, bound, expected",
    [
        ("repo te42kyfo/gpu-benches gpu-latency/v100.txt", "V100", "l2 latency", True),
        ("repo te42kyfo/gpu-benches gpu-stream/v100.txt", "V100", "dram", False),
        ("repo markdewing/AI_kernels latency/README.md", "V100", "l2 latency", False),
        ("repo te42kyfo/gpu-benches x", "a toaster", "l2 latency", False),
        ("repo te42kyfo/gpu-benches x", "V100", None, False),
    ],
)
def test_a_constant_from_the_rows_own_source_is_read_back(
    source, system, bound, expected
):
    row = row_of(family="C", system=system, source=source, unit="cycles")
    assert read_back(row, bound) is expected


# -- figures ---------------------------------------------------------------------


def outcomes(*ratios, system="H100"):
    return tuple(
        Outcome(
            row_of(f"A-{i}", value=float(i + 1), system=system),
            "A",
            predicted=r * (i + 1),
            bound="memory",
        )
        for i, r in enumerate(ratios)
    )


def test_every_row_is_a_dot_and_the_worst_are_named():
    from stacklib.evidence.validate import Validation, ratio_spec
    from stacklib.plots.spec import check

    found = outcomes(1.0, 1.1, 3.0, 0.9, 0.2)
    found += outcomes(*[1.0] * 9, 1.05, system="V100")[-1:]
    spec = ratio_spec(Validation(found), "A title.", p90=0.4)
    check(spec)
    dots = [m for m in spec["marks"] if m["kind"] == "dots"]
    named = {m["name"]: m["y"] for m in dots if m.get("label_at") != "none"}
    assert set(named) == {"A-4", "A-2", "A-3"}
    assert named["A-4"] == pytest.approx([0.2])
    stretches = [m for m in dots if m.get("label_at") == "none"]
    assert [m["name"] for m in stretches] == ["H100", "V100"]
    assert [x for m in stretches for x in m["x"]] == [1, 2, 3, 4, 5, 6]
    assert spec["marks"][-1]["y"] == pytest.approx([1.0, 1.4, 0.6])


def test_no_rows_have_no_figure():
    from stacklib.evidence.validate import Validation, ratio_spec

    with pytest.raises(Refusal, match="no row was predicted"):
        ratio_spec(Validation(()), "A title.")


def test_spread_lines_rise_to_the_share_that_is_shown():
    from stacklib.evidence.validate import spread_spec
    from stacklib.plots.spec import check

    spec = spread_spec([("fitted", [i / 100 for i in range(100)])], "A title.")
    check(spec)
    mark = spec["marks"][0]
    assert mark["x"][-1] == 95 and mark["y"][-1] == pytest.approx(94)
    assert mark["y"] == sorted(mark["y"]) and mark["y"][0] > 0


# -- explanations ----------------------------------------------------------------


def test_the_explanations_are_of_rows_there_are():
    from stacklib.evidence import validate as room

    assert all(text for text in room.explanations().values())


@pytest.mark.parametrize(
    "text, says", [('X-1 = "why"', "no row 'X-1'"), ('A-0001 = ""', "says nothing")]
)
def test_an_explanation_of_nothing_is_found(tmp_path, monkeypatch, text, says):
    from stacklib.evidence.validate import explanations as call
    from stacklib.evidence.validate.explanations import ExplanationError

    module = sys.modules["stacklib.evidence.validate.explanations"]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "explanations.toml").write_text(text)
    monkeypatch.setattr(module, "files", lambda package: tmp_path)
    call.cache_clear()
    with pytest.raises(ExplanationError, match=says):
        call()
    call.cache_clear()
