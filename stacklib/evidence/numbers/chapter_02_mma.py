"""Numbers of the section on tensor cores: what a peak is made of, what sums lose."""

from __future__ import annotations

from functools import cache

from stacklib import gpu, hardware
from stacklib.gpu.issue.instructions import arithmetic
from stacklib.gpu.tensor.exact_dot import dot_exactly
from stacklib.gpu.tensor.peaks import WITHIN, PeakBuilt
from stacklib.quantity import Quantity

from .. import wave_rows
from ..ledger import get as claim
from .registry import number

H100, B200, RUBIN, RTX4090 = "h100-sxm", "b200-sxm", "rubin", "rtx-4090"
DEPTH = 4096  # products of the long sum
SIMULATED = "counted by stacklib.gpu"


def _count(value: float, label: str, unit: str = "1") -> Quantity:
    return Quantity(value, unit, label=label, kind="assumption")


@cache
def _h100() -> PeakBuilt:
    return gpu.peak_of(H100, "bf16")


@number("tensor.units", evidence="spec")
def units() -> Quantity:
    """Compute units of an H100."""
    return _h100().units


@number("tensor.macs", unit="MAC/cycle", digits=4)
def macs() -> Quantity:
    """Multiply-adds that one unit of an H100 finishes in a cycle, BF16."""
    return _h100().macs


@number("tensor.clock", evidence="spec", unit="GHz")
def clock() -> Quantity:
    """Clock behind the tensor peaks of an H100."""
    return _h100().clock


@number("tensor.peak", unit="TFLOP/s")
def peak() -> Quantity:
    """Their product, in operations."""
    return _h100().built


@number("tensor.cores", evidence="spec")
def cores() -> Quantity:
    """Tensor cores of one unit."""
    return gpu.part_count(H100, "tensor_cores")


@number("tensor.each_core", unit="MAC/cycle")
def each_core() -> Quantity:
    """Multiply-adds of one tensor core in a cycle."""
    return macs() / cores()


@number("tensor.lanes", evidence="spec")
def lanes() -> Quantity:
    """FP32 lanes of one unit."""
    return gpu.part_count(H100, "fp32_lanes")


@number("tensor.over_lanes", digits=2)
def over_lanes() -> Quantity:
    """Multiply-adds of the tensor cores over those of the lanes."""
    each = _count(1, "one FMA a cycle", "MAC/cycle")
    return macs() / (lanes() * each)


@cache
def _all() -> tuple[PeakBuilt, ...]:
    return tuple(gpu.peaks())


@number("tensor.rates")
def rates() -> Quantity:
    """Rates of the database that can be built from their factors."""
    return _count(len(_all()), "rates with all factors")


@number("tensor.devices")
def devices() -> Quantity:
    """GPUs they belong to."""
    return _count(len({row.device.key for row in _all()}), "devices with a built rate")


@number("tensor.off")
def off() -> Quantity:
    """Rates that differ from the printed one by more than two in a hundred."""
    return _count(sum(abs(row.gap) > WITHIN for row in _all()), "rates off")


@number("tensor.implied")
def implied() -> Quantity:
    """Rates whose clock follows from a printed peak."""
    return _count(sum(row.implied for row in _all()), "rates with an implied clock")


@number("tensor.fp4_macs", digits=4, unit="MAC/cycle")
def fp4_macs() -> Quantity:
    """FP4 multiply-adds of a B200's unit in a cycle."""
    return gpu.peak_of(B200, "fp4").macs


@number("tensor.r4090", unit="TFLOP/s")
def r4090() -> Quantity:
    """Dense FP16 of an RTX 4090 with FP32 sums."""
    return gpu.peak_of(RTX4090, "fp16").built


@number("tensor.r4090_half", unit="TFLOP/s")
def r4090_half() -> Quantity:
    """The same with FP16 sums."""
    return gpu.peak_of(RTX4090, "fp16", "fp16").built


@number("tensor.rubin_claimed", evidence="claimed", unit="PFLOP/s", digits=2)
def rubin_claimed() -> Quantity:
    """FP4 rate of Rubin as a document has it."""
    return claim("rubin-50pf-from-macs").quantity()


@number("tensor.rubin_clock", unit="GHz")
def rubin_clock() -> Quantity:
    """Clock at which twice a B200's width would give it."""
    chip = hardware.get(RUBIN)
    wide = fp4_macs() * 2 * _count(2, "operations of a multiply-add", "FLOP/MAC")
    return rubin_claimed() / (chip.compute_units * wide)


@number("tensor.rubin_has", evidence="spec", unit="GHz")
def rubin_has() -> Quantity:
    """Clock of Rubin by a device query."""
    return hardware.get(RUBIN).clock


@number("tensor.bits_fp8", evidence="spec")
def bits_fp8() -> Quantity:
    """Bits behind the point that Hopper keeps of an FP8 sum."""
    return _fraction("hopper", "e4m3fn")


