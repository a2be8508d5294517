"""Enumerate layouts on one kind of chip, and hold each against limits."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from stacklib.hardware import UnknownSpec
from stacklib.interconnect.switches.closed import mean_wait

from ..estimates.losses import REQUEST_S
from ..token.exchanges import link_rate
from .asked import Asked
from .copies import (
    BUSY,
    Copy,
    Times,
    copy_of,
    crossing_bytes,
    mixed,
    read_time,
    writing,
)
from .layout import AGGREGATED, DISAGGREGATED, Layout, Pool

# A time that is this far over its limit is not met by a larger batch again: steps grow
# with the batch but for kinks of a few percent, where kernels change their tile.
FAR = 1.25


def rows_of(asked: Asked, device: str) -> list[Layout]:
    """Every layout on chips of one kind, kept or refused."""
    found: list[Layout] = []
    for dtype in asked.dtypes:
        copies = list(_copies(asked, device, dtype, found))
        for copy in copies:
            found += _one_pool(asked, copy)
        found += _two_pools(asked, copies)
    return found


def ways(asked: Asked) -> list[int]:
    """Numbers of chips that may share: divisors of all, and powers of two."""
    most = asked.gpus
    powers = {2**n for n in range(most.bit_length()) if 2**n <= most}
    return sorted(powers | {n for n in range(1, most + 1) if most % n == 0})


def _copies(
    asked: Asked, device: str, dtype: Any, refused: list[Layout]
) -> Iterator[Copy]:
    """Copies that chips can share and hold; others are added to what is refused."""
    first = copy_of(asked, device, dtype, 1, 1)  # raises for what is unknown
    for tp in ways(asked):
        for ep in ways(asked) if first.step.frame.model.experts else (1,):
            if tp * ep > asked.gpus:
                break
            alone = Layout(AGGREGATED, device, dtype, asked.gpus, Pool(tp, ep, 1, 1))
            try:
                copy = copy_of(asked, device, dtype, tp, ep)
            except (ValueError, UnknownSpec) as wrong:
                refused.append(replace(alone, refused=str(wrong).splitlines()[0]))
                break
            if copy.room < ep:
                refused.append(replace(alone, refused=copy.words))
            yield copy


def over(asked: Asked, ttft: float, tpot: float) -> str:
    """The limits that times are over; empty where they keep all."""
    whole = ttft + (asked.new - 1) * tpot
    named = (("ttft", ttft, asked.ttft), ("tpot", tpot, asked.tpot))
    found = [
        f"{name} {1e3 * time:.4g} ms > {1e3 * most:.4g} ms"
        for name, time, most in (*named, ("e2e", whole, asked.e2e))
        if time > most
    ]
    return "; ".join(found)


def _swept(
    copy: Copy, asked: Asked, times: Callable[[Copy, Asked, int], Times]
) -> list[Times]:
    """A copy at every batch until its times are far over the limits.

    Between the last that keeps them and the next the largest that does is looked for:
    the batches of engines stand some way apart.
    """
    found: list[Times] = []
    for batch in copy.batches:
        found.append(times(copy, asked, batch))
        one = found[-1]
        if over(asked.slower(1 / FAR), one.ttft, one.tpot):
            break
    kept = [i for i, x in enumerate(found) if not over(asked, x.ttft, x.tpot)]
    if kept and kept[-1] + 1 < len(found):
        low, high = (found[kept[-1] + n].batch // copy.ep for n in (0, 1))
        while high - low > 1:
            middle = (low + high) // 2
            one = times(copy, asked, middle * copy.ep)
            found.append(one)
            if over(asked, one.ttft, one.tpot):
                high = middle
            else:
                low = middle
    return found


def _one_pool(asked: Asked, copy: Copy) -> Iterator[Layout]:
    """Copies side by side, each reading and writing."""
    copies, names = asked.gpus // copy.chips, (copy.device, copy.dtype, asked.gpus)
    for x in _swept(copy, asked, mixed):
        pool, why = Pool(copy.tp, copy.ep, copies, x.batch), over(asked, x.ttft, x.tpot)
        rate = copies * x.rate
        yield Layout(AGGREGATED, *names, pool, None, x.ttft, x.tpot, rate, why)


def _two_pools(asked: Asked, copies: list[Copy]) -> Iterator[Layout]:
    """One pool reads, one writes; the cache crosses between them."""
    readers = [copy for copy in copies if copy.reads >= copy.ep]
    writers = [copy for copy in copies if copy.batches]
    swept: dict[tuple[int, int], list[Times]] = {}
    for reader in readers:
        for writer in writers:
            pools = Pool(writer.tp, writer.ep, 1, 1), Pool(reader.tp, reader.ep, 1, 1)
            names = (DISAGGREGATED, writer.device, writer.dtype, asked.gpus)
            pair = Layout(*names, *pools)
            if reader.chips + writer.chips > asked.gpus:
                read, write = reader.chips, writer.chips
                why = f"{read} to read and {write} to write > {asked.gpus} GPUs"
                yield replace(pair, refused=why)
                continue
            try:
                crossing = _crossing(asked, reader, writer)
            except (ValueError, UnknownSpec) as unknown:
                yield replace(pair, refused=str(unknown).splitlines()[0])
                continue
            key = writer.tp, writer.ep
            if key not in swept:
                swept[key] = _swept(writer, asked, writing)
            yield from _balanced(asked, pair, reader, writer, swept[key], crossing)


def _balanced(
    asked: Asked,
    pair: Layout,
    reader: Copy,
    writer: Copy,
    swept: list[Times],
    crossing: float,
) -> Iterator[Layout]:
    """The best numbers of copies for each batch of the writing pool.

    A reading copy takes as many prompts a second as its queue lets the first token
    wait: ``busy = 2 w / (2 w + s (1 + spread))`` for a wait w and s seconds a prompt.
    A larger batch that gives no more is left out: the writing pool would not fill it.
    """
    most, alone = -1.0, read_time(reader, asked)
    own, each = alone + crossing, alone - REQUEST_S
    for x in sorted(swept, key=lambda one: one.batch):
        limit = min(asked.ttft, asked.e2e - (asked.new - 1) * x.tpot)
        wait, busy = max(0.0, limit - own), BUSY
        if wait < math.inf:
            busy = min(BUSY, 2 * wait / (2 * wait + each * (1 + asked.spread)))
        reads, writes = busy * reader.ep / each, x.rate / asked.new
        many, others = numbers(asked.gpus, reader.chips, writer.chips, reads, writes)
        rate = min(many * reads, others * writes)
        if rate <= most:
            continue
        most, busy = rate, rate * each / (many * reader.ep)
        ttft = own + mean_wait(busy, each, asked.spread)
        if wait:
            ttft = min(ttft, limit)  # as it is, but for rounding
        yield replace(
            pair,
            pool=Pool(writer.tp, writer.ep, others, x.batch),
            prefill=Pool(reader.tp, reader.ep, many, reader.ep),
            ttft=ttft,
            tpot=x.tpot,
            tokens_per_s=rate * asked.new,
            refused=over(asked, ttft, x.tpot),
        )


def numbers(
    gpus: int, reader: int, writer: int, reads: float, writes: float
) -> tuple[int, int]:
    """Copies that read and that write, so that the slower pool is as fast as can be.

    - ``reader``, ``writer``: chips of a copy; ``reads``, ``writes``: its requests a
      second

    What readers do grows with them, what is left for writers shrinks: the best is where
    both meet, on one side of it or the other.
    """

    def left(many: int) -> int:
        return (gpus - many * reader) // writer

    # The first at which reading is no longer the slower, and the one before.
    counts = range(1, (gpus - writer) // reader)
    low = 1 + bisect_left(counts, True, key=lambda n: n * reads >= left(n) * writes)
    sides = [n for n in (low - 1, low) if n]
    many = max(sides, key=lambda n: min(n * reads, left(n) * writes))
    return many, left(many)


def _crossing(asked: Asked, reader: Copy, writer: Copy) -> float:
    """Seconds of a prompt's cache between pools, over the links of the fewer chips."""
    lanes = min(reader.tp, writer.tp)
    return crossing_bytes(reader, asked) / (lanes * link_rate(reader.device, 2))
