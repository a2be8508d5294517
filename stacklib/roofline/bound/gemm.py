"""How long a matrix product takes on a device: the roofline with its corners worn.

A roofline is what the hardware allows. This model adds what every library meets:
tiles that do not fill the last wave, tiles too small to reuse what they load, a
pipeline to fill, a clock that falls when the tensor cores ask for more power than
the board has, a launch that takes microseconds whatever the size. The parts are
physics or counting; what remains are the efficiency factors of ``hardware``.

The library is taken to choose the best tiling, so the time is the least over them.
The formulas take floats (fast), quantities (``gemm_trace``) or arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import (
    DTYPES,
    Quantity,
    ceil,
    counted,
    maximum,
    minimum,
    one_of,
    stamp,
)
from stacklib.quantity import dtype as find_dtype

from ..work.bounds import device_of
from ..work.fit import Infeasible
from ..work.products import TILES, Product, Tiling, product, tilings
from . import hierarchy

SMALL = 5e-6  # seconds
LAUNCHES = ("kernel", "stream", "host", "sweep")
# Twice the area, and half the rim, of the largest tile; whole numbers need no source.
_AREA, _RIM = 2 * 256 * 128, 256 + 128
# An operation of half the width takes this share of the energy, and again for a
# quarter; 6-bit operands go through the 8-bit multipliers.
_HALVINGS = {8: 1, 6: 1, 4: 2}
_HALF = "tensor_energy_half"
_ISSUE = {"NVIDIA": "gemm_issue_nvidia"}
_VECTOR = ("fp32", "fp64")
# Boards that keep their clock for a few calls after a rest: LLMCompass' ten on an A100
# ran at 92 to 94 % of the peak, loops of minutes at 86; on an MI210 they did not.
_AVERAGES = ("NVIDIA",)
_LANES = 32  # of a warp: one instruction of one scheduler
_STEP = 128  # columns of k that a block multiplies at a time

Factor = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Chip:
    """What the model reads of a device for one format; floats in SI, or quantities."""

    peak: Any  # dense operations a second
    bandwidth: Any  # printed memory bandwidth
    l2_rate: Any  # bytes a second from the L2
    l2_capacity: Any  # its size; None where unknown
    l2_kept: float  # share of it that holds different lines
    capacity: Any  # of the memory; None where unknown
    units: Any  # compute units and their clock
    clock: Any  # ``clock`` is None where unknown
    tdp: Any  # design power; None where unknown
    energy: tuple[str, ...]
    issue: str  # factor for the share of issue slots a library fills
    tiled: bool  # whether thread blocks are scheduled on units, as on GPUs
    doubled: bool
    near: float  # seconds that a block waits for its loads; 0 where unknown
    lanes: float  # vector instructions that all units issue a second; 0 where unknown
    flight: Any  # bytes a second that all units can ask of an idle memory
    averages: bool  # whether its clock falls only after more than a few calls
    alone: bool  # whether one block fills a unit, as where copies run by themselves
    borrowed: str = ""  # the architecture whose tensor energy stands in


def _clock(device: Accelerator, dtype: str) -> Quantity | None:
    """The clock of a format, or the one that its peak implies; None if unknown."""
    printed = device.fields["tensor_clock"] or device.fields["clock"]
    peak = device.peaks.get(dtype)
    if printed is not None or peak is None or peak.per_unit_per_cycle is None:
        return printed
    each = device.compute_units * peak.per_unit_per_cycle
    return (peak.rate / each).named(f"{device.short} clock implied by its peak")


_CHIPS: dict[tuple[str, str], tuple[Accelerator, Chip]] = {}


def chip_of(on: str | Accelerator, dtype: str, traced: bool = False) -> Chip:
    """What the model needs of a device for one format."""
    device, name = device_of(on), find_dtype(dtype).name
    made, chip = _CHIPS.get((device.key, name), (None, None))
    if traced or chip is None or made is not device:  # a changed one keeps its key
        chip = _chip(device, name, traced)
        if not traced:
            _CHIPS[device.key, name] = device, chip
    return chip


def _chip(device: Accelerator, name: str, traced: bool) -> Chip:
    micro = hardware.microarchitecture(device)
    units = device.compute_units
    clock = _clock(device, name)
    l2 = hardware.level(device, "l2")
    width = l2.width
    # Copies that run by themselves come from the L2; a warp's own wait for the memory.
    by_itself = device.memory_type.upper().startswith("HBM")
    latency = l2.latency if by_itself else hardware.level(device, "dram").latency
    l2_rate = None
    if width is not None and clock is not None:
        l2_rate = (width * units * clock).at_clock(clock)
    issue = _ISSUE.get(device.vendor, "gemm_issue_other")
    gpu, vector = device.kind == "gpu", name in _VECTOR
    known = micro.tensor_energy or micro.neighbour_energy
    energy = () if vector or not known else (known,)
    halvings = _HALVINGS.get(DTYPES[name].bits, 0)
    # Floats are fast; quantities keep their sources, where the time is to be explained.
    read = (lambda q: q) if traced else (lambda q: None if q is None else q.si)
    return Chip(
        peak=read(device.peak(name)),
        bandwidth=read(device.memory_bandwidth),
        l2_rate=read(l2_rate),
        l2_capacity=read(device.fields["l2_capacity"]),
        l2_kept=hierarchy.kept_share(device),
        capacity=read(device.fields["memory_capacity"]),
        units=read(units),
        clock=read(clock),
        tdp=read(device.fields["tdp"]),
        energy=energy + (_HALF,) * (halvings if energy else 0),
        issue="gemm_issue_vector" if gpu and vector else issue,
        tiled=gpu,
        doubled=name == "tf32",
        near=0.0 if latency is None else float(latency.si),
        lanes=_lanes(device, clock),
        flight=read(_flight(device)),
        averages=device.vendor in _AVERAGES,
        alone=gpu and by_itself,
        borrowed=micro.tensor_energy_of if energy else "",
    )


def _lanes(device: Accelerator, clock: Quantity | None) -> float:
    """Lanes that the schedulers of all units serve a second; 0 where unknown."""
    each = hardware.microarchitecture(device).constants.get("warp_schedulers")
    if each is None or clock is None:
        return 0.0
    return float(_LANES * each.si * device.compute_units.si * clock.si)


def _flight(device: Accelerator) -> Quantity | None:
    """Bytes a second of an idle memory that all units can have on their way.

    Half of a shared memory waits for operands while the other half is multiplied.
    """
    shared, dram = hardware.level(device, "shared"), hardware.level(device, "dram")
    if shared.capacity is None or dram.latency is None or device.kind != "gpu":
        return None
    return shared.capacity / 2 * device.compute_units / dram.latency


def launch_factors(chip: Chip, launch: str) -> tuple[str, ...]:
    """The factors whose sum is what a call costs beside its work."""
    if launch == "sweep":
        return ()
    if launch == "host":  # the call, and the empty kernel that it starts
        return ("launch_host", "launch_kernel")
    return (f"launch_{launch}",)


def power_share(
    chip: Chip, busy: Any = 1.0, factor: Factor = hardware.efficiency
) -> Any:
    """Share of its clock that a chip keeps within the power of its board, at most 1.

    ``busy``: share of the peak that is wanted on average; while memory, launch or an
    empty wave keep the units waiting, they draw little. Dynamic power goes with clock
    times voltage squared. A chip that lowers the clock alone loses as much rate as
    power (exponent 1); one whose voltage follows the clock loses the cube root (1/3);
    the factor ``power_exponent`` lies between. Where the energy of an operation is not
    known, 1.
    """
    if not chip.energy or chip.tdp is None:
        return 1.0
    wanted = chip.peak * busy
    for name in chip.energy:
        wanted = wanted * factor(name)
    if chip.doubled:
        wanted = 2 * wanted
    return minimum(1.0, (chip.tdp / wanted) ** factor("power_exponent"))


def slowed(
    compute: Any,
    memory: Any,
    floor: Any,
    ideal: Any,
    chip: Chip,
    after: float = 0.0,
    factor: Factor = hardware.efficiency,
) -> Any:
    """Share of its clock a chip keeps when it repeats a product again and again.

    ``compute``, ``memory``, ``floor``, ``after``: seconds at the full clock, of which
    the first two overlap; ``ideal``: those of the operations at the peak. Units that
    wait less draw more and slow down, but never so much that a faster memory loses
    time: what the products take alone is the least.
    """
    sharp = factor("join_sharpness")
    full = join(compute, memory, sharp) + floor
    kept = power_share(chip, ideal / (full + after if after else full), factor)
    alone = compute / power_share(chip, ideal / (compute + floor), factor)
    longest = maximum(alone - after if after else alone, memory)
    beside = longest * (1 - (memory / longest) ** sharp) ** (1 / sharp)
    return minimum(kept, compute / maximum(beside, compute))


def join(first: Any, second: Any, sharp: Any = None) -> Any:
    """Time of two things that overlap: the longer, and more where they are equal."""
    longer, shorter = maximum(first, second), minimum(first, second)
    sharp = hardware.efficiency("join_sharpness") if sharp is None else sharp
    return longer * (1 + (shorter / longer) ** sharp) ** (1 / sharp)


@dataclass(frozen=True, slots=True)
class Wear:
    """What real software gets of a device: its rates with the factors applied."""

    unit_rate: Any  # operations a second of one unit at the full clock
    bandwidth: Any  # bytes a second from where the operands lie
    tail: Any  # the factors ``wave_tail``
    half: Any  # ``tile_half_reuse``
    fill: Any  # ``tile_fill``
    enough: Any  # the blocks that draw the whole bandwidth
    summing: Any  # time of the kernel that sums a split


def wear_of(chip: Chip, bandwidth: Any, factor: Factor) -> Wear:
    """The factors of a device and a format, read once."""
    return Wear(
        unit_rate=chip.peak / chip.units * factor(chip.issue),
        bandwidth=bandwidth,
        tail=factor("wave_tail"),
        half=factor("tile_half_reuse"),
        fill=factor("tile_fill"),
        enough=chip.units * factor("blocks_per_unit"),
        summing=factor("launch_kernel"),
    )


def compute_time(
    work: Product, tiling: Tiling, units: Any, wear: Wear, operation: Any = 1.0
) -> Any:
    """Seconds of arithmetic with one tiling.

    Waves of blocks times the work of a tile over the rate of a unit, worn by tiles
    that reuse little, the fill of the pipeline and the last wave.
    """
    waves = tiling.blocks / units
    paid = waves + (ceil(waves) - waves) * wear.tail
    # A tile uses a number again twice its area over half its rim times.
    area, rim = 2 * tiling.rows * tiling.columns, tiling.rows + tiling.columns
    share = area / (area + wear.half * rim) * (1 + wear.half * _RIM / _AREA)
    # A tile pays its fill before the first product, whatever share of k it does.
    depth = work.k / tiling.split + wear.fill
    operations = 2 * tiling.rows * tiling.columns * depth * paid * operation
    time = operations / (wear.unit_rate * share)
    # a second kernel sums the shares of a split
    return time + wear.summing if tiling.split > 1 else time


def memory_time(moved: Any, tiling: Tiling, wear: Wear) -> Any:
    """Seconds of moving the operands; a small grid does not draw the whole bandwidth.

    ``moved``: bytes.
    """
    return moved / (wear.bandwidth * minimum(1.0, tiling.blocks / wear.enough))


@dataclass(frozen=True, slots=True)
class GemmTime:
    """Predicted time of a product, and what it is made of."""

    time: Any  # seconds
    compute: Any  # seconds of arithmetic
    memory: Any  # of moving bytes; overlaps the arithmetic, but for ``drained``
    launch: Any  # of what does not depend on the size
    bound: str  # the largest of them: ``compute``, ``memory`` or ``launch``
    tiling: Tiling | None


def loop_hits(
    work: Product, chip: Chip, launch: str, loop: float | None = None
) -> float:
    """Share of its operands that a repeated product finds in the L2.

    ``loop``: bytes that the benchmark goes through until it comes back; default the
    product's own.
    """
    if launch != "stream" or chip.l2_rate is None or chip.l2_capacity is None:
        return 0.0
    capacity = getattr(chip.l2_capacity, "si", chip.l2_capacity)
    loop = work.bytes if loop is None else loop
    return hierarchy.loop_share(loop, capacity, chip.l2_kept)


def _bandwidth(chip: Chip, hits: float, factor: Factor) -> Any:
    """Of the memory, and of the L2 for what is found there."""
    drawn = chip.bandwidth * factor("dram_gemm")
    if chip.flight is not None:
        asked = chip.flight / factor("loaded_latency")
        drawn = 1 / join(1 / drawn, 1 / asked, factor("join_sharpness"))
    if not hits:
        return drawn
    return 1 / (hits / maximum(drawn, chip.l2_rate) + (1 - hits) / drawn)


def vector_time(work: Product, tiling: Tiling, chip: Chip) -> float:
    """Seconds of what the vector units do beside the tensor cores.

    Each row of tiles expands the weights it multiplies; block scales that the tensor
    instruction does not take are multiplied into the sums.
    """
    if not chip.lanes:
        return 0.0
    panels = math.ceil(work.m / tiling.rows)
    weights = work.expand * panels * work.n * work.k
    sums = work.promote * panels * tiling.rows * work.n * work.k
    served = chip.lanes * min(1.0, tiling.blocks / chip.units)
    return float(work.groups * (weights + sums) / served)


def steps_time(work: Product, tiling: Tiling, chip: Chip) -> float:
    """Seconds of blocks that walk k whole: each step waits for a load."""
    waves = math.ceil(tiling.blocks / chip.units)
    return waves * work.k / _STEP * chip.near


def drained(work: Product, chip: Chip) -> float:
    """Bytes of the result that a block writes while its unit multiplies nothing.

    Kernels that leave k in one piece write a tile when it is done. Where a second block
    shares the unit, that one multiplies meanwhile.
    """
    return float(work.groups * work.m * work.n * work.out * (work.whole and chip.alone))


def hold(work: Product, chip: Chip, name: str) -> None:
    """Check that a product's operands and result fit a device's memory."""
    if chip.capacity is not None and work.bytes > chip.capacity:
        need, have = (Quantity(b / 1e9, "GB") for b in (work.bytes, chip.capacity))
        says = f"{need:.4 GB} of operands and result > {have:.4 GB} on {name}"
        raise Infeasible(f"{says}: does not fit")


def predict(
    work: Product,
    chip: Chip,
    launch: str,
    chosen: tuple[Tiling, ...],
    hits: float | None = None,
) -> GemmTime:
    """``gemm_time`` once the device has been read and the tilings are listed.

    ``hits``: ``loop_hits``, where it is known already.
    """
    factor = hardware.efficiency
    hits = loop_hits(work, chip, launch) if hits is None else hits
    bandwidth, sharp = _bandwidth(chip, hits, factor), factor("join_sharpness")
    floor = float(sum(map(factor, launch_factors(chip, launch))))
    if launch == "sweep" or not chip.tiled:
        # the best shape of a sweep is one whose tiles fill their last wave
        compute = work.operations / sustained_rate(chip)
        return _made(compute, work.bytes / bandwidth, floor, None)
    wear = wear_of(chip, bandwidth, factor)
    best, least = (0.0, 0.0, 0.0, chosen[0]), math.inf
    written = drained(work, chip)
    read = work.bytes - written
    for tiling in chosen:
        compute = compute_time(work, tiling, chip.units, wear)
        if work.whole:
            compute = max(compute, steps_time(work, tiling, chip))
        if compute >= least:  # joining with the memory's time only adds to it
            continue
        if work.expand or work.promote:
            compute = join(compute, vector_time(work, tiling, chip), sharp)
        memory = memory_time(read, tiling, wear)
        after = memory_time(written, tiling, wear) if written else 0.0
        time = join(compute, memory, sharp) + after
        if time < least:
            best, least = (compute, memory, after, tiling), time
    compute, memory, after, tiling = best
    ideal = work.operations / chip.peak
    rested = launch == "host" and chip.averages
    kept = 1.0 if rested else slowed(compute, memory, floor, ideal, chip, after)
    return _made(compute / kept, memory, floor, tiling, after)


def sustained_rate(chip: Chip, factor: Factor = hardware.efficiency) -> Any:
    """Operations a second of a product so large that nothing else takes time."""
    issued = factor(chip.issue)
    return chip.peak * issued * power_share(chip, issued, factor)


def _made(
    compute: float,
    memory: float,
    floor: float,
    tiling: Tiling | None,
    after: float = 0.0,
) -> GemmTime:
    time = join(compute, memory) + after + floor
    memory += after
    sizes = {"compute": compute, "memory": memory, "launch": floor}
    bound = max(sizes, key=lambda name: sizes[name])
    return GemmTime(time, compute, memory, floor, bound, tiling)


def gemm_time(work: Product, on: str | Accelerator, launch: str = "stream") -> GemmTime:
    """Predicted time of a product with a tuned library."""
    if launch not in LAUNCHES:
        raise ValueError(f"launch = {launch!r}: one of {', '.join(LAUNCHES)}")
    chip = chip_of(on, work.dtype)
    hold(work, chip, device_of(on).short)
    return predict(work, chip, launch, tilings(work, int(chip.units)))


def bytes_moved(work: Product) -> float:
    """Bytes of the operands and the result, each once."""
    return work.bytes


def cell(work: Product, chip: Chip) -> tuple[str, str]:
    """What a product is like, as its error band is named: format, and what limits it.

    Below ``SMALL`` at the roof, the start of its kernels decides.
    """
    compute, memory = work.operations / chip.peak, work.bytes / chip.bandwidth
    bound = "compute" if compute > memory else "memory"
    bits = DTYPES[work.dtype].bits
    form = "vector" if work.dtype in _VECTOR else f"{min(bits, 16)} bit"
    if work.expand:
        form = "widened"
    return form, "launch" if max(compute, memory) < SMALL else bound


def band_of(work: Product, chip: Chip, software: str = "library") -> str:
    """The family and cell whose error band a product carries."""
    return "/".join(("A", *cell(work, chip), software))


def gemm_trace(
    work: Product, on: str | Accelerator, launch: str = "stream"
) -> Quantity:
    """The same prediction as a quantity that opens to its formula and sources."""
    if launch == "sweep" or work.expand or work.whole:
        raise ValueError("only a plain product that is launched can be traced")
    found = gemm_time(work, on, launch)
    chip = chip_of(on, work.dtype, traced=True)
    factor = hardware.efficiency_quantity
    sharp = factor("join_sharpness")
    unit = DTYPES[work.dtype].operation
    each = one_of(f"{unit} per_chip", "operation")
    moved = counted(bytes_moved, work, unit="B per_chip", label="bytes moved")
    bandwidth = _bandwidth(chip, loop_hits(work, chip, launch), factor)
    wear = wear_of(chip, bandwidth, factor)
    if found.tiling is None:
        rate = sustained_rate(chip, factor)
        compute, memory = work.operations * each / rate, moved / bandwidth
    else:
        full = compute_time(work, found.tiling, chip.units, wear, each)
        memory = memory_time(moved, found.tiling, wear)
        ideal = work.operations * each / chip.peak
        floor = sum(map(factor, launch_factors(chip, launch)), 0 * memory)
        kept = slowed(full, memory, floor, ideal, chip, factor=factor)
        compute = full if launch == "host" and chip.averages else full / kept
    time = join(compute.named("arithmetic"), memory.named("moving bytes"), sharp)
    total = sum(map(factor, launch_factors(chip, launch)), time)
    if chip.borrowed:  # no row of this architecture has tested its neighbour's energy
        words = f"predicted time, with the tensor energy of {chip.borrowed}"
        return stamp(total.named(words), f"products of {chip.borrowed}'s neighbours")
    plain = chip_of(on, work.dtype)
    if find_dtype(work.dtype).name not in _VECTOR and not (plain.energy and plain.tdp):
        # Its energy or its power is unknown, so nothing here lowers its clock.
        words = "predicted time, with no limit of power"
        return stamp(total.named(words), "products of chips of unknown power")
    return stamp(total.named("predicted time"), band_of(work, plain))


__all__ = [
    "Chip", "GemmTime", "LAUNCHES", "Product", "TILES", "Tiling", "Wear",
    "band_of", "cell", "chip_of", "compute_time", "gemm_time", "gemm_trace", "hold",
    "join", "memory_time", "power_share", "predict", "product", "tilings", "wear_of",
]  # fmt: skip
