"""A prompt's products by a runner's kernels: llama.cpp's, whose code ports share.

Weights of few bits meet many rows in one of two ways, where there are tensor cores:

- as they are, in 8-bit integers, from Turing on: by warp-level instructions that do not
  know what came later, so on each unit about as fast on every generation. The default
  of NVIDIA's GPUs since June 2024 (llama.cpp, pull request 8075).
- before that, and on other GPUs still, widened: written to memory in 16 bits, by
  threads that have few bytes on their way, then multiplied as weights of 16 bits are.

Without tensor cores (Pascal, AMD's GCN and RDNA 2) lanes multiply them in 8-bit
integers, four a turn, whatever the date (pull request 4682): the same kernels, at the
share of such integers that they keep on tensor cores.

Those a library multiplies, and sums in 16 bits too: twice the rate of a GeForce. It
keeps a share of an engine's pace: numbers come and go in 32 bits, 512 rows at a time.
Metal's kernels widen in registers, and take what an engine's do.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import replace
from functools import lru_cache

from stacklib.gpu.issue import instructions
from stacklib.hardware import Accelerator, efficiency, get
from stacklib.models.weights.kept import way_of
from stacklib.roofline.bound import hierarchy
from stacklib.roofline.bound.few_rows import kernel_time
from stacklib.roofline.bound.gemm import chip_of, join

from .account import Case, Frame
from .calibrated import products_of
from .shape import PRODUCTS

INT8, WIDENED = "int8", "widened"  # multiplied in 8-bit integers, or widened first
LANES = "lanes"  # in 8-bit integers, by lanes
WARP = 2048.0  # 8-bit operations a cycle that a unit's warps make, from Turing on
TURN = 4  # bytes that a thread of llama.cpp's has on their way: two numbers
TENSOR, INTEGERS = 7.0, 7.5  # compute capability: tensor cores, and those for integers
HALF = 2.0  # bytes
# Rows that are multiplied while a tile is unpacked: pull request 24127 has passes of 64
# to 512 rows on an RTX 4090 at 10.0, 15.0, 23.2 and 41.3 ms, attention included.
UNPACKED = 64


def ported(device: Accelerator) -> bool:
    """Whether llama.cpp's code for CUDA runs there, or its port to AMD's GPUs."""
    return device.kind == "gpu" and device.vendor in ("NVIDIA", "AMD")


def way(frame: Frame, kernels: str = INT8) -> str:
    """How weights meet many rows: one of three ways, or empty as by an engine.

    - ``kernels``: ``WIDENED`` for those of before June 2024; empty for an engine's
    """
    device, narrow = frame.device, not way_of(frame.model, frame.dtype).numbers
    if not kernels or not ported(device):
        return ""
    if device.architecture in instructions.LANES:
        return LANES if narrow and "int8" in device.peaks else ""
    known = float(device.compute_capability or TENSOR)
    integers = device.vendor == "NVIDIA" and known >= INTEGERS
    return INT8 if narrow and integers and kernels == INT8 else WIDENED


def products_time(
    frame: Frame,
    rows: float,
    plain: float,
    kernels: str,
    kept: MutableMapping[tuple[str, float], float],
) -> float:
    """Seconds of a prompt's products on each chip.

    - ``plain``: of an engine's kernels
    - ``kept``: what does not move with a runner's own factors
    """
    found = way(frame, kernels)
    if not found:
        return plain
    if (found, rows) not in kept:
        times = widened_time if found == WIDENED else integers_time
        kept[found, rows], kept[f"{found}, beside", rows] = times(frame, rows)
    multiplied, beside = kept[found, rows], kept[f"{found}, beside", rows]
    if found == WIDENED:
        return multiplied / efficiency("runner_library") + beside
    return float(join(multiplied / efficiency("runner_operations"), beside))


def integers_time(frame: Frame, rows: float) -> tuple[float, float]:
    """Seconds at an operation a cycle on each unit, and of reading the weights.

    Every tile of weights is unpacked first, for however few rows. Lanes make fewer
    operations a cycle than warps together do, and take so much longer.
    """
    device = frame.device
    chip = chip_of(device, frame.runs_in)
    operations = read = 0.0
    for often, work in products_of(Case(frame, rows, 0.0, None, rows, False), PRODUCTS):
        weights = often * work.groups * work.n * work.k
        operations += 2 * weights * (work.m + UNPACKED)
        read += weights * work.right
    drawn = chip.bandwidth * efficiency("dram_gemm")
    cycles = operations / (chip.units * chip.clock)
    if device.architecture in instructions.LANES:
        cycles = operations / device.peak("int8").si * WARP
    return cycles, read / drawn


def widened_time(frame: Frame, rows: float) -> tuple[float, float]:
    """Seconds of products in 16 bits at an engine's pace, and of widening weights.

    The second is zero where weights are as wide as what they are multiplied with.
    """
    multiplied = moved = 0.0
    for often, work in products_of(Case(frame, rows, 0.0, None, rows, False), PRODUCTS):
        one = work.groups == 1  # many experts are multiplied by a kernel that unpacks
        wide = replace(work, right=HALF, expand=0.0) if one else work
        multiplied += often * kernel_time(wide, _summed_in_16(frame.device.key))
        if one and work.right < HALF:
            moved += often * work.n * work.k * (work.right + HALF)
    drawn = frame.device.memory_bandwidth.si * efficiency("dram_gemm")
    return multiplied, moved / hierarchy.delivered(frame.device, TURN, drawn)


@lru_cache(maxsize=64)
def _summed_in_16(key: str) -> Accelerator:
    """The device with its rate of sums in 16 bits, where it prints one of its own."""
    device = get(key)
    rate = device.peaks.get("fp16/fp16")
    if rate is None:
        return device
    both = {name: rate for name in ("fp16", "bf16") if name in device.peaks}
    return replace(device, key=f"{key} in 16 bits", peaks={**device.peaks, **both})
