"""One token's attention for any batch and length: the form of its plan, kept.

``attention_time.predict(plan(...))`` reads a device, cuts a grid and prices it. Of one
query against a cache only batch and keys move from step to step; all that depends on
neither is read once here, so that a further step is twenty operations and arrays sweep.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import ceil, maximum, minimum, where
from stacklib.roofline.bound import gemm

from .attention_time import Attention, plan, tile_seconds
from .cuts import PLAIN
from .rules import COLUMNS, ROWS


@dataclass(frozen=True, slots=True)
class TokenForm:
    """An attention of one query a sequence, without its batch and keys."""

    heads: int  # blocks a sequence before the keys are shared out
    units: float
    step: int  # keys that a block takes at once
    tile: float  # seconds of a tile
    fill: float  # tiles that a block loses, no more than it has
    wait: float  # and waits for
    tail: float  # paid share of the last wave's empty part
    row: float  # bytes of K and V of a token, over the heads of a chip
    query: float  # bytes of queries and results of a sequence
    drawn: float  # bytes a second from the memory
    enough: float  # blocks that draw all of them
    launch: float
    ideal: float  # seconds of arithmetic of a key of a sequence, at the peak
    sharp: float
    wanted: float  # of the board's power at the peak; 0 where it is not known
    exponent: float

    def time(self, batch: Any, keys: Any) -> Any:
        """Seconds without the kernel's start, as ``predict`` has them."""
        heads = batch * self.heads
        each = ceil(keys / self.step) * (self.step / COLUMNS)
        spare = maximum(1.0, self.units // heads)
        splits = where(heads < self.units, minimum(ceil(each), spare), 1.0)
        blocks = heads * splits
        waves = blocks / self.units
        full = waves + (ceil(waves) - waves) * self.tail
        share = where(splits > 1, ceil(each), each) / splits
        compute = full * (share + minimum(self.fill, share) + self.wait) * self.tile
        # A share of few keys draws little, and queries and results are no share's.
        drawing = heads * maximum(1.0, keys / (share * COLUMNS))
        memory = batch * keys * self.row / minimum(1.0, drawing / self.enough)
        results = batch * self.query / minimum(1.0, heads / self.enough)
        memory = (memory + results) / self.drawn
        if self.wanted:
            floor = self.launch * where(splits > 1, 2.0, 1.0)
            spent = gemm.join(compute, memory, self.sharp) + floor
            busy = self.wanted * batch * keys * self.ideal / spent
            compute = compute / minimum(1.0, busy**-self.exponent)
        return gemm.join(compute, memory, self.sharp)


def token_form(work: Attention, on: Accelerator, software: str) -> TokenForm:
    """The form of an attention on a device.

    - ``work``: one query a sequence; its batch and keys are of no account
    - raises ``ValueError`` for another, and for heads that no tile holds
    """
    packed = work.heads // work.kv_heads
    other = work.causal or work.cut != PLAIN or software == "naive"
    if work.queries != 1 or packed > ROWS or other:
        raise ValueError(
            f"{work.queries} queries, {packed} heads share keys, {software}: one query "
            f"without a mask, at most {ROWS} heads, by no naive kernel and no engine's"
        )
    found = plan(replace(work, batch=1, keys=1), on, software)
    factor, chip = hardware.efficiency, found.chip
    tile, _, _ = tile_seconds(found)
    units = max(1.0, found.rates.units)
    wanted = 0.0
    if chip.energy and chip.tdp is not None:
        wanted = chip.peak * math.prod(map(factor, chip.energy)) / chip.tdp
        wanted *= 2 if chip.doubled else 1
    return TokenForm(
        heads=work.kv_heads * math.ceil(packed / found.grid.rows),
        units=float(int(units)) if units == int(units) else units,
        step=found.rule.columns,
        tile=tile,
        fill=factor("attention_fill") / COLUMNS,
        wait=found.work.cut.trips * found.latency / tile,
        tail=factor("wave_tail"),
        row=work.kv_heads * replace(work, keys=1).kv_bytes,
        query=replace(work, batch=1).query_bytes,
        drawn=on.memory_bandwidth.si * factor("dram_read"),
        enough=units * factor("blocks_per_unit"),
        launch=factor("launch_kernel") * found.starts,
        ideal=replace(work, batch=1, keys=1).flops / chip.peak,
        sharp=factor("join_sharpness"),
        wanted=wanted,
        exponent=factor("power_exponent"),
    )
