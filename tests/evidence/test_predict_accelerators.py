"""Family J: arrays by kind of row, which machines of parts stand beside."""

import pytest

from stacklib.evidence import measurements
from stacklib.evidence.measurements import Refusal
from stacklib.evidence.validate import outcome

from ..rows import refusals
from .made_row import predict, row

FOUND = [outcome(r) for r in measurements.public() if r.family == "J"]
ARRAY = "m=64;n=32;k=2048;rows=128;cols=128;dataflow=os"


def test_each_row_is_predicted_or_says_why_not():
    predicted = [o for o in FOUND if o.predicted is not None]
    assert (len(FOUND), len(predicted)) == (272, 236)
    assert all(o.reason for o in FOUND if o.predicted is None)


def test_simulated_products_are_met_exactly():
    array = [o for o in FOUND if "systolic" in o.row.system]
    assert len(array) == 13
    assert all(o.predicted == o.row.value for o in array)


def test_the_paper_s_rates_are_within_a_tenth_but_one():
    """Four of the paper's five rows; LSTM1 takes 1.4 times as long as its tiles."""
    rates = {
        o.row.subject: o.predicted / o.row.value
        for o in FOUND
        if o.row.metric == "achieved_throughput" and o.row.system.startswith("TPU")
    }
    assert {name for name, ratio in rates.items() if abs(ratio - 1) > 0.11} == {"LSTM1"}


def array(settings, **changes):
    made = {"system": "128x128 systolic array", "metric": "cycles", "unit": "cycles"}
    return row("J", settings, **(made | changes))


def test_a_row_never_seen():
    assert predict(array(ARRAY)).value == 2301
    assert predict(array(ARRAY.replace("os", "ws"))).value == 16 * 446 - 1
    tpu = row("J", "", system="TPU v1", subject="LSTM0", metric="achieved_throughput")
    assert predict(tpu).value == pytest.approx(4.0e12, rel=0.01)


test_what_no_array_can_say = refusals(
    (array(ARRAY.replace("os", "rs")), "unknown dataflow 'rs'"),
    (array("m=64"), "config does not give 'n'"),
    (array(ARRAY.replace("64", "6.4")), "m=6.4: a whole number"),
    (row("J", "", system="4x abacus"), "no array of multipliers"),
    (array("", system="TPU v1", subject="MLP9", metric="throughput"), "'MLP9'"),
    (
        array("batch=16", system="TPU v1", subject="MLP0", metric="throughput"),
        "batch = 16: the paper's is 200",
    ),
    (
        array("", system="TPU v1", subject="MLP0", metric="ops_per_weight_byte"),
        "an input of this prediction",
    ),
    (array("batch=4", system="Eyeriss", metric="throughput"), "frames of AlexNet"),
    by=predict,
    error=Refusal,
)
