"""Rows that wait: simulated by their trace's moments, or refused with both ends."""

from dataclasses import replace

import pytest

from stacklib.evidence import measurements
from stacklib.evidence.measurements import Refusal
from stacklib.evidence.predict import PREDICTORS, waits
from stacklib.evidence.validate import BARS, outcome, quantile
from stacklib.hardware.factors import efficiency_moved

ROWS = {
    row.id: row
    for row in measurements.public()
    if row.family == "H" and "trace" in row.config
}


def seconds(row):
    return PREDICTORS["H"](row)().value


def test_what_is_told_is_within_the_bar_and_the_rest_lies_between_its_ends():
    found = [outcome(row) for row in ROWS.values()]
    assert len(found) == 11 and not any(o.predicted for o in found)
    every = [outcome(row) for row in measurements.public() if row.family == "H"]
    off = [abs(o.predicted / o.row.value - 1) for o in every if o.predicted]
    assert quantile(off, 0.5) <= BARS["H"].median  # of the waits told alone a fifth
    assert quantile(off, 0.9) <= BARS["H"].p90
    moved = efficiency_moved(every=True)
    for row in ROWS.values():
        asked = waits._METRIC.fullmatch(row.metric)
        low, point, high = (
            waits._figure(run, asked)
            for run in waits._runs(waits._case(row), 300, 10.0, moved)
        )
        assert low < point < high and low < row.value / 1e3 < high


def test_ends_far_apart_are_no_point():
    near = ROWS["H-0006"]
    calm = replace(near, settings=near.settings.replace("10 req/s", "1 req/s"))
    assert seconds(calm) > 0
    with pytest.raises(Refusal, match="times apart"):
        seconds(near)


def test_a_mean_lies_below_its_percentiles():
    case = waits._case(ROWS["H-0002"])
    _, run, _ = waits._runs(case, 300, 10.0, efficiency_moved(every=True))
    median, mean, p99 = (
        waits._figure(run, waits._METRIC.fullmatch(f"latency_{which}"))
        for which in ("median", "mean", "p99")
    )
    assert median < p99 and mean < p99


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"metric": "ttft_p9"}, "config does not give 'trace'"),
        ({"settings": "tp=1;max_num_seqs=8"}, "config does not give 'trace'"),
        ({"system": "1x Abacus"}, "no device"),
        ({"subject": "no-such-model"}, "no-such-model"),
    ],
)
def test_what_is_not_known_is_refused(change, says):
    with pytest.raises(Refusal, match=says):
        seconds(replace(ROWS["H-0002"], **change))


@pytest.mark.parametrize(
    ("word", "other", "says"),
    [
        ("300 requests", "0 requests", "requests and a rate"),
        ("10 req/s", "0 req/s", "requests and a rate"),
        ("max_num_seqs=256;", "", "'max_num_seqs'"),
        ("dp=1", "dp=2", "several engines"),
        ("tp=1", "tp=3", "does not divide"),
    ],
)
def test_faults_of_settings_are_refused(word, other, says):
    row = ROWS["H-0002"]
    with pytest.raises((Refusal, ValueError), match=says):
        seconds(replace(row, settings=row.settings.replace(word, other)))
