"""Chapter 2: how many of everything a chip has."""

from __future__ import annotations

from stacklib import gpu, hardware
from stacklib.gpu.chip import chips
from stacklib.quantity import Quantity

from .judge import Finding, check

DEVICE = "h100_sxm"


@check("h100-sm-count")
def sm_count() -> Finding:
    """Compute units behind the printed FP32 peak."""
    chip = hardware.get(DEVICE)
    each = Quantity(1, "MAC/cycle", label="one FMA a cycle", kind="constant")
    lane = (gpu.part_count(DEVICE, "fp32_lanes") * each).named("a unit's lanes")
    units = chip.peak("fp32").to("MAC/s") / (lane * chip.clock)
    full = chips.chip(DEVICE).units_designed
    pcie = hardware.get("h100_pcie").compute_units
    return Finding(
        units.named("units behind the FP32 peak"),
        why=f"From the printed FP32 rate, the lanes of a unit and the clock. It is the "
        f"SXM module: the die has {full.value:.0f}, the PCIe card uses "
        f"{pcie.value:.0f}.",
    )
