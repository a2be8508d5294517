"""Families G, H and I: what is predicted, what is refused, and nothing read back."""

import re
from dataclasses import replace

import pytest

from stacklib.evidence import measurements
from stacklib.evidence.measurements import Refusal
from stacklib.evidence.predict import PREDICTORS, prices
from stacklib.evidence.validate import BARS, outcome, quantile
from stacklib.hardware.factors import efficiency_recorded

from .made_row import predict, row

FAMILIES = "GHI"
ROWS = [r for r in measurements.public() if r.family in FAMILIES]
BY_ID = {r.id: r for r in ROWS}


def outcomes(family):
    return [outcome(r) for r in ROWS if r.family == family]


@pytest.mark.parametrize(
    ("family", "rows", "least"), [("G", 99, 29), ("H", 45, 5), ("I", 43, 15)]
)
def test_each_row_is_predicted_or_says_why_not(family, rows, least):
    found = outcomes(family)
    predicted = [o for o in found if o.predicted is not None]
    assert len(found) == rows and len(predicted) == least
    assert all(o.reason for o in found if o.predicted is None)
    assert all("no predictor" not in (o.reason or "") for o in found)
    misses = [abs(o.predicted / o.row.value - 1) for o in predicted]
    if family in BARS:
        assert quantile(misses, 0.5) <= BARS[family].median
        assert quantile(misses, 0.9) <= BARS[family].p90


def test_no_factor_is_read():
    with efficiency_recorded() as read:
        for found in ROWS:
            if "trace" in found.config:
                continue  # its steps are the estimate's, and no fit sees the row
            try:
                PREDICTORS[found.family](found)()
            except Refusal:
                continue
    assert not read


def test_a_quote_of_the_rows_own_source_is_left_out():
    """The wafer of 16,000 is DigiTimes': a row of theirs is answered by the others."""
    mine = BY_ID["I-0023"]
    theirs = replace(mine, source="somebody else")
    without, with_it = (PREDICTORS["I"](r)().value for r in (mine, theirs))
    assert without != pytest.approx(with_it)
    assert without == pytest.approx((16988 * 13495) ** 0.5)
    assert with_it == pytest.approx((16000 * 16988 * 13495) ** (1 / 3))


def test_a_planted_read_back_is_caught(monkeypatch):
    """Without that rule a row is answered by itself, without any error."""
    monkeypatch.setattr(prices, "_said_by", lambda title, row: False)
    mine = BY_ID["I-0027"]  # a node that only one source quotes
    assert PREDICTORS["I"](mine)().value == pytest.approx(mine.value)
    monkeypatch.undo()
    with pytest.raises(Refusal, match="nobody but the row's own source"):
        PREDICTORS["I"](mine)


@pytest.mark.parametrize(
    ("changed", "value", "unit"),
    [
        ({"metric": "wafer_price", "subject": "300mm wafer 5 nm"}, 15422, "USD"),
        ({"metric": "price_per_GB", "subject": "HBM3E"}, 11.73, "USD/GB"),
        ({"metric": "die_area"}, 814e-6, "m2"),
        (
            {
                "metric": "daily_cost",
                "config": "100 nodes x 8 x 24 h x $1.5",
            },
            28_800,
            "USD",
        ),
        ({"metric": "energy", "subject": "64b DRAM access"}, 1300e-12, "J"),
        (
            {"metric": "on_demand_price", "subject": "8x H100", "config": "ngpus=8"},
            8 * 2.65,
            "USD/h",
        ),
    ],
)
def test_rows_of_prices_made_up(changed, value, unit):
    found = predict(row("I", **changed))
    assert (found.value, found.unit) == (pytest.approx(value, rel=2e-3), unit)


@pytest.mark.parametrize(
    ("family", "changed", "says"),
    [
        ("I", {"metric": "wafer_price", "subject": "a wafer"}, "names no node"),
        ("I", {"metric": "wafer_price", "subject": "300mm wafer N1"}, "n1"),
        ("I", {"metric": "price"}, "list price"),
        ("I", {"metric": "colour"}, "no model of prices"),
        ("I", {"metric": "energy", "subject": "32b int add"}, "read, not computed"),
        ("I", {"metric": "daily_cost"}, "nodes x devices"),
        ("I", {"metric": "manufacturing_cost", "subject": "H100 total"}, "test"),
        ("H", {"metric": "ttft_p99"}, "does not give 'trace'"),
        ("H", {"metric": "acceptance_alpha"}, "measured on a text"),
        ("H", {"metric": "speedup"}, "no acceptance"),
        ("H", {"metric": "kv_cache_hit_rate"}, "hits of tokens"),
        ("H", {"metric": "colour"}, "no model of serving"),
        ("G", {"metric": "perplexity"}, "trained weights"),
        ("G", {"metric": "bits_per_weight", "subject": "Llama-2-7B"}, "'quant'"),
    ],
)
def test_rows_made_up_are_refused_with_their_reason(family, changed, says):
    with pytest.raises(Refusal, match=says):
        predict(row(family, **changed))


@pytest.mark.parametrize(
    ("config", "speed"),
    [("alpha=0.75;gamma=7", 3.431), ("acceptance=0.62", 2.458)],
)
def test_a_draft_costs_as_it_is_large(config, speed):
    made = row(
        "H", config, metric="speedup", subject="T5-XXL 11B + T5-small 77M", unit="x"
    )
    assert predict(made).value == pytest.approx(speed, rel=1e-3)


def test_refusals_are_of_few_kinds():
    told = [o.reason for o in outcomes("I") + outcomes("H") if o.reason]
    kinds = {re.sub(r"[\d.]+", "#", reason) for reason in told}
    assert len(kinds) <= 20 and all(len(reason) < 160 for reason in told)
