"""Claims on printed peaks, and on a column that mixes their bases."""

from stacklib import gpu, hardware
from stacklib.evidence import Finding, claim
from stacklib.gpu.tensor.peaks import matching_bases, peak_by_hand, per_mac
from stacklib.quantity import Quantity

from .claims import A100, B200, GB200, H100, H200, over

L40S, RTX4090, RTX5090 = "l40s", "rtx_4090", "rtx_5090"
SHEET_A100 = "NVIDIA's A100 data sheet, with 312 and 624 TFLOP/s side by side,"
# What document 003 prints in one column, in TFLOP/s.
TABLE = {RTX4090: 330, RTX5090: 838, L40S: 362, A100: 624, H100: 990, B200: 2250}


def _built(key: str, dtype: str, sums: str | None = None) -> Quantity:
    return gpu.peak_of(key, dtype, sums).built


def _sparse(key: str, dtype: str, sums: str | None = None) -> Quantity:
    row = gpu.peak_of(key, dtype, sums)
    return row.built.retag("sparse", row.device.peaks[row.name].sparse_factor)


@claim("h100-fp32-peak", H100, "fp32")
@claim("h100-67-fp32", H100, "fp32")
@claim("h100-990", H100, "bf16", "Dense.")
@claim("h200-990", H200, "bf16", "Dense; the die of the H100.")
@claim("mi300x-1300", "mi300x", "bf16", "Dense.")
def as_built(key: str, dtype: str, why: str = "") -> Finding:
    """Units, multiply-adds of one (or lanes), two, clock."""
    return Finding(_built(key, dtype), why=why)


@claim("h100-1pflop-fp8")
def h100_eight_bits() -> Finding:
    """Units, multiply-adds, two, clock."""
    return Finding(
        _built(H100, "fp8"),
        why=f"The claimed number is the 16-bit rate, {_built(H100, 'bf16')}.",
    )


@claim("rtx4090-330-sparse")
def rtx_4090() -> Finding:
    """The sparse FP16 rate with FP32 sums."""
    return Finding(
        _sparse(RTX4090, "fp16"),
        why="Sparse with FP32 sums, as labelled; dense with FP16 sums the card happens "
        f"to reach the same. Dense with FP32 sums: {_built(RTX4090, 'fp16')}.",
    )


@claim("rtx5090-838-sparse")
def rtx_5090() -> Finding:
    """The sparse FP16 rate with FP16 sums, which is the card's peak."""
    return Finding(
        _sparse(RTX5090, "fp16", "fp16"),
        why="The row of the RTX 4090 counts FP32 sums, this one FP16 sums, which are "
        f"twice as fast on GeForce. Dense with FP32 sums: {_built(RTX5090, 'fp16')}.",
    )


@claim("l40s-362-sparse")
def l40s() -> Finding:
    """The sparse FP16 rate."""
    return Finding(
        _sparse(L40S, "fp16"),
        why=f"The claimed rate is the dense one: built, {_built(L40S, 'fp16')}.",
    )


@claim("a100-624")
def a100() -> Finding:
    """The dense FP16 rate, for an entry without label."""
    return Finding(
        _built(A100, "fp16"),
        why="The table marks other entries as sparse and this one not, so it reads as "
        "dense.",
        convention="sparse",
        stated=SHEET_A100,
    )


@claim("b200-2250")
def b200_sixteen_bits() -> Finding:
    """Units and multiply-adds at the clock of the FP32 peak."""
    chip = hardware.get(B200)
    macs, each = gpu.peak_of(B200, "bf16").macs, per_mac("bf16")
    built = peak_by_hand(chip.compute_units, macs, chip.clock, each=each)
    return Finding(
        built.named("B200 bf16 at its highest clock"),
        why=f"Dense. At the highest clock it would be a little more; the printed "
        f"{chip.peak('bf16'):.4} belong to {gpu.peak_of(B200, 'bf16').clock}.",
    )


@claim("mi325x-1300")
def mi325x() -> Finding:
    """The same."""
    return as_built(
        "mi325x",
        "bf16",
        "Dense, and the silicon of the MI300X. Held to the rate; memory and power are "
        "as AMD prints them.",
    )


@claim("gb200-1000w")
def gb200_power() -> Finding:
    """Design power of the GPU on the superchip."""
    chip = hardware.get(GB200)
    return Finding(
        chip.tdp,
        why=f"It also does more: {chip.peak('bf16'):.4} against "
        f"{hardware.get(B200).peak('bf16'):.4} of a B200 by itself.",
    )


@claim("table-mixed-sparsity")
def mixed_table() -> Finding:
    """What each entry of the column can have meant."""
    found = []
    for key, printed in TABLE.items():
        bases = matching_bases(key, printed * 1e12, ("fp16",))
        words = " or ".join(b.text.removeprefix("fp16, ") for b in bases)
        found.append(f"{hardware.get(key).short} {words}")
    return Finding.false(
        "Source: the vendors' data sheets, entry by entry: "
        f"{'; '.join(found)}. Its rows cannot be compared as printed."
    )


@claim("table-5090-vs-h100", RTX5090, "on different bases, of which it labels one")
@claim("table-a100-vs-h100", A100, "without label, one sparse", "sparse", SHEET_A100)
def compared(key: str, entries: str, convention: str = "", stated: str = "") -> Finding:
    """Dense BF16 with FP32 sums on both sides."""
    return Finding(
        over(key, H100).named(f"dense bf16, {hardware.get(key).short} over H100"),
        why=f"The document does not say this: it follows from two entries {entries}.",
        convention=convention,
        stated=stated,
    )
