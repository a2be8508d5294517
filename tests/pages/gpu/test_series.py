"""The table of published series: what it says of made-up results, and of none."""

import pytest

from stacklib.evidence import kernel_series, measurements, results
from stacklib.pages.gpu.simt import series

RATES = {  # kind: published and predicted of one series
    "copy": ((100.0, 105.0), (200.0, 190.0)),
    "transpose": ((100.0, 220.0), (150.0, 160.0)),
    "scan": ((10.0, 40.0), (30.0, 200.0)),
    "softmax": ((10.0, 30.0), (30.0, 20.0)),
    "matmul": ((100.0, None),),
}


def row(given, published, predicted):
    reason = "" if predicted else "texture"
    return {"id": given.id, "published": published, "predicted": predicted} | {
        "reason": reason
    }


@pytest.fixture
def made_up(monkeypatch):
    """The first kernels of a series of each kind, with rates that are made up."""
    rows, known = [], []
    for kind, some in RATES.items():
        given = [r for r in measurements.series() if r.text("kind") == kind]
        given = [r for r in given if r.text("series") == given[0].text("series")]
        known += given[: len(some)]
        rows += [row(r, *rates) for r, rates in zip(given, some, strict=False)]
    found = {"rows": rows, "date": "2026-11-23"}
    monkeypatch.setattr(results, "load", lambda name: found)
    monkeypatch.setattr(measurements, "series", lambda: tuple(known))
    series.lines.cache_clear()
    yield [r.subject for r in known]
    series.lines.cache_clear()


@pytest.fixture
def none(monkeypatch):
    monkeypatch.setattr(results, "load", lambda name: None)
    series.lines.cache_clear()
    yield
    series.lines.cache_clear()


def test_each_kind_gets_its_factors_and_pairs(made_up):
    rows = {one["kernels"]: one for one in series.rows()}
    copies = rows["copy"]
    assert copies["median factor"].si == pytest.approx((1.05 + 200 / 190) / 2)
    assert (copies["pairs"], copies["turned round"]) == (1, 0)
    assert rows["transpose"]["turned round"] == rows["softmax"]["turned round"] == 1
    assert rows["matmul"]["with a time"] == 0 and rows["matmul"]["worst"] is None


def test_what_is_turned_round_is_no_order(made_up):
    said = {one.name: series.verdict(one) for one in series.summaries()}
    assert said["copy"] == "a time and an order"
    slow, fast = made_up[2:4]
    assert (
        said["transpose"] == f"a rough time, no order: {slow} comes out before {fast}"
    )
    assert said["scan"] == "an order, no time: the worst is off by 6.7"
    slow, fast = made_up[6:8]
    assert said["softmax"] == f"neither: {slow} comes out before {fast}"
    assert said["matmul"] == "not timed yet"


def test_without_a_result_what_is_published_stands_without_a_time(none):
    rows = series.rows()
    assert sum(one["published"] for one in rows) == len(measurements.series())
    assert all(one["median factor"] is None for one in rows)
    assert {series.verdict(one) for one in series.summaries()} == {"not timed yet"}


def test_the_pairs_are_those_whose_order_counts():
    made = [
        kernel_series.Line("s", str(n), "copy", "x", rate, 1.0)
        for n, rate in enumerate((100.0, 110.0, 125.0))
    ]
    assert series.pairs(made) == 1
