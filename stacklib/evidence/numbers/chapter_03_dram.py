"""Numbers of the section on DRAM: cells, rows, refresh, and bytes in flight."""

from __future__ import annotations

from functools import cache

from stacklib import hardware
from stacklib.memory import DramChannel, dram_part, hbm_stack
from stacklib.memory.dram.cell import Cell
from stacklib.memory.dram.rates import random_rate, refresh_overhead, stream_share
from stacklib.memory.dram.traffic import PATTERNS, chunks
from stacklib.memory.dram.verify import rules
from stacklib.quantity import Quantity, Source

from .. import dram_published
from .registry import number

DEVICE = "h100-sxm"
SIMULATED = "stacklib.memory.DramChannel, every command checked"
BURSTS = 2000  # of a simulated number: short enough for plain Python
QUEUE = 64


def _assumed(value: float, unit: str, label: str, where: str = "") -> Quantity:
    source = Source("this section", where, "2026-11-22", "secondary") if where else None
    return Quantity(value, unit, label=label, kind="assumption", source=source)


# -- the cell -------------------------------------------------------------------

CELL = Cell()
CHOSEN = "a cell of round numbers: 10 fF, bitline 40 fF, 1.1 V, 30 fA, 70 mV"


@number("dram.electrons", digits=2)
def electrons() -> Quantity:
    """Electrons that tell a one from nothing, in a cell of round numbers."""
    return _assumed(CELL.electrons, "1", "charge of half the supply, in electrons",
                    CHOSEN)  # fmt: skip


@number("dram.bitline", digits=2, evidence="spec")
def bitline() -> Quantity:
    """Capacitance of the bitline over that of the cell, as assumed."""
    wire = _assumed(CELL.bitline * 1e15, "1", "fF of the bitline", CHOSEN)
    return wire / _assumed(CELL.capacitance * 1e15, "1", "fF of the cell", CHOSEN)


@number("dram.signal_percent", unit="%", digits=2)
def signal() -> Quantity:
    """Share of the supply by which a full cell moves its bitline."""
    moved = _assumed(CELL.signal(0.0), "1", "volts on the bitline", CHOSEN)
    return moved / _assumed(CELL.supply, "1", "volts of the supply", CHOSEN)


@number("dram.retention", unit="ms", digits=2)
def retention() -> Quantity:
    """Time until that cell can no longer be read, hot."""
    return _assumed(CELL.retention(), "s", "spare charge over leakage", CHOSEN)


@number("dram.retention_hotter", unit="ms", digits=2)
def retention_hotter() -> Quantity:
    """The same ten degrees hotter."""
    return _assumed(CELL.retention(95.0), "s", "spare charge over leakage", CHOSEN)


@number("dram.window", unit="ms", digits=2, evidence="spec")
def window() -> Quantity:
    """Time in which DDR4 refreshes every row once."""
    part = dram_part("ddr4-3200")
    return part.refi * part.refreshes


@number("dram.window_ddr5", unit="ms", digits=2, evidence="spec")
def window_ddr5() -> Quantity:
    """The same for DDR5 and HBM."""
    part = dram_part("ddr5-6400")
    return part.refi * part.refreshes


@number("dram.refreshes", digits=4, evidence="spec")
def refreshes() -> Quantity:
    """Refresh commands that reach every row."""
    return 1 * dram_part("ddr5-6400").refreshes


@number("dram.rfc", unit="ns", evidence="spec")
def rfc() -> Quantity:
    """Time of one refresh of all banks, DDR5."""
    return 1 * dram_part("ddr5-6400").rfc


@number("dram.refi", unit="µs", digits=2, evidence="spec")
def refi() -> Quantity:
    """Time from one refresh to the next, DDR5."""
    return 1 * dram_part("ddr5-6400").refi


@number("dram.overhead_ddr4", unit="%", digits=2)
def overhead_ddr4() -> Quantity:
    """Share of the time a DDR4 channel spends in refresh."""
    return refresh_overhead("ddr4-3200")


@number("dram.overhead_ddr5", unit="%", digits=2)
def overhead_ddr5() -> Quantity:
    """The same of a DDR5 channel."""
    return refresh_overhead("ddr5-6400")


@number("dram.overhead_hbm", unit="%", digits=2)
def overhead_hbm() -> Quantity:
    """The same of an HBM3 pseudo-channel, all banks at once."""
    return refresh_overhead("hbm3")


# -- rows -----------------------------------------------------------------------


@number("dram.row", unit="B", digits=4, evidence="spec")
def row() -> Quantity:
    """Bytes of a row of a DDR5 sub-channel."""
    return 1 * dram_part("ddr5-6400").row


@number("dram.burst", unit="B", digits=2, evidence="spec")
def burst() -> Quantity:
    """Bytes of a burst of DDR5."""
    return dram_part("ddr5-6400").burst


@number("dram.burst_hbm", unit="B", digits=2, evidence="spec")
def burst_hbm() -> Quantity:
    """Bytes of a burst of HBM3."""
    return dram_part("hbm3").burst


