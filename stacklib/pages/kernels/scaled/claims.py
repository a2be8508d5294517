"""Claims on MXFP8 for experts: what quantizing costs, and what a rebuild gained."""

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.kernels.scaled.fused_quantization import dequantizing_share, implied_share
from stacklib.quantity import Quantity, one_of, quoted
from stacklib.roofline.bound.scaling import speed_up_of_part

B200 = "b200_sxm"
POST = "Cursor, 1.5x Faster MoE Training on Blackwell with MXFP8 Kernels, August 2025"
FORWARD_SHARE, BACKWARD_SHARE = 0.53, 0.27  # of the post, before
BACKWARD_TO_FORWARD = 2  # times of a step's two passes, by their operations


def both(name: str) -> tuple[Quantity, Quantity]:
    """A figure of the post before and after."""
    return quoted(f"cursor.{name}_before"), quoted(f"cursor.{name}_after")


def times_faster(name: str) -> Quantity:
    """Before over after, of a time."""
    before, after = both(name)
    return (before / after).named(f"{name}: gain")


def combined() -> Quantity:
    """Both passes before over both after."""
    forward, backward = both("forward"), both("backward")
    return ((forward[0] + backward[0]) / (forward[1] + backward[1])).named(
        "both passes"
    )


@claim("cursor-moe-3p5x")
def layer() -> Finding:
    """What the post says, beside its own times."""
    each = " and ".join(f"{times_faster(n):.3}" for n in ("forward", "backward"))
    return Finding.cited(
        f"Source: {POST}, which says 3.5. Its own times give {each} for the two "
        f"passes, {combined():.3} for both together."
    )


@claim("cursor-fwd-ms", "forward")
@claim("cursor-bwd-ms", "backward")
def one_pass(name: str) -> Finding:
    """As the post has it."""
    scaling = dequantizing_share(B200)
    return Finding(
        both(name)[1],
        why=f"{times_faster(name):.3} times faster by the post's own times; it names "
        "no sizes from which they would follow. Scaling each 32 products on CUDA cores "
        f"would alone take {scaling:.3} of a product's time.",
    )


@claim("cursor-e2e-1p5x")
def whole_step() -> Finding:
    """As the post has it, beside its own shares."""
    stated = (FORWARD_SHARE + BACKWARD_TO_FORWARD * BACKWARD_SHARE) / (
        1 + BACKWARD_TO_FORWARD
    )
    told = speed_up_of_part(stated, combined().si)
    return Finding.cited(
        f"Source: {POST}, from 16,000 to 24,000 tokens a second and GPU. If only the "
        f"layer changed, it took {implied_share():.0%} of a step. The post says "
        f"{FORWARD_SHARE:.0%} of the forward and {BACKWARD_SHARE:.0%} of the backward "
        f"pass, about {stated:.0%} of both, which would give {told:.3g}. So other "
        "changes helped."
    )


@claim("quant-kernel-bw")
def quantizing_rate() -> Finding:
    """As the post has it, beside a B200's bandwidth."""
    before, after = both("quantizing")
    peak = hardware.get(B200).memory_bandwidth * one_of("s")
    shares = [rate.retag("per_chip") * one_of("s") / peak for rate in (before, after)]
    return Finding(
        after, why=f"From {shares[0]:.2 %} to {shares[1]:.2 %} of a B200's bandwidth."
    )


@claim("grouped-gemm-deepgemm")
def grouped() -> Finding:
    """As the post has it."""
    return Finding(
        both("grouped")[1],
        why="DeepGEMM's time is without quantization, with scales of 1x128 in "
        "software; the other has scales of 32 that the tensor core reads.",
    )
