"""Claims on how many of everything a chip has."""

from stacklib import gpu, hardware
from stacklib.evidence import Finding, claim
from stacklib.gpu.chip import chips
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, one_of, quoted

H100, B200, B300, V100 = "h100_sxm", "b200_sxm", "b300_sxm", "v100_sxm2_16gb"
EACH = one_of("MAC/cycle", "one FMA a cycle")


def per_unit(device: Accelerator, dtype: str, clock: str = "clock") -> Quantity:
    """Multiply-adds of one compute unit in a cycle, from the printed peak.

    ``clock`` is the field whose clock belongs to that peak.
    """
    rate = device.peak(dtype).to("MAC/s")
    cycles = (device.compute_units * getattr(device, clock)).named("unit cycles")
    return (rate / cycles).named(f"{device.short} {dtype} multiply-adds a unit")


@claim("h100-sm-count")
def sm_count() -> Finding:
    """Compute units behind the printed FP32 peak."""
    chip = hardware.get(H100)
    lane = (gpu.part_count(H100, "fp32_lanes") * EACH).named("a unit's lanes")
    units = chip.peak("fp32").to("MAC/s") / (lane * chip.clock)
    full = chips.chip(H100).units_designed
    pcie = hardware.get("h100_pcie").compute_units
    return Finding(
        units.named("units behind the FP32 peak"),
        why=f"From the printed FP32 rate, the lanes of a unit and the clock. It is the "
        f"SXM module: the die has {full.value:.0f}, the PCIe card uses "
        f"{pcie.value:.0f}.",
    )


@claim("h100-sms")
def both_counts() -> Finding:
    """As NVIDIA prints it, of both chips."""
    return Finding(
        hardware.get(H100).compute_units,
        why=f"And a B200 has {hardware.get(B200).compute_units.value:.0f}.",
    )


def _lanes(key: str, dtype: str) -> Quantity:
    """Units that do one multiply-add a cycle each, behind a printed peak."""
    return (per_unit(hardware.get(key), dtype) / EACH).named(f"{dtype} units")


@claim("b200-tensor-cores")
def b200_tensor_cores() -> Finding:
    """Compute units times the cores in one."""
    chip = hardware.get(B200)
    cores = chip.compute_units * gpu.part_count(B200, "tensor_cores")
    return Finding(
        cores.named("B200 tensor cores"),
        why=f"A B200 has {chip.compute_units.si:.0f} units of four. The claimed number "
        "belongs to a chip with four fewer, which is not sold.",
    )


@claim("b200-sm-count")
def b200_units() -> Finding:
    """FP32 peak over what one unit does at the printed clock."""
    chip = hardware.get(B200)
    lanes = gpu.part_count(B200, "fp32_lanes")
    units = chip.peak("fp32").to("MAC/s") / (lanes * EACH * chip.clock)
    return Finding(
        units.named("B200 compute units"),
        why="Counted from the FP32 peak; a device query agrees. The claim gives to "
        "units what another figure of the same text gives to tensor cores.",
    )


@claim("h100-tensor-cores")
def h100_tensor_cores() -> Quantity:
    """Compute units times the cores in one."""
    cores = hardware.get(H100).compute_units * gpu.part_count(H100, "tensor_cores")
    return cores.named("H100 tensor cores")


@claim("volta-8-tc")
def volta_cores() -> Finding:
    """What a Volta unit does in a cycle, over what one of its cores does."""
    each = quoted("volta.core_macs") * one_of("MAC/cycle")
    volta = per_unit(hardware.get(V100), "fp16")
    return Finding(
        (volta / each).named("tensor cores of a Volta unit"),
        why=f"Fewer cores, each wider: a Hopper unit has "
        f"{gpu.part_count(H100, 'tensor_cores').si:.0f} and does "
        f"{gpu.peak_of(H100, 'fp16').macs.si / volta.si:.3g} times the multiply-adds.",
    )


@claim("hopper-128-64")
def hopper_lanes() -> Finding:
    """FP32 peak over units and clock."""
    return Finding(
        _lanes(H100, "fp32"),
        why="Held to the FP32 half of the claim, which the peak decides. That there "
        "are half as many for INT32 is in NVIDIA's white paper; no peak shows it.",
    )


@claim("hopper-4-fp64")
def hopper_double() -> Finding:
    """FP64 peak over units and clock."""
    return Finding(
        _lanes(H100, "fp64"),
        why=f"The {hardware.get(H100).peak('fp64')} that NVIDIA prints need that many. "
        "A unit has four tensor cores; the claim may have meant those.",
    )


@claim("blackwell-2-fp64", right_if="the chip is a B300")
def blackwell_double() -> Finding:
    """FP64 peak over units and clock, of both chips the text names."""
    return Finding(
        _lanes(B200, "fp64"),
        why="The text speaks of Blackwell as a whole. B200 keeps the FP64 units of "
        "Hopper; B300 gave them up for FP4.",
        then=_lanes(B300, "fp64"),
    )