@number("tensor.bits_bf16", evidence="spec")
def bits_bf16() -> Quantity:
    """Bits behind the point that Hopper keeps of a BF16 sum."""
    return _fraction("hopper", "bf16")


def _fraction(generation: str, dtype: str) -> Quantity:
    rule = arithmetic(generation, dtype)
    return Quantity(rule.fraction, "1", label=f"{generation} {dtype} bits kept",
                    source=rule.source, kind="measured")  # fmt: skip


@number("tensor.terms", evidence="spec")
def terms() -> Quantity:
    """FP8 products that one addition of Hopper takes."""
    rule = arithmetic("hopper", "e4m3fn")
    return Quantity(rule.terms, "1", label="products an addition", source=rule.source,
                    kind="measured")  # fmt: skip


@cache
def lost(generation: str, every: int = 0) -> float:
    """Share that a sum of equal FP8 products loses.

    Parameters
    ----------
    generation : str
        Whose tensor core adds.
    every : int
        Products between two promotions; 0 for none.
    """
    step = every or DEPTH
    ones = [1.125] * step
    part = dot_exactly(ones, ones, dtype="e4m3fn", generation=generation)
    # Promoted sums are added in FP32, where these few are exact.
    total = part * (DEPTH // step)
    return 1 - total / (1.125**2 * DEPTH)


@number("tensor.depth", evidence="spec", digits=4)
def depth() -> Quantity:
    """Products of the long sum, an assumption of this section."""
    return _count(DEPTH, "products of the sum")


@number("tensor.lost", unit="%", digits=2, evidence="simulated")
def lost_hopper() -> Quantity:
    """Share that Hopper loses of a sum of equal FP8 products."""
    return _count(lost("hopper"), SIMULATED)


@number("tensor.lost_promoted", unit="%", digits=2, evidence="simulated")
def lost_promoted() -> Quantity:
    """The same, promoted every 128 products."""
    return _count(lost("hopper", 128), SIMULATED)


@number("tensor.lost_blackwell", unit="%", digits=2, evidence="simulated")
def lost_blackwell() -> Quantity:
    """The same on Blackwell."""
    return _count(lost("blackwell"), SIMULATED)


@number("tensor.sparse_stored", unit="%", digits=3)
def sparse_stored() -> Quantity:
    """Bits of a 2:4-sparse matrix of 16-bit weights, over those of the dense one."""
    kept = _count(2, "weights that stay of a four")
    word, place = (
        _count(16, "bits of a weight", "bit"),
        _count(2, "of its place", "bit"),
    )
    return kept * (word + place) / (_count(4, "weights of a four") * word)


def _waves(blocks: int) -> Quantity:
    rows, columns = _count(128, "rows of a tile"), _count(256, "columns of a tile")
    found = gpu.tile_waves(m=rows * _count(blocks, "tiles"), n=columns, rows=rows,
                           columns=columns, units=_h100().units)  # fmt: skip
    return found.share


@number("tensor.one_more")
def one_more() -> Quantity:
    """Blocks, one more than an H100 has units."""
    return _h100().units + _count(1, "one more block")


@number("tensor.share_over", unit="%")
def share_over() -> Quantity:
    """Share of the peak that this many blocks can use."""
    return _waves(int(_h100().units.si) + 1)


@number("tensor.ridge_4090", unit="FLOP/B")
def ridge_4090() -> Quantity:
    """Dense FP16 operations a byte at which an RTX 4090 is balanced."""
    return r4090() / hardware.get(RTX4090).memory_bandwidth


@number("tensor.wave_rows", digits=2, evidence="measured")
def wave_products() -> Quantity:
    """Published products whose predicted time waves change by a tenth or more."""
    return Quantity(len(wave_rows.matter()), "1", label="published products",
                    source=wave_rows.SOURCE, kind="measured")  # fmt: skip


@number("tensor.wave_matters", unit="%", digits=2)
def wave_matters() -> Quantity:
    """By how much waves must change a predicted time to count here."""
    return Quantity(wave_rows.MATTERS, label="change that counts", kind="assumption")


@number("tensor.wave_none", unit="%", digits=2, evidence="measured")
def wave_none() -> Quantity:
    """Median error on them if the last wave is not paid at all."""
    return wave_rows.error(wave_rows.NONE)


@number("tensor.wave_fitted", unit="%", digits=2, evidence="measured")
def wave_fitted() -> Quantity:
    """With the share that was fitted."""
    return wave_rows.error(hardware.efficiency(wave_rows.FACTOR))


@number("tensor.wave_tail", unit="%", digits=2)
def wave_tail() -> Quantity:
    """Share of the last wave's empty part that libraries pay, fitted."""
    return hardware.efficiency_quantity(wave_rows.FACTOR)
