"""Claims on the peak of a format, and on what narrower numbers make of a generation."""

from stacklib import gpu, hardware
from stacklib.evidence import Finding, claim
from stacklib.quantity import Quantity, counted
from stacklib.quantizers import Format, schemes

V100, H100, B200, GB200 = "v100_sxm2_16gb", "h100_sxm", "b200_sxm", "gb200"
WORKSTATION = "rtx_pro_6000_blackwell"
ON_WORKSTATION = "the chip is a workstation's RTX PRO 6000, with 2:4 sparsity"


def built(device: str, dtype: str) -> Quantity:
    """Dense peak from units, multiply-adds and clock."""
    return gpu.peak_of(device, dtype).built


def sparse(device: str, dtype: str) -> Quantity:
    """The same with 2:4 sparsity."""
    row = gpu.peak_of(device, dtype)
    return row.built.retag("sparse", row.device.peaks[row.name].sparse_factor)


def over_volta(device: str, dtype: str) -> Quantity:
    """A dense peak over dense FP16 of a V100."""
    return built(device, dtype) / built(V100, "fp16")


def sparse_over_volta(device: str, dtype: str) -> Quantity:
    """The same with 2:4 sparsity on one side: a V100 has none."""
    words = "gain of 2:4 sparsity"
    factor = counted(sparse_factor, device, dtype, label=words)
    return over_volta(device, dtype) * factor


def sparse_factor(device: str, dtype: str) -> float:
    """How many times as fast a peak is with 2:4 sparsity."""
    return gpu.peak_of(device, dtype).device.peaks[dtype].sparse_factor


@claim("b200-fp4-peak")
def four_bit_peak() -> Finding:
    """Units, multiply-adds, two, clock."""
    return Finding(
        built(B200, "fp4"),
        why=f"Dense. The claimed rate is that of FP8, {built(B200, 'fp8'):.3 PFLOP/s}; "
        f"with 2:4 sparsity FP4 reaches {sparse(B200, 'fp4'):.3 PFLOP/s}.",
    )


@claim("nvl72-fp4-aggregate")
def rack_peak() -> Finding:
    """The sparse FP4 peak of a GPU, over the GPUs of its domain."""
    chips = hardware.get(GB200).link_domain
    each = sparse(GB200, "fp4")
    return Finding(
        each.across(chips).named("sparse FP4 of the rack"),
        why=f"One GPU reaches {each:.3 PFLOP/s}, so the claimed number is that of one "
        f"superchip, which has two. The rack has {chips.si:.0f}.",
    )


@claim("h100-fp8-peak")
def eight_bit_peak() -> Finding:
    """Units, multiply-adds, two, clock."""
    return Finding(
        built(H100, "fp8"),
        why=f"Dense. The claimed number is the 16-bit rate, {built(H100, 'bf16')}.",
    )


@claim("fp8-2x-matmul")
def eight_over_sixteen() -> Finding:
    """Dense FP8 peak over dense BF16 peak."""
    ratio = built(B200, "fp8") / built(B200, "bf16")
    return Finding(
        ratio.named("FP8 over BF16, B200"),
        why="Of peaks, and on an H100 too. It is the most a product can gain when the "
        "arithmetic binds; quantizing its inputs is not in it.",
    )


@claim("blackwell-30x-v100")
def gain_with_fewer_bits() -> Finding:
    """Dense FP4 of a B200, the V100's successor, over its dense FP16."""
    return Finding(
        over_volta(B200, "fp4").named("B200 FP4 over V100 FP16"),
        why="The document does not say which Blackwell. With sparsity, a B200 has "
        f"{sparse_over_volta(B200, 'fp4'):.4}, on a workstation's "
        f"RTX 5090 {sparse_over_volta('rtx_5090', 'fp4'):.3}.",
    )


@claim("real-compute-5x", right_if=ON_WORKSTATION)
def gain_with_equal_bits() -> Finding:
    """Dense 16-bit peak of a B200 over that of a V100."""
    bits = Format("fp16").bits / Format("e2m1").bits
    total = over_volta(B200, "fp4")
    same = over_volta(B200, "bf16")
    return Finding(
        same.named("B200 over V100, 16 bits"),
        why=f"A B200's {total:.3} are {same:.3} of silicon and {total / same:.2} of "
        f"bits, {Format('fp16').bits} over {Format('e2m1').bits}. The document's two "
        f"claims, 30 and 5, leave {30 / 5:.0f} to the bits, which are {bits:.0f}.",
        then=sparse_over_volta(WORKSTATION, "bf16").named("with 2:4 sparsity"),
    )


@claim("fp4-v3-fp8-precursor")
def mixed_operands() -> Finding:
    """What is deployed is a census; which peak it runs at can be computed."""
    bits = {row.name: row.bits for row in schemes()}
    return Finding.open(
        "Which formats are common is a matter of counting, and nobody has published "
        f"the count. What such a deployment buys: {bits['mxfp4']} to {bits['nvfp4']} "
        "bits for each weight that is read. The product runs at the peak of the wider "
        f"operand, on a B200 {built(B200, 'fp8'):.3 PFLOP/s} with FP8 activations and "
        f"{built(B200, 'bf16'):.3 PFLOP/s} with BF16, not the "
        f"{built(B200, 'fp4'):.3 PFLOP/s} of FP4. To settle it: the formats of "
        "weights and activations in the quantization_config of the checkpoints "
        "that are served, weighted by use."
    )