@number("dram.half", unit="%", digits=2)
def half() -> Quantity:
    """Share of the bytes moved that is not wanted when a sector is read from DDR5."""
    sector = _assumed(32, "B", "bytes of a sector")
    return 1 - sector / dram_part("ddr5-6400").burst


@number("dram.burst_time", unit="ns", digits=2)
def burst_time() -> Quantity:
    """Time a burst holds the bus of DDR5."""
    return dram_part("ddr5-6400").burst_time


@number("dram.rc", unit="ns", digits=2)
def rc() -> Quantity:
    """Time of a row cycle of DDR5."""
    return dram_part("ddr5-6400").rc


@number("dram.hit", unit="ns", digits=2)
def hit() -> Quantity:
    """From the read to the end of its data, row open, DDR4."""
    part = dram_part("ddr4-3200")
    return part.cl + part.burst_time


@number("dram.miss", unit="ns", digits=2)
def miss() -> Quantity:
    """The same when the row has to be opened first."""
    return dram_part("ddr4-3200").rcd + hit()


@number("dram.conflict", unit="ns", digits=2)
def conflict() -> Quantity:
    """The same when another row has to be closed before that."""
    return dram_part("ddr4-3200").rp + miss()


@number("dram.one_bank", unit="%", digits=2)
def one_bank() -> Quantity:
    """Share of the peak of DDR5 with rows of one bank only."""
    return random_rate("ddr5-6400", 1) / dram_part("ddr5-6400").bandwidth


@number("dram.banks", digits=2, evidence="spec")
def banks() -> Quantity:
    """Banks of a DDR5 sub-channel."""
    return dram_part("ddr5-6400").bank_count


@number("dram.faw", unit="ns", digits=2, evidence="spec")
def faw() -> Quantity:
    """Window in which an HBM3 pseudo-channel may open four rows."""
    return 1 * dram_part("hbm3").faw


@number("dram.rrd", unit="ns", digits=2, evidence="spec")
def rrd() -> Quantity:
    """Least time between two rows opened in an HBM3 pseudo-channel."""
    return 1 * dram_part("hbm3").rrd_s


@number("dram.burst_time_hbm", unit="ns")
def burst_time_hbm() -> Quantity:
    """Time of a burst of HBM3."""
    return dram_part("hbm3").burst_time


@number("dram.random_hbm", unit="%", digits=2)
def random_hbm() -> Quantity:
    """Share of the peak that random bursts get from HBM3, refresh left out."""
    return random_rate("hbm3") / dram_part("hbm3").bandwidth


@number("dram.random_ddr5", unit="%", digits=2)
def random_ddr5() -> Quantity:
    """The same from DDR5."""
    return random_rate("ddr5-6400") / dram_part("ddr5-6400").bandwidth


@number("dram.random_preset", unit="%", digits=2)
def random_preset() -> Quantity:
    """The same from DDR5 with the window of four activates of Ramulator's preset."""
    window = _assumed(20, "ns", "tFAW of the preset", "Ramulator 2.1, _resolve_nFAW")
    return dram_part("ddr5-6400").burst_time / (window / 4)


@cache
def _run(name: str, pattern: str, size: int = 0, **how: object) -> Quantity:
    """Steady share of the bus of a short simulation."""
    if pattern == "chunks":
        trace, stores = chunks(name, BURSTS, size)
    else:
        trace, stores = PATTERNS[pattern](name, BURSTS)
    settings = {"queue": QUEUE, "refresh": "none", **how}
    served = DramChannel(name, **settings).run(trace, stores)  # type: ignore[arg-type]
    what = f"{dram_part(name).short}, {pattern}: busy clocks of the bus over all"
    return _assumed(served.steady, "1", what, SIMULATED)


@number("dram.random_hbm_run", unit="%", digits=2, evidence="simulated")
def random_hbm_run() -> Quantity:
    """Share of the peak that random bursts got from the simulated HBM3."""
    return _run("hbm3", "random bursts")


@number("dram.fcfs", unit="%", digits=2, evidence="simulated")
def fcfs() -> Quantity:
    """Share of random bursts of DDR5 with a controller that sees only the oldest."""
    return _run("ddr5-6400", "random bursts", scheduler="fcfs")


@number("dram.reordered", unit="%", digits=2, evidence="simulated")
def reordered() -> Quantity:
    """The same with one that sees sixty-four."""
    return _run("ddr5-6400", "random bursts")


@number("dram.seen", digits=2, evidence="spec")
def seen() -> Quantity:
    """Requests the controller of these runs sees."""
    return _assumed(QUEUE, "1", "places in the queue", "a size that was chosen")


@number("dram.pieces_spread", unit="%", digits=2, evidence="simulated")
def pieces_spread() -> Quantity:
    """Share of HBM3 in random pieces of 256 bytes, neighbours in other groups."""
    return _run("hbm3", "chunks", 256)


