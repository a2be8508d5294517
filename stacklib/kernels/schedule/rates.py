"""One table of what a compute unit does in a cycle, for attention on any device.

Tensor cores, exponentials, FP32 lanes, shared memory: four numbers an architecture,
read from ``stacklib.hardware`` and ``gpu.issue.instructions``. ``tile_work`` says how
many cycles a tile of attention keeps each of them busy. Where a vendor has not said, a
neighbour's number stands in, and ``UnitRates.assumed`` names it.

Instructions of the softmax are counted from Algorithm 1 of FlashAttention-2 (T. Dao
2023, arXiv 2307.08691): for each score one maximum, one multiply-add that scales and
shifts, one exponential, one addition, half a conversion (two results each); for each
element of the sum one multiplication that corrects it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from stacklib import hardware
from stacklib.gpu.issue.instructions import instruction, part_count
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.quantity import bytes_per_element, quoted
from stacklib.quantity import dtype as find_dtype

SHARED = 32 * 4.0  # bytes a cycle: 32 banks of 4 bytes
SCORE_OPS = quoted("score.instructions").si  # of FP32, beside its exponential
# More for a score in 8 bits: converted at half the rate, its bytes permuted into the
# order in which the next product takes them (FlashAttention-3, section 3.3).
EIGHT_BIT_OPS = 1.0
# Exponential in software on the FP32 lanes: Cody and Waite's range reduction (a
# multiply-add to round, a subtraction), a polynomial of degree 3, a shift and an
# addition into the exponent (FlashAttention-4, T. Dao et al. 2025, section 3).
SOFTWARE_EXP_OPS = 7.0
# Blackwell's instructions on pairs of FP32 numbers (PTX ISA 8.6, f32x2) halve additions
# and multiply-adds, its maximum takes three numbers (PTX ISA 8.8): half a slot each.
PAIRED_SCORE_OPS = SCORE_OPS - 1.5
# Hopper's warp-level mma.sync: the share of the peak that it was measured to reach
# (W. Luo et al., arXiv 2402.13499, tensor core tables: 62.9 % on average). Where
# ``tcgen05.mma`` is newest, old code is taken to keep an A100's pace, a quarter of it:
# no vendor says so, FlashAttention-2 on a B200 does, in two sources' rows.
WARP_MMA, WARP_MMA_FLOPS, _OLDEST = 0.629, 4096, 4
_LANES_AN_EXP = 8  # FP32 lanes for each exponential of a cycle: 128 to 16
_EXP = 16.0
_L2 = 37.0  # bytes a cycle that a unit of H100 was measured to read


@dataclass(frozen=True, slots=True)
class UnitRates:
    """What one compute unit does in a cycle, and how many of them there are."""

    device: str
    tensor: float  # dense FLOP, by the newest matrix instruction
    warp_mma: float  # FLOP by the warp-level instruction
    exp: float  # exponentials
    fma: float  # FP32 instructions, counted in lanes
    shared: float  # bytes of shared memory
    l2: float  # bytes that one unit gets from the L2
    units: float
    clock: float  # cycles a second
    assumed: tuple[str, ...] = ()  # what a neighbour's number stands in for

    @property
    def peak(self) -> float:
        """FLOP/s of the device."""
        return self.tensor * self.units * self.clock


def _lanes(device: Accelerator, units: float, clock: float) -> tuple[float, bool]:
    """FP32 lanes of a unit; from the printed peak where no part list has them."""
    try:
        return float(part_count(device, "fp32_lanes").si), False
    except UnknownSpec:
        return device.peak("fp32").si / 2 / units / clock, True


def newest(device: Accelerator) -> str:
    """The device's newest matrix instruction, where it is known."""
    try:
        return instruction(device).name
    except UnknownSpec:
        return "mma.sync"


