"""Channels, cells and closed forms: sources, units, and three kinds of number."""

import math

import numpy as np
import pytest

from stacklib.hardware import UnknownSpec
from stacklib.memory.dram import rates as dram
from stacklib.memory.dram.cell import Cell
from stacklib.memory.dram.parts import dram_names, dram_part
from stacklib.quantity import Quantity, UnknownName

PARTS = list(dram_names())


@pytest.mark.parametrize("name", PARTS)
def test_every_time_has_a_source_and_the_bus_fits_its_burst(name):
    part = dram_part(name)
    assert all(q is None or q.source is not None for q in part.fields.values())
    clocks = part.clocks("none")
    assert clocks.ccd_s >= clocks.bl, "bursts would overlap on the data bus"
    assert clocks.ccd_l >= clocks.ccd_s and clocks.rrd_l >= clocks.rrd_s
    assert clocks.rc == clocks.ras + clocks.rp
    assert clocks.bl * part.clock == pytest.approx(part.burst_time.si)
    assert part.burst.si in (32, 64)


@pytest.mark.parametrize("name", PARTS)
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
    c = dram_part("hbm3").clocks()
    assert (c.cl, c.rcd, c.rcdw, c.rp, c.ras, c.rc) == (26, 26, 14, 26, 48, 74)


def test_two_sub_channels_are_the_channel_of_the_database():
    from stacklib.hardware import memory

    pair = 2 * dram_part("ddr5_6400").bandwidth.si
    assert pair == pytest.approx(memory("ddr5_6400").bandwidth.si) == 51.2e9


def test_a_part_at_another_rate_keeps_its_nanoseconds():
    slow = dram_part("hbm3").at(Quantity(3.2, "Gbit/s"))
    assert slow.bandwidth.si == dram_part("hbm3").bandwidth.si / 2
    assert slow.clocks().rcd == math.ceil(16.25 / 1.25)
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


@pytest.mark.parametrize("name", CALLS)
def test_floats_quantities_and_arrays_agree(name):
    call, values = CALLS[name]
    plain = call(*values)
    units = [
        Quantity(v, "s" if v < 1e-6 else "1", label="x", kind="assumed") for v in values
    ]
    assert call(*units).si == pytest.approx(plain)
    arrays = [np.full(3, v) for v in values]
    np.testing.assert_allclose(call(*arrays), plain)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("bad", [0, -1, math.nan, True])
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


def test_a_cell_drains_as_its_charge_over_its_leak_says():
    cell = Cell()
    assert cell.drained(1e-5) == pytest.approx(cell.retention(), abs=2e-5)
    assert cell.drained(1e-5, 95) == pytest.approx(cell.retention(95), abs=2e-5)
    assert cell.signal(cell.retention()) == pytest.approx(cell.margin)
    assert cell.retention(95) == pytest.approx(cell.retention() / 2)
    assert 64e-3 < cell.retention() < 70e-3
    assert cell.electrons == pytest.approx(34328, rel=1e-3)


@pytest.mark.parametrize(
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
        Cell(**fields)
    with pytest.raises(ValueError, match="step = 0"):
        Cell().drained(0)


def test_unknown_names_and_fields_are_named():
    with pytest.raises(UnknownName, match="ddr5_6400"):
        dram_part("ddr5")
    with pytest.raises(UnknownSpec, match="ddr4_3200: tRFCsb"):
        _ = dram_part("ddr4-3200").rfc_bank
    with pytest.raises(AttributeError, match="no field 'cas'"):
        _ = dram_part("hbm3").cas
    with pytest.raises(ValueError, match="refresh = 'daily'"):
        dram_part("hbm3").clocks("daily")
