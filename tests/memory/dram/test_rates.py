"""Channels, cells and closed forms: sources, units, and three kinds of number."""

import math
import random
import re
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from stacklib.hardware import UnknownSpec, memory, memory_names
from stacklib.memory.dram import cell
from stacklib.memory.dram import rates as dram
from stacklib.memory.dram.parts import dram_names, dram_part
from stacklib.quantity import Quantity, UnknownName

PARTS = list(dram_names())


@pytest.mark.rows("name", PARTS)
def test_every_time_has_a_source_and_the_bus_fits_its_burst(name):
    part = dram_part(name)
    assert all(q is None or q.source is not None for q in part.fields.values())
    clocks = part.clocks("none")
    assert clocks.ccd_s >= clocks.bl, "bursts would overlap on the data bus"
    assert clocks.ccd_l >= clocks.ccd_s and clocks.rrd_l >= clocks.rrd_s
    assert 0 <= clocks.rc - (clocks.ras + clocks.rp) <= 1  # a preset rounds each
    assert clocks.bl * part.clock == pytest.approx(part.burst_time.si)
    assert part.burst.si in (32, 64)


@pytest.mark.rows("name", PARTS)
def test_all_rows_are_refreshed_within_the_retention_time(name):
    part = dram_part(name)
    window = part.refi.si * part.refreshes.si
    assert window == pytest.approx(64e-3 if name == "ddr4_3200" else 32e-3, rel=0.03)
    if part.refreshed != "all":
        some = part.clocks("some")
        assert some.refi == part.clocks("all").refi // some.sets


