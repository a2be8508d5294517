"""What a DRAM channel can deliver, in closed form, from its timings.

The data bus is one limit. Rows are the others: a bank opens a row at most once a row
cycle (tRC), a channel starts at most four activates in tFAW, and while a refresh runs,
nothing is read. The simulator of ``dram_channel`` is held against each of these.

Formulas on plain values take floats, quantities or arrays; those on a part give
quantities that know where their timings are from.
"""

from __future__ import annotations

from typing import Any

from stacklib.quantity import Quantity, chosen, maximum
from stacklib.quantity.bounds import above_zero

from .parts import REFRESH, Clocks, DramPart, dram_part


def random_interval(burst: Any, rc: Any, banks: Any, rrd: Any, faw: Any) -> Any:
    """Least time from one burst to the next when each opens a row of its own."""
    above_zero(burst=burst, rc=rc, banks=banks, rrd=rrd, faw=faw)
    return maximum(burst, rc / banks, rrd, faw / 4)


def binding_rule(clocks: Clocks) -> str:
    """Which rule sets ``random_interval`` when every bank of a channel is used."""
    c = clocks
    limits = {
        "bus": c.bl,
        "tRC over the banks": c.rc / (c.groups * c.banks),
        "tRRD_S": c.rrd_s,
        "tFAW": c.faw / 4,
    }
    return max(limits, key=lambda name: limits[name])


def chunk_interval(
    bursts: Any, burst: Any, ccd: Any, rc: Any, banks: Any, rrd: Any, faw: Any
) -> Any:
    """Least time from one chunk to the next when a chunk lies in one row.

    One activate serves all bursts of the chunk, so the row limits are paid once for
    it, and the bus as often as it has bursts.
    """
    above_zero(bursts=bursts, ccd=ccd)
    row = random_interval(burst, maximum(rc, bursts * ccd), banks, rrd, faw)
    return maximum(bursts * burst, row)


def row_run_time(bursts: Any, rc: Any, rcd: Any, ccd: Any, rtp: Any, rp: Any) -> Any:
    """Time one bank needs for a row: open it, read some bursts, close it."""
    above_zero(bursts=bursts, rc=rc, rcd=rcd, ccd=ccd, rtp=rtp, rp=rp)
    return maximum(rc, rcd + (bursts - 1) * ccd + rtp + rp)


def turnaround_share(batch: Any, burst: Any, to_write: Any, to_read: Any) -> Any:
    """Share of the bus that reads and writes in turn leave, ``batch`` bursts each."""
    above_zero(batch=batch, burst=burst, to_write=to_write, to_read=to_read)
    whole = 2 * (batch - 1) * burst + to_write + to_read
    return 2 * batch * burst / whole


def _part(part: DramPart | str) -> DramPart:
    return dram_part(part) if isinstance(part, str) else part


def refresh_overhead(part: DramPart | str, refresh: str = "all") -> Quantity:
    """Share of the time a bank spends being refreshed: tRFC over tREFI."""
    if refresh not in REFRESH[:2]:
        raise ValueError(f"refresh = {refresh!r}: 'all' or 'some'")
    found = _part(part)
    if refresh == "some" and found.refreshed == "all":
        raise ValueError(f"{found.short} refreshes all banks at once: refresh='all'")
    busy = found.rfc if refresh == "all" else found.rfc_bank
    return (busy / found.refi).named(f"{found.short} share of time in refresh")


def refresh_gap(part: DramPart | str) -> Quantity:
    """Time without data around a refresh of all banks.

    Rows are closed before and opened after: read to precharge, precharge, refresh,
    activate to read; the one burst's time that any two reads are apart is not lost.
    """
    p = _part(part)
    gap = p.rtp + p.rp + p.rfc + p.rcd - p.burst_time
    return gap.named(f"{p.short} time lost to a refresh")


def stream_share(part: DramPart | str) -> Quantity:
    """Share of the peak that an endless sequential read gets, all banks refreshed."""
    p = _part(part)
    return (1 - refresh_gap(p) / p.refi).named(f"{p.short} share of a stream")


def random_rate(part: DramPart | str, banks: int | None = None) -> Quantity:
    """Bytes a second of reads whose rows are all different, refresh left out."""
    p = _part(part)
    every = p.bank_count
    if banks is not None and not 1 <= banks <= every.si:
        raise ValueError(f"banks = {banks}: 1 to {every.si:.0f}")
    used = every if banks is None else chosen(banks, label="banks used")
    interval = random_interval(p.burst_time, p.rc, used, p.rrd_s, p.faw)
    return (p.burst / interval).to("B/s").named(f"{p.short} random reads")
