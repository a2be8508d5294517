"""Traces for a DRAM channel, and what each gets: closed form beside simulation."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stacklib.quantity.bounds import whole

from . import rates as dram
from .channel import DramChannel, Served
from .parts import DramPart, dram_part
from .verify import verify

SPAN = 1 << 24  # bursts that scattered addresses are drawn from
Trace = tuple[list[int], list[bool]]


def _sizes(part: DramPart | str, n: int) -> tuple[int, int, int]:
    """Bytes of a burst, of a row, and of one row in every bank."""
    whole(n=n)
    p = dram_part(part) if isinstance(part, str) else part
    row = int(p.row.si)
    return int(p.burst.si), row, row * int(p.bank_count.si)


def stream(part: DramPart | str, n: int) -> Trace:
    """Reads of ``n`` bursts, one after the other."""
    burst, _, _ = _sizes(part, n)
    return [i * burst for i in range(n)], [False] * n


def copy(part: DramPart | str, n: int) -> Trace:
    """A burst read here, a burst written there, in turn; ``n`` of both together."""
    burst, _, whole = _sizes(part, n)
    there = 1024 * whole + whole // 2  # other banks than those that are read
    trace = [(i // 2) * burst + (i % 2) * there for i in range(n)]
    return trace, [i % 2 == 1 for i in range(n)]


def chunks(part: DramPart | str, n: int, size: int = 0, seed: int = 1) -> Trace:
    """Reads of ``n`` bursts in aligned pieces of ``size`` bytes at random places."""
    burst, _, _ = _sizes(part, n)
    size = size or burst
    if size < 0 or size % burst:
        raise ValueError(f"size = {size}: a multiple of the burst of {burst} bytes")
    draw, each = random.Random(seed), size // burst
    starts = [draw.randrange(SPAN // each) * size for _ in range(-(-n // each))]
    trace = [at + k * burst for at in starts for k in range(each)][:n]
    return trace, [False] * n


def one_bank(part: DramPart | str, n: int) -> Trace:
    """Reads of ``n`` rows that all lie in one bank: the worst stride there is."""
    _, _, whole = _sizes(part, n)
    return [i * whole for i in range(n)], [False] * n


PATTERNS: dict[str, Callable[[DramPart | str, int], Trace]] = {
    "stream": stream,
    "copy": copy,
    "random bursts": chunks,
    "one bank": one_bank,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """A pattern on a channel: the closed form, the run, and how it went.

    ``told`` and ``share`` are shares of the peak; ``hits`` is the share of requests
    that found their row open; ``commands`` how many were issued and checked.
    """

    pattern: str
    told: float
    share: float
    hits: float
    commands: int
    served: Served


def told(channel: DramChannel, pattern: str) -> float:
    """Share of the peak by the closed forms, refreshes of all banks included."""
    part, c = channel.kind, channel.kind.clocks("none")
    if pattern not in PATTERNS:
        raise ValueError(f"pattern {pattern!r}: one of {', '.join(PATTERNS)}")
    left = 1.0
    if channel.refresh == "all":
        left = dram.stream_share(part).si
    if pattern == "random bursts":
        return left * (dram.random_rate(part) / part.bandwidth).si
    if pattern == "one bank":
        return left * (dram.random_rate(part, 1) / part.bandwidth).si
    if pattern == "copy":
        back = c.cwl + c.bl + c.wtr_s
        return left * dram.turnaround_share(channel.queue, c.bl, c.rtw, back)
    return left


def compare(channel: DramChannel, intervals: int = 6) -> list[Outcome]:
    """Every pattern on a channel, each command checked."""
    return [outcome(channel, name, intervals) for name in PATTERNS]


def outcome(channel: DramChannel, pattern: str, intervals: int = 6) -> Outcome:
    """One pattern on a channel over some refresh intervals, each command checked."""
    whole(2, intervals=intervals)
    part, expected = channel.kind, told(channel, pattern)
    bursts = intervals * part.refi.si / part.burst_time.si
    served = channel.run(*PATTERNS[pattern](part, max(500, int(bursts * expected))))
    # A command that breaks a rule here would be a fault of the simulator.
    checked = verify(served).commands
    hits = served.share("hit")
    return Outcome(pattern, expected, served.settled, hits, checked, served)


@dataclass(frozen=True, slots=True)
class Piece:
    """Random pieces of one size: shares of the peak that are of use.

    ``told`` by the closed form, ``share`` as run; bytes that were moved and not asked
    for count as lost.
    """

    size: int
    told: float
    share: float


def pieces(part: DramPart | str, sizes: Sequence[int], n: int = 1500) -> list[Piece]:
    """What random pieces of each size get when neighbours lie in one row.

    ``sizes``: bytes wanted at each place; a piece below a burst still moves a burst.
    """
    p = dram_part(part) if isinstance(part, str) else part
    burst, c = int(p.burst.si), p.clocks("none")
    channel = DramChannel(p, mapping="row:bank:group:column", queue=64, refresh="none")
    found = []
    for size in sizes:
        whole(size=size)
        # A piece below a burst still moves a burst.
        moved = max(size, burst)
        bursts = moved // burst
        interval = dram.chunk_interval(
            bursts, c.bl, c.ccd_l, c.rc, c.groups * c.banks, c.rrd_s, c.faw
        )
        useful = size / moved
        served = channel.run(*chunks(p, n, moved))
        found.append(
            Piece(size, useful * bursts * c.bl / interval, useful * served.steady)
        )
    return found