def test_a_clock_is_rounded_up_as_a_preset_of_ramulator_is():
    c = dram_part("ddr4_3200").clocks()
    assert (c.cl, c.rcd, c.rp, c.ras, c.rc) == (22, 22, 22, 52, 74)
    assert (c.wr, c.rtp, c.cwl, c.faw) == (24, 12, 16, 34)
    c = dram_part("ddr5_4800").clocks()
    assert (c.cl, c.rcd, c.rp, c.ras, c.rc) == (34, 34, 34, 77, 111)
    c = dram_part("hbm3_march").clocks()
    assert (c.cl, c.rcd, c.rcdw, c.rp, c.ras, c.rc) == (26, 26, 14, 26, 48, 74)
    assert (c.rrd_s, c.faw) == (8, 24)
    c = dram_part("hbm3").clocks("some")  # HBM3_6400Mbps of v2.1.0, HBM3_16Gb_8hi
    assert (c.cl, c.rcd, c.rcdw, c.rp, c.ras, c.rc) == (20, 31, 15, 26, 45, 72)
    assert (c.wr, c.rtp, c.cwl, c.rrd_s, c.rrd_l, c.faw) == (33, 9, 10, 4, 5, 24)
    assert (c.ccd_s, c.ccd_l, c.ccd_r, c.ppd) == (2, 4, 3, 2)
    assert (c.wtr_s, c.wtr_l, c.rtw, c.rfc, c.rrefd) == (7, 10, 20, 320, 8)
    assert (c.sids, c.groups, c.banks, c.refi) == (2, 8, 4, 6240 // 32)
    c = dram_part("hbm4").clocks("some")  # HBM4_8000Mbps, HBM4_32Gb_8Hi
    assert (c.cl, c.rcd, c.rcdw, c.rp, c.ras, c.rc) == (20, 39, 19, 33, 57, 90)
    assert (c.wr, c.rtp, c.cwl, c.rrd_s, c.rrd_l, c.faw) == (42, 12, 10, 5, 7, 30)
    assert (c.ccd_s, c.ccd_l, c.ccd_r, c.ppd) == (2, 4, 2, 2)
    assert (c.wtr_s, c.wtr_l, c.rtw, c.rfc, c.rrefd) == (9, 13, 25, 560, 16)
    assert (c.sids, c.groups, c.banks) == (2, 4, 8)


def test_a_part_that_is_like_another_keeps_its_nanoseconds():
    old, new = dram_part("hbm3").clocks(), dram_part("hbm3e").clocks()
    for name in ("rcd", "rp", "rc", "faw", "rfc", "ccd_l", "ccd_r"):
        assert getattr(new, name) == math.ceil(getattr(old, name) * 9.2 / 6.4 - 0.01)


def test_random_reads_of_hbm3_are_a_range_over_two_presets():
    shares = [
        (dram.random_rate(name) / dram_part(name).bandwidth).si
        for name in ("hbm3_march", "hbm3", "hbm3e", "hbm4")
    ]
    assert shares == pytest.approx([0.25, 1 / 3, 0.2319, 0.2667], rel=1e-3)


def family(name):
    return re.match(r"[A-Z]*?DDR\d|HBM\d", name)[0]


def test_two_sub_channels_are_the_dimm_of_the_database():
    pair = 2 * dram_part("ddr5_6400").bandwidth.si
    assert pair == pytest.approx(memory("ddr5_6400").bandwidth.si) == 51.2e9
    for key in ("ddr5_4800", "ddr5_6400"):
        assert memory(key).part == "DIMM"
        assert memory(key).pins.si == 2 * dram_part(key).width.si


def test_the_channel_of_a_memory_has_one_width():
    widths: dict[str, set[float]] = {}
    for part in map(dram_part, PARTS):
        said = re.search(r"(\d+)-bit ((?:sub-|pseudo-)?channel)", part.name)
        assert said is None or int(said[1]) == part.width.si
        if said and said[2] == "channel":
            widths.setdefault(family(part.name), set()).add(part.width.si)
    for one in map(memory, memory_names()):
        if one.part == "channel":
            widths.setdefault(family(one.name), set()).add(one.pins.si)
    assert widths and all(len(found) == 1 for found in widths.values()), widths
    assert "DDR5" not in widths  # it has sub-channels, and DIMMs of two


def test_a_part_at_another_rate_keeps_its_nanoseconds():
    slow = dram_part("hbm3").at(Quantity(3.2, "Gbit/s"))
    assert slow.bandwidth.si == dram_part("hbm3").bandwidth.si / 2
    assert slow.clocks().rcd == math.ceil(19.375 / 1.25)
    with pytest.raises(ValueError, match="pin_rate"):
        dram_part("hbm3").at(6.4)


def test_overheads_of_refresh():
    assert dram.refresh_overhead("ddr4-3200").si == pytest.approx(350 / 7800)
    assert dram.refresh_overhead("ddr5-6400").si == pytest.approx(295 / 3900)
    assert dram.refresh_overhead("ddr5-6400", "some").si == pytest.approx(130 / 3900)
    assert dram.refresh_overhead("hbm3").si == pytest.approx(350 / 3900)
    with pytest.raises(ValueError, match="refreshes all banks at once"):
        dram.refresh_overhead("ddr4-3200", "some")
    with pytest.raises(ValueError, match="refresh = 'none'"):
        dram.refresh_overhead("hbm3", "none")


def test_the_stream_share_is_that_of_ramulators_published_run():
    # 281.1 GB/s at most over eight channels of DDR5-4800 (mess/README.md of Ramulator
    # 2.0; arXiv 2510.15744): a run of the other simulator, not of a machine.
    part = dram_part("ddr5-4800")
    whole = dram.stream_share(part).si * 16 * part.bandwidth.si
    assert whole == pytest.approx(281.1e9, rel=0.002)


CALLS = {
    "random": (dram.random_interval, (2.5e-9, 46e-9, 16.0, 2.5e-9, 21e-9)),
    "chunk": (dram.chunk_interval, (4.0, 1e-9, 2e-9, 46e-9, 16.0, 4e-9, 16e-9)),
    "row": (dram.row_run_time, (8.0, 46e-9, 14e-9, 2e-9, 5e-9, 14e-9)),
    "turn": (dram.turnaround_share, (16.0, 2e-9, 14e-9, 15e-9)),
}


@pytest.mark.rows("name", CALLS)
def test_floats_quantities_and_arrays_agree(name):
    call, values = CALLS[name]
    plain = call(*values)
    units = [Quantity(v, "s" if v < 1e-6 else "1", label="x") for v in values]
    assert call(*units).si == pytest.approx(plain)
    arrays = [np.full(3, v) for v in values]
    np.testing.assert_allclose(call(*arrays), plain)


@pytest.mark.rows("name", CALLS)
@pytest.mark.rows("bad", [0, -1, math.nan, True])
def test_what_is_not_above_zero_is_refused(name, bad):
    call, values = CALLS[name]
    with pytest.raises(ValueError, match=r" = .*above zero is needed"):
        call(bad, *values[1:])


def test_random_reads_find_the_limit_that_binds():
    one = dram.random_rate("ddr4-3200", 1)
    assert one.si == pytest.approx(64 / 46.25e-9)
    assert dram.random_rate("ddr4-3200").si == pytest.approx(4 * 64 / 21.25e-9)
    assert dram.random_rate("ddr5-6400").si == pytest.approx(25.6e9)
    with pytest.raises(ValueError, match="banks = 99"):
        dram.random_rate("ddr4-3200", 99)


CELL = cell.typical_cell()


def test_a_cell_drains_as_its_charge_over_its_leak_says():
    for celsius in (85, 95):
        told = CELL.retention(celsius)
        # Electrons that leave at random: the mean of n has a spread of 1 / sqrt(n).
        few = told * CELL.leaks(celsius) / cell.ELECTRON
        seen = [CELL.drained(seed, celsius) / told for seed in range(5)]
        assert sum(seen) / 5 == pytest.approx(1, abs=4 / (5 * few) ** 0.5)
        assert len(set(seen)) == 5
    assert CELL.signal(CELL.retention()) == pytest.approx(CELL.margin)
    assert CELL.retention(95) == pytest.approx(CELL.retention() / 2)


def test_a_cell_says_where_each_of_its_numbers_is_from():
    facts = cell.cell_facts()
    assert all(q.source is not None for q in facts.values())
    assert (CELL.capacitance, CELL.leakage) == pytest.approx((30e-15, 1e-15))
    assert CELL.bitline < CELL.capacitance * (CELL.supply / 2 / CELL.margin - 1)


def test_the_interval_of_the_standard_is_the_tail_and_no_cell_of_its_own():
    width = cell.spread(CELL.retention(), 1000, 1e11, 0.256)
    assert cell.weakest(CELL.retention(), width, 1e8) == pytest.approx(0.256)
    least = cell.weakest(CELL.retention(), width, 1e11)
    assert 0.064 < least < 0.256 < 10 * 0.256 < CELL.retention()
    # Cells drawn one by one: the least of n, on average, is where the curve has it.
    draw, n = random.Random(1), 400
    curve = NormalDist(math.log(CELL.retention()), width)
    lots = [min(draw.gauss(curve.mean, width) for _ in range(n)) for _ in range(60)]
    below = sum(math.exp(t) < cell.weakest(CELL.retention(), width, n) for t in lots)
    assert below / 60 == pytest.approx(1 - (1 - 1 / n) ** n, abs=0.16)


@pytest.mark.rows(
    ("fields", "message"),
    [
        ({"leakage": 0}, "leakage = 0"),
        ({"supply": math.nan}, "supply = nan"),
        ({"margin": 0.2}, "a full cell moves"),
        ({"bitline": True}, "bitline = True"),
    ],
)
def test_what_is_no_cell_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        replace(CELL, **fields)
    with pytest.raises(ValueError, match="seed = -1"):
        CELL.drained(-1)
    with pytest.raises(ValueError, match="no lower tail"):
        cell.spread(1.0, 1000, 1e11, 2.0)


def test_unknown_names_and_fields_are_named():
    with pytest.raises(UnknownName, match="ddr5_6400"):
        dram_part("ddr5")
    with pytest.raises(UnknownSpec, match="ddr4_3200: tRFCsb"):
        _ = dram_part("ddr4-3200").rfc_bank
    with pytest.raises(AttributeError, match="no field 'cas'"):
        _ = dram_part("hbm3").cas
    with pytest.raises(ValueError, match="refresh = 'daily'"):
        dram_part("hbm3").clocks("daily")
