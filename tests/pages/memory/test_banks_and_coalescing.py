"""Numbers of coalescing and banks stand on the counters and the rules."""

import pytest

from stacklib.hardware.warp_rules import KNOWN, rule
from stacklib.memory import bank_conflicts, sectors
from stacklib.memory.warp.banks import BANKS, WORD
from stacklib.memory.warp.coalescing import LINE, SECTOR
from stacklib.memory.warp.lanes import WARP, strided
from stacklib.memory.warp.swizzle_proof import FAMILY, prove
from stacklib.pages.memory.banks import served, ways
from stacklib.pages.memory.coalescing import alone, moved, walk, walks
from stacklib.quantity import Quantity, UnknownName


def test_the_constants_are_the_rules():
    constants = {
        "lanes": WARP,
        "banks": BANKS,
        "word": WORD,
        "sector": SECTOR,
        "line": LINE,
        "fetch": 64,
    }
    assert {name: rule(name).si for name in KNOWN} == constants
    assert all(rule(name).source is not None for name in KNOWN)
    with pytest.raises(UnknownName, match="sector"):
        rule("sectr")


def test_pieces_and_ways_are_those_of_the_counters():
    for stride in (0, 1, 3, 8, 32):
        step = Quantity(4 * stride, "B", label="step")
        assert moved(step).si == sectors(strided(stride))
        if stride:
            lanes = list(strided(stride))
            assert ways(lanes, 4, "a walk").si == bank_conflicts(lanes)


def test_a_request_that_falls_unevenly_has_no_quotient():
    with pytest.raises(ValueError, match="uneven"):
        ways([0, 128, *range(4, 124, 4)], 4, "a bad request")
    with pytest.raises(ValueError, match="uneven"):
        ways([0] * 32, 4, "a broadcast")


def test_the_count_in_the_text_is_that_of_the_proof():
    counted = sum(prove(width, pitch).requests for width, pitch in FAMILY[:7])
    assert counted == 280 + 560 + 1120 + 2240 + 4480 + 8960 + 140
    assert served(FAMILY) == 30_870


def test_walks_are_joined_with_their_prediction():
    runs = walks()
    assert len({run.predicted.si for run in runs}) == 1
    assert len({run.case["lines"] for run in runs}) == 1
    assert walk(16).case["total"] == 0  # the first of every line is 0
    assert walk(1).case["total"] == 2**28 // 64 * sum(range(16))
    assert alone(16).si > walk(16).predicted.si
    with pytest.raises(ValueError, match="no stride 3; measured: 1, 2"):
        walk(3)
