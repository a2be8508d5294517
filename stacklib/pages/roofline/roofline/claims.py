"""Claims on where the ridge lies, and on the share of the peak that is reached."""

from stacklib import hardware, roofline
from stacklib.evidence import Finding, claim, measurements
from stacklib.evidence.ledger import READ, get
from stacklib.quantity import Quantity, Source, maximum, minimum

H100, H200 = "h100_sxm", "h200_sxm"
HIGH_END = (H100, H200, "b200_sxm")


def _h100_ridge() -> Quantity:
    return roofline.ridge(H100, "bf16")


@claim("h100-ridge-295")
def h100_ridge() -> Finding:
    """Dense BF16 peak over memory bandwidth."""
    chip = hardware.get(H100)
    return Finding(
        roofline.ridge(chip, "bf16"),
        why=f"{chip.peak('bf16'):.4 TFLOP/s} in dense BF16 over "
        f"{chip.memory_bandwidth}.",
    )


@claim("ridge-point-300")
def ridge_point() -> Finding:
    """The ridge of the chip the tensor cores of the claim sit on."""
    return Finding(
        _h100_ridge(),
        why="Right for dense 16-bit arithmetic on an H100. In FP8 the same chip needs "
        f"{roofline.ridge(H100, 'fp8')}; a B200 in BF16 "
        f"{roofline.ridge('b200_sxm', 'bf16')}.",
    )


@claim("h100-need-300")
def h100_need() -> Finding:
    """Dense BF16 peak over memory bandwidth, rounded up by the document."""
    return Finding(_h100_ridge(), why="The ridge of an H100 in dense BF16.")


@claim("breakeven-300-500")
def breakeven() -> Finding:
    """The lowest and the highest dense BF16 ridge among high-end GPUs."""
    points = [roofline.ridge(key, "bf16") for key in HIGH_END]
    listed = ", ".join(
        f"{hardware.get(key).short} {point.si:.0f}"
        for key, point in zip(HIGH_END, points, strict=True)
    )
    return Finding(
        minimum(*points).named("lowest BF16 ridge"),
        to=maximum(*points).named("highest BF16 ridge"),
        why=f"In FLOP/B the dense BF16 ridges are "
        f"{listed}: the low end is right, nothing reaches the high end. FP8 does: "
        f"{roofline.ridge(H200, 'fp8')} on an H200, "
        f"{roofline.ridge(H100, 'fp8')} on an H100.",
    )


@claim("h200-ridge")
def h200_ridge() -> Finding:
    """The lowest ridge of the chip in a tensor format: the reading kindest to it."""
    chip = hardware.get(H200)
    own = chip.peak("bf16") / hardware.get(H100).memory_bandwidth
    return Finding(
        roofline.ridge(chip, "bf16"),
        why=f"In BF16 it is {roofline.ridge(chip, 'bf16')}, in the FP8 of the text's "
        f"own example {roofline.ridge(chip, 'fp8')}; the peak and bandwidth it "
        f"prints give {own}. "
        f"{get('h200-ridge').claimed} is the TF32 ridge of an H100 "
        f"({roofline.ridge(H100, 'tf32')}).",
    )


def published_training_shares() -> list[Quantity]:
    """Share of peak of each published training run that reports one."""
    return [
        Quantity(
            row.value,
            row.unit,
            label=f"{row.subject} on {row.system}",
            kind="measured",
            source=Source(row.source, f"row {row.id}", READ, "secondary"),
            key=row.id,
        )
        for row in measurements.public()
        if row.family == "F" and row.metric == "mfu" and not row.fault
    ]


@claim("real-workloads-30-70")
def real_workloads() -> Finding:
    """The lowest and the highest share of peak of the published training runs."""
    shares = published_training_shares()
    lowest, highest = minimum(*shares), maximum(*shares)
    return Finding(
        lowest.named("lowest published share of peak"),
        to=highest.named("highest published share of peak"),
        why=f"{len(shares)} published training runs report "
        f"{lowest:.3 %} to {highest:.3 %} of peak, and people publish their better "
        "runs. It holds for work with large products; decode at batch one gets "
        f"{get('decode-util-0p34').claimed}.",
    )
