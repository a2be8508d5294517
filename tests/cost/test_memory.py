"""Dollars a gigabyte: by area and by counting, for SRAM and DRAM."""

import math

import pytest

from stacklib import cost
from stacklib.cost import making, memory
from stacklib.cost.memory import (
    array_efficiency,
    dram_die,
    dram_wafer,
    hbm_die,
    held,
    sram_area,
    sram_counted,
)
from stacklib.quantity import Quantity, UnknownName

NODES = ("n7", "n5", "n3", "n2")


@pytest.mark.rows("table", making.tables())
def test_every_fact_is_found_dated_and_sourced(table):
    for key in making.keys(table):
        found = cost.fact(table, key)
        assert found.quotes and found.low.si <= found.high.si
        for quote in found.quotes:
            assert quote.value.source is not None and quote.date >= "2014"


@pytest.mark.parametrize("file", making.FILES)
def test_every_source_of_the_facts_is_used(file):
    text = (making.DATA / file).read_text()
    names = [line[9:-1] for line in text.splitlines() if line.startswith("[sources.")]
    assert names
    for name in names:
        assert f'source = "{name}"' in text, f"{name} is unused"


def test_an_unknown_fact_names_the_nearest():
    with pytest.raises(UnknownName, match="table of facts"):
        cost.fact("gold", "n5")
    with pytest.raises(UnknownName, match="entry of 'cell'"):
        cost.fact("cell", "n65")


def test_the_first_review_is_reproduced_from_its_own_inputs():
    """17 kUSD, 0.021 um2, 55 %, 2^33 bits: 79 USD, by hand."""
    by_hand = 2**33 * 0.021e-6 / 0.55 * 16988 / (math.pi / 4 * 300**2)
    ours = cost.sram("n5", Quantity(0.55)).high.to("USD/GB").value
    assert ours * 2**30 / 1e9 == pytest.approx(by_hand, rel=1e-3)
    assert by_hand == pytest.approx(79, abs=0.5)


def test_cells_fill_a_third_to_two_thirds():
    share = array_efficiency()
    assert 0.3 < share.low.si < 0.4 and 0.65 < share.high.si < 0.75


@pytest.mark.rows("node", NODES)
@pytest.mark.rows("megabytes", [16, 64, 256])
def test_counting_dies_finds_the_rim_and_nothing_else(node, megabytes):
    """Counting costs a twentieth to a fifth more than dividing areas."""
    by_area = cost.sram(node, Quantity(0.5)).middle.to("USD/GB").value
    counted = sram_counted(node, megabytes, 0.5)
    assert 1.04 < counted / by_area < 1.25


def test_sram_does_not_get_cheaper():
    """The cell stopped shrinking, the wafer did not stop getting dearer."""
    middles = [cost.sram(node).middle.si for node in NODES]
    assert middles == sorted(middles)


def test_area_and_cost_belong_together():
    area = sram_area("n5", Quantity(0.5)).low.to("mm2").value
    assert area == pytest.approx(8e9 * 0.021e-6 / 0.5)
    with pytest.raises(ValueError, match="no more than everything"):
        sram_area("n5", Quantity(1.2))
    for bad in (0, -1, math.nan, True):
        with pytest.raises(ValueError):
            sram_counted("n5", bad)
        with pytest.raises(ValueError):
            sram_counted("n5", 64, bad if bad is not True else 2)


def test_a_dram_wafer_is_cheaper_than_any_logic_wafer_of_its_day():
    assert dram_wafer().high < cost.wafer_price("n10").low
    assert dram_wafer().low.to("USD").value == 1600


def test_dram_dies_have_the_size_seen_in_products():
    assert dram_die(12, "d1z").area.to("mm2").value == pytest.approx(44.9, rel=0.03)
    small, large = hbm_die(16, "d1z")
    assert small.area < large.area
    # 16 Gb at 0.16 Gb/mm2 are 100 mm2; the middle of D1z times 1.85 gives the same
    assert large.area.to("mm2").value == pytest.approx(16 / 0.16, rel=0.15)


def test_dram_by_area_agrees_with_dram_by_the_die():
    """Density, wafer and yield without a grid: within the rim."""
    per_gb = 8 / 0.324 / (math.pi / 4 * 300**2) * 1600 / 0.9
    assert 1.05 < cost.dram().low.to("USD/GB").value / per_gb < 1.25
    for bad in (0, -16, math.nan, True):
        with pytest.raises(ValueError, match=r"gbit = .*above zero"):
            dram_die(bad)
    with pytest.raises(UnknownName):
        dram_die(16, "d9z")


def test_a_model_in_sram():
    size = Quantity(141, "GB", label="weights")
    four = held(size, "wse3", "n5")
    assert four.chips.si == 4 and four.price is not None
    assert four.price.to("USD").value == pytest.approx(1e7)
    assert four.silicon.low.si == pytest.approx(4 * cost.wafer_price("n5").low.si)
    many = held(size, "groq_lpu_v1", "n16")
    assert many.chips.si == math.ceil(141e9 / 230e6) and many.price is None
    with pytest.raises(ValueError, match="a chip of SRAM"):
        held(size, "h100_sxm", "n5")


def test_a_wafer_that_stands_in_for_another_process_says_so():
    weights = Quantity(141, "GB")
    assert memory.held(weights, "wse3", "n5").process == "N5"
    assert memory.held(weights, "wse3", "n16").process == "N16 for TSMC 5nm"
    stand_in = memory.held(weights, "groq_lpu_v1", "n16").process
    assert stand_in == "N16 for GlobalFoundries 14nm"
