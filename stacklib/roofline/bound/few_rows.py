"""A product of few rows: vector instructions multiply it, and no tile pads it.

A tile of the matrix units has 16 rows at the least, so that one token costs as much as
16; ``gemm`` has no kernel but those. Libraries keep others for few rows: each weight is
read once, made ready to multiply once, and multiplied by every row that there is. From
which number of rows on tiles are faster is asked of both.

A grid of few blocks leaves units idle, and one more row of tiles fills some of them. So
that no product takes longer than one of more rows, the few rows of such a grid are also
asked for as those that begin the next row of tiles.
"""

from __future__ import annotations

import math
from dataclasses import replace

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.hardware.factors import efficiency_kept
from stacklib.quantity import DTYPES

from ..work.bounds import device_of
from ..work.products import EXPAND, Product, tilings
from . import gemm

_TILE, _AHEAD = 16, 8  # rows of the lowest tile; rows of tiles beyond its own
_LANES = "fp32"  # in which lanes multiply what has 16 bits or is widened to them


def kernel_time(work: Product, on: str | Accelerator) -> float:
    """Seconds of a product by the faster of both kinds of kernel, without its start."""
    return float(_kept(work, device_of(on)))


def _kernel_time(work: Product, device: Accelerator) -> float:
    found = gemm.gemm_time(work, device, "kernel")
    least = min(float(found.time - found.launch), few_rows_time(work, device))
    chip = gemm.chip_of(device, work.dtype)
    drawn = chip.bandwidth * hardware.efficiency("dram_gemm")
    for _ in range(_AHEAD):
        thin = found.tiling is not None and found.tiling.blocks < 2 * chip.units
        work = replace(work, m=_TILE * math.ceil(work.m / _TILE) + 1)
        if not thin or work.bytes / drawn >= least:
            break
        found = gemm.predict(work, chip, "kernel", tilings(work, int(chip.units)), 0.0)
        least = min(least, float(found.time - found.launch))
    return least


# A model has few products, and is asked for at many places.
_kept = efficiency_kept(_kernel_time, 8192)


def few_rows_time(work: Product, on: str | Accelerator) -> float:
    """Seconds of a product by vector instructions, without its start.

    Operands of 8 bits or less are first made ready. Infinite on chips that are no GPU
    or print no rate of fp32.
    """
    device = device_of(on)
    if work.promote > 0 or device.peaks.get(_LANES) is None:
        return math.inf
    expand = work.expand
    if not expand and (bits := DTYPES[work.dtype].bits) < 16:
        expand = EXPAND[4 if bits <= 4 else 8]
    chip, factor = gemm.chip_of(device, _LANES), hardware.efficiency
    if not chip.tiled:
        return math.inf
    instructions = (work.m + expand) * work.n * work.k * work.groups
    arithmetic = 2 * instructions / (chip.peak * factor(chip.issue))
    moving = work.bytes / (chip.bandwidth * factor("dram_gemm"))
    return float(gemm.join(arithmetic, moving))