@number("dram.pieces_kept", unit="%", digits=2, evidence="simulated")
def pieces_kept() -> Quantity:
    """The same with neighbours in one row."""
    return _run("hbm3", "chunks", 256, mapping="row:bank:group:column")


@number("dram.piece", unit="B", digits=3, evidence="spec")
def piece() -> Quantity:
    """Size of these pieces."""
    return _assumed(256, "B", "bytes of a piece", "a size that was chosen")


@number("dram.rules", digits=2, evidence="spec")
def rule_count() -> Quantity:
    """Rules between two commands that the second program checks."""
    count = len(rules(dram_part("ddr5-6400").clocks()))
    return _assumed(count, "1", "rules", "counted in stacklib.memory.dram.verify")


# -- held against others --------------------------------------------------------


@number("dram.stream_ddr5", unit="%", digits=3)
def stream_ddr5() -> Quantity:
    """Share of a stream of DDR5-4800 with refreshes of all banks."""
    return stream_share("ddr5-4800")


@number("dram.stream_eight", unit="GB/s", digits=4)
def stream_eight() -> Quantity:
    """What eight channels of DDR5-4800 stream, in closed form."""
    both = _assumed(16, "1", "sub-channels of eight channels")
    return both * dram_part("ddr5-4800").bandwidth * stream_share("ddr5-4800")


@number("dram.ramulator", unit="GB/s", digits=4, evidence="claimed")
def ramulator() -> Quantity:
    """The highest bandwidth Ramulator 2.0 reached with them, as its authors print."""
    return 1 * dram_published.fact("ramulator_ddr5_4800")


@number("dram.intel_random", unit="%", digits=2, evidence="claimed")
def intel_random() -> Quantity:
    """What Intel's HBM2E controller is designed to exceed at random."""
    return 1 * dram_published.fact("intel_random")


@number("dram.intel_run", unit="%", digits=2, evidence="simulated")
def intel_run() -> Quantity:
    """Our channel on that load: pairs of bursts at random places."""
    return _run("hbm2e", "chunks", 64, mapping="row:bank:group:column", refresh="some")


# -- pins -----------------------------------------------------------------------


@number("dram.ddr5_channel", unit="GB/s")
def ddr5_channel() -> Quantity:
    """Bandwidth of a DDR5-6400 channel of two sub-channels."""
    pair = _assumed(2, "1", "sub-channels of a channel")
    return pair * dram_part("ddr5-6400").bandwidth


@cache
def _eight_stacks(rate: float) -> Quantity:
    stack = hbm_stack(8, die_gbit=24, gbit_per_pin=rate)
    return _assumed(8, "1", "stacks") * stack.bandwidth


@number("dram.hbm3e_slow", unit="TB/s", digits=2)
def hbm3e_slow() -> Quantity:
    """Eight stacks of HBM3E at 7.8 Gbit/s."""
    return _eight_stacks(7.8)


@number("dram.hbm3e_fast", unit="TB/s", digits=3)
def hbm3e_fast() -> Quantity:
    """The same at 9.2 Gbit/s."""
    return _eight_stacks(9.2)


@number("dram.rubin", unit="TB/s", digits=2, evidence="spec")
def rubin() -> Quantity:
    """Bandwidth of Rubin, with HBM4."""
    return 1 * hardware.get("rubin").memory_bandwidth


@number("dram.rubin_pin", unit="Gbit/s", digits=3)
def rubin_pin() -> Quantity:
    """Rate that asks of each of its pins."""
    chip = hardware.get("rubin")
    pins = chip.memory_stacks * hardware.memory("hbm4").pins
    return (chip.memory_bandwidth / pins).to("bit/s")


# -- devices --------------------------------------------------------------------


@number("dram.h100_read", unit="%", digits=2, evidence="measured")
def h100_read() -> Quantity:
    """Share of its bandwidth that a reading kernel got from an H100 PCIe."""
    return dram_published.achieved("C-0032", "h100-pcie")


@number("dram.h100_scale", unit="%", digits=2, evidence="measured")
def h100_scale() -> Quantity:
    """The same of a kernel that reads one array and writes another."""
    return dram_published.achieved("C-0033", "h100-pcie")


@number("dram.a100_read", unit="%", digits=2, evidence="measured")
def a100_read() -> Quantity:
    """Share of its bandwidth that a reading kernel got from an A100."""
    return dram_published.achieved("C-0023", "a100-sxm-40gb")


@number("dram.a100_scale", unit="%", digits=2, evidence="measured")
def a100_scale() -> Quantity:
    """The same of a kernel that reads one array and writes another."""
    return dram_published.achieved("C-0024", "a100-sxm-40gb")


@number("dram.stream_hbm", unit="%", digits=2)
def stream_hbm() -> Quantity:
    """Share of a stream of HBM2E when a refresh stops all banks."""
    return stream_share("hbm2e")


@number("dram.copy_hbm", unit="%", digits=2, evidence="simulated")
def copy_hbm() -> Quantity:
    """Share of a simulated copy on HBM2E, writes drained in batches of the queue."""
    return _run("hbm2e", "copy")
