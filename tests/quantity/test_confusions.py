"""Numbers that books mix up: each mixture must raise, with a message that helps."""

import math

import pytest

from stacklib.quantity import Quantity, UnitError, maximum, minimum, where

Q = Quantity
GB, GIB = Q(80, "GB"), Q(80, "GiB")
ONE_WAY, BOTH_WAYS = Q(450, "GB/s per_direction"), Q(900, "GB/s bidirectional")
DENSE, SPARSE = Q(989, "TFLOP/s dense"), Q(1979, "TFLOP/s sparse")
CHIP, RACK = Q(192, "GB per_chip"), Q(13.8, "TB per_rack")

CONFUSIONS = {
    "GB plus GiB": lambda: GB + GIB,
    "GB against GiB": lambda: GB < GIB,
    "larger of GB and GiB": lambda: maximum(GB, GIB),
    "bits plus bytes": lambda: Q(1, "Gbit") + Q(1, "GB"),
    "bits against bytes a second": lambda: Q(400, "Gbit/s") > Q(50, "GB/s"),
    "FLOP plus MAC": lambda: Q(1, "GFLOP") + Q(1, "GMAC"),
    "FLOP against OP": lambda: Q(1, "TFLOP/s") < Q(1, "TOP/s"),
    "work against rate": lambda: Q(1, "TFLOP") < Q(1, "TFLOP/s"),
    "one way plus both ways": lambda: ONE_WAY + BOTH_WAYS,
    "one way over both ways": lambda: ONE_WAY / BOTH_WAYS,
    "one way against both ways": lambda: ONE_WAY == BOTH_WAYS,
    "dense plus sparse": lambda: DENSE + SPARSE,
    "sparse over dense": lambda: SPARSE / DENSE,
    "smaller of dense and sparse": lambda: minimum(DENSE, SPARSE),
    "dense or sparse": lambda: where(True, DENSE, SPARSE),
    "chip plus rack": lambda: CHIP + RACK,
    "rack over chip": lambda: RACK / CHIP,
    "core against chip": lambda: Q(24, "MiB per_core") < Q(192, "MiB per_chip"),
    "capacity against bandwidth": lambda: Q(80, "GB") < Q(3.35, "TB/s"),
    "seconds plus a bare number": lambda: Q(1, "s") + 1,
    "seconds against a bare number": lambda: Q(1, "s") > 1,
    "energy plus power": lambda: Q(1, "kWh") + Q(1, "kW"),
    "cycles plus seconds": lambda: Q(600, "cycle") + Q(1, "us"),
    "tokens a second against steps": lambda: Q(50, "token/s") > Q(50, "1/s"),
    "float of a quantity": lambda: float(Q(21, "ms")),
    "bytes as bits without asking": lambda: Q(1, "GB").to("GFLOP"),
    "one way marked as both": lambda: ONE_WAY.to("GB/s bidirectional"),
    "exponential of seconds": lambda: __import__(
        "stacklib.quantity"
    ).quantity.helpers.exp(Q(8, "s")),
    "log of seconds": lambda: __import__("stacklib.quantity").quantity.log2(Q(8, "s")),
    "price plus time": lambda: Q(2.69, "USD") + Q(1, "h"),
    "area plus length": lambda: Q(814, "mm2") + Q(26, "mm"),
}


@pytest.mark.rows("mix", CONFUSIONS.values())
def test_confusion_raises(mix):
    with pytest.raises(UnitError) as caught:
        mix()
    assert len(str(caught.value)) > 10


def test_at_least_twenty_confusions():
    assert len(CONFUSIONS) >= 20


@pytest.mark.rows(
    "unit",
    [
        "Gb",
        "GBps",
        "Gbps",
        "FLOPS",
        "TFLOPs",
        "KB",
        "TOPS",
        "sec",
        "GBs",
        "",
        "GB//s",
        "GB/",
        "GB/s sideways",
        "GB dense",
        "s per_direction",
        "GB/s per_direction bidirectional",
        "kUSDD",
    ],
)
def test_unreadable_unit_raises(unit):
    if unit == "":
        assert Quantity(1, unit).unit == ""  # a plain number has no unit
        return
    with pytest.raises(UnitError, match=r"\w{4}"):
        Quantity(1, unit)


@pytest.mark.rows("bad", [math.nan, math.inf, -math.inf, True, "3", None, [1]])
def test_not_a_number_raises(bad):
    with pytest.raises(UnitError):
        Quantity(bad, "GB")


def test_division_by_zero_raises_with_both_sides():
    with pytest.raises(UnitError, match="80 GB / 0 B/s"):
        GB / Quantity(0, "B/s")


def test_what_may_meet_does():
    assert (Q(8, "bit").to("B") + Q(1, "B")).si == 2
    assert Q(1, "GMAC").to("GFLOP").value == 2
    assert (BOTH_WAYS.retag("per_direction", 0.5) + ONE_WAY).value == 900
    assert SPARSE.retag("dense", 0.5).si == pytest.approx(DENSE.si, rel=1e-3)
    assert GIB.to("GB").value == pytest.approx(85.9, rel=1e-3)
    assert (CHIP.across(72)).to("TB").value == pytest.approx(13.824)
    assert CHIP.across(72).tags == frozenset()