def rates_of(on: str | Accelerator, dtype: str = "bf16") -> UnitRates:
    """The unit rates of a device for a format.

    - raises ``UnknownSpec`` where the device has no such format, or no clock is known.
    """
    device = hardware.get(on) if isinstance(on, str) else on
    name = find_dtype(dtype).name
    peak = device.peak(name).si
    assumed = []
    if device.fields["compute_units"] is None:
        assumed.append("units: all as one")
    found = device.fields["compute_units"]
    units = 1.0 if found is None else float(found.si)
    clock_q = device.fields["tensor_clock"] or device.fields["clock"]
    each = device.peaks[name].per_unit_per_cycle
    if each is not None and found is not None:
        clock = peak / units / each.si
    elif clock_q is not None:
        clock = float(clock_q.si)
    else:
        raise UnknownSpec(f"{device.key}: no clock of its units is known")
    tensor = peak / units / clock
    fma, guessed = _lanes(device, units, clock)
    if guessed:
        assumed.append("fp32 lanes: from the printed peak")
    try:
        exp = float(part_count(device, "special_lanes").si)
    except UnknownSpec:
        exp = _EXP if found is not None else fma / _LANES_AN_EXP
        assumed.append("exponentials: one for eight FP32 lanes, as on Hopper")
    old = tensor
    if newest(device) != "mma.sync":
        old = WARP_MMA * min(tensor, WARP_MMA_FLOPS * 2 / bytes_per_element(name).si)
    if newest(device) == "tcgen05.mma":
        old = tensor / _OLDEST
    width = hardware.level(device, "shared").width
    shared = fma if found is None else SHARED if width is None else float(width.si)
    width = hardware.level(device, "l2").width
    if width is None:
        assumed.append("bytes from the L2: as on Hopper")
    l2 = _L2 * shared / SHARED if width is None else float(width.si)
    return UnitRates(
        device.key, tensor, old, exp, fma, shared, l2, units, clock, tuple(assumed)
    )


@cache
def _launched() -> float:
    """Clock of the device on which most kernels were timed alone."""
    return rates_of("h100_sxm").clock


def launch_pace(rates: UnitRates) -> float:
    """How long a kernel takes to start, over the same on an H100: by the clock.

    Replays of the same few kernels take 14 us on an A100, 10 on an H100, 6 on an L40S:
    cycles, not seconds (attention rows of aiconfigurator @095f58a).
    """
    return _launched() / rates.clock


@dataclass(frozen=True, slots=True)
class TileWork:
    """Cycles for which one tile of attention keeps each part of a unit busy."""

    scores: float  # tensor cores, Q K^T (and what the backward pass adds)
    values: float  # tensor cores, P V
    exp: float
    cores: float  # FP32 lanes
    rescale: float  # FP32 lanes, correcting the running sum
    shared: float  # shared memory, feeding the tensor cores
    instructions: float  # slots that an FP32 instruction takes: one, or half by pairs


def tile_work(
    rates: UnitRates,
    *,
    rows: int,
    columns: int,
    head_dim: int,
    value_dim: int | None = None,
    width: float = 2.0,
    warp_level: bool = False,
    software_exp: float = 0.0,
    groups: int = 2,
    eight_bits: bool = False,
    again: int = 1,
    pairs: bool = False,
    shared_operand: bool = False,
) -> TileWork:
    """Cycles of one tile of ``rows`` queries against ``columns`` keys.

    - ``width``: float; bytes of an operand's element.
    - ``warp_level``: bool; multiply by ``mma.sync``: every warp loads its own copy of K
      and V.
    - ``software_exp``: float; share of the exponentials that the FP32 lanes compute.
    - ``groups``: int; warp groups, or warps, that each read all of K and V from shared
      memory.
    - ``eight_bits``: bool; scores are converted to FP8 or less before the second
      product.
    - ``again``: int; how often the queries pass from shared memory.
    - ``pairs``: bool; FP32 instructions on pairs of numbers.
    - ``shared_operand``: bool; two units hold half of K and V each.
    """
    if not 0 <= software_exp <= 1:
        raise ValueError(f"software_exp = {software_exp}: a share from 0 to 1")
    wide = head_dim if value_dim is None else value_dim
    rate = rates.warp_mma if warp_level else rates.tensor
    scores = rows * columns
    fed = groups * columns * (head_dim + wide) * width
    fed = (fed / 2 if shared_operand else fed) + again * rows * head_dim * width
    slots = 0.5 if pairs else 1.0
    ops = PAIRED_SCORE_OPS if pairs else SCORE_OPS
    ops += software_exp * SOFTWARE_EXP_OPS * slots + EIGHT_BIT_OPS * eight_bits
    return TileWork(
        2 * scores * head_dim / rate,
        2 * scores * wide / rate,
        scores * (1 - software_exp) / rates.exp,
        scores * ops / rates.fma,
        rows * wide / rates.fma,
        fed / rates.shared,
        slots,
    )
