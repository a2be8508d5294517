"""Claims on the speeds of FlashAttention's versions, and on what binds them."""

from stacklib import gpu, hardware
from stacklib.evidence import Finding, claim
from stacklib.kernels.plan.published import gain, speedup
from stacklib.quantity import Quantity, chosen, counted, quoted

from ...figures_of import measured

H100, B200 = "h100_sxm", "b200_sxm"
FA3_ABSTRACT = "Shah et al., FlashAttention-3, arXiv 2407.08608, abstract"
FA4_ABSTRACT = "FlashAttention-4, arXiv 2603.05451, abstract"
EIGHT_BITS = quoted("fa3.fp8")
SIXTEEN_BITS, FOURTH = "B-0365", "B-0364"  # FA-3 in FP16; FA-4 in BF16 on a B200
SIDE = chosen(128, label="side of a tile")
VERSIONS = {  # arXiv number of each
    "FlashAttention": "2205.14135",
    "FlashAttention-2": "2307.08691",
    "FlashAttention-3": "2407.08608",
    "FlashAttention-4": "2603.05451",
}


def of_peak(speed: Quantity, device: str, dtype: str) -> Quantity:
    """A speed over a device's dense peak."""
    peak = hardware.get(device).peak(dtype)
    dense = speed.retag("dense").retag("per_chip") if not speed.tags else speed
    return (dense / peak).named(f"share of the {dtype} peak")


def year_of(name: str) -> Quantity:
    """The year of a version's paper."""
    return quoted(f"arxiv.{VERSIONS[name]}")


def unit_rate(device: str, dtype: str) -> Quantity:
    """Multiply-adds of a unit in a cycle, at the clock that the peak implies."""
    chip = hardware.get(device)
    cycles = (chip.compute_units * chip.peak_clock(dtype)).named("unit cycles")
    return (chip.peak(dtype).to("MAC/s") / cycles).named("multiply-adds a cycle")


@claim("fa3-peak-fraction")
def share_of_peak() -> Finding:
    """The FP8 figure over the dense FP8 peak."""
    other = of_peak(measured(SIXTEEN_BITS), H100, "fp16")
    return Finding(
        of_peak(EIGHT_BITS, H100, "fp8"),
        why="1.3 PFLOP/s is the FP8 result and belongs beside the FP8 peak. The 75 % "
        f"belongs to the FP16 result: {measured(SIXTEEN_BITS):.3 TFLOP/s} of "
        f"{hardware.get(H100).peak('fp16'):.3 TFLOP/s} are {other:.3 %}. The document "
        "puts the share of the one beside the rate of the other.",
    )


@claim("fa3-pflops")
def eight_bit_speed() -> Finding:
    """As the paper's abstract has it."""
    best = measured("B-0340")
    return Finding(
        EIGHT_BITS,
        why="Close to 1.2 in the first version. The best FP8 bar of its figures that "
        f"we have is {best:.4 PFLOP/s}.",
    )


@claim("fa3-740")
def sixteen_bit_speed() -> Finding:
    """As the first version's abstract has it."""
    share = of_peak(measured(SIXTEEN_BITS), H100, "fp16")
    return Finding(
        measured(SIXTEEN_BITS),
        why=f"In FP16, {share:.3 %} of the dense peak; the text says BF16. The last "
        "version of the abstract has 840 TFLOP/s in BF16.",
    )


@claim("fa4-1613-71")
def fourth_of_peak() -> Finding:
    """The published speed over a B200's dense BF16 peak."""
    return Finding(
        of_peak(measured(FOURTH), B200, "bf16"),
        why=f"{measured(FOURTH):.4 TFLOP/s} of "
        f"{hardware.get(B200).peak('bf16'):.4 TFLOP/s}.",
    )


@claim("fa4-over-cudnn", "fa4-cudnn", "Later cuDNN releases caught up.")
@claim("fa4-over-triton", "fa4-triton", "It is the best case of many.")
def over_others(name: str, note: str) -> Finding:
    """A measurement on one GPU; no model of ours has both kernels."""
    share = of_peak(measured(FOURTH), B200, "bf16")
    row = gain(name)
    return Finding.cited(
        f"Source: {FA4_ABSTRACT}: up to {speedup(row)[1]:.2g} times {row.over} "
        f"({row.where}), at {share:.3 %} of the peak. {note}"
    )


@claim("fa-three-generations")
def generations() -> Finding:
    """Versions with a paper of their own."""
    return Finding(
        counted(len, VERSIONS, label="versions"),
        why=f"{', '.join(VERSIONS)}: as many steps between them as the document counts "
        "generations.",
    )


@claim("fa-four-years")
def years() -> Finding:
    """From the first paper to the fourth."""
    first, *_, last = VERSIONS
    return Finding(
        (year_of(last) - year_of(first)).named("years"),
        why=f"arXiv {VERSIONS[first]} to {VERSIONS[last]}.",
    )


@claim("cuda-c-cannot-tmem")
def tensor_memory() -> Finding:
    """Which language has the instruction, and what the assembler says."""
    wide = gpu.instruction(B200)
    said = gpu.accepted(wide.name, "sm_100a")
    return Finding.false(
        f"Source: {wide.source.title}. {wide.name} keeps its sums in {wide.sums}: "
        "PTX, which CUDA C++ takes between its own lines (asm volatile) and which "
        "libcu++ wraps in functions (cuda::ptx::tcgen05_mma). "
        f"The assembler, for a B200: {said.text}."
    )


@claim("fa4-exp-bottleneck")
def exponentials() -> Finding:
    """Cycles of a tile's exponentials over cycles of its two products."""
    lanes = gpu.part_count(B200, "special_lanes")
    slow = (SIDE * SIDE / lanes).named("cycles of exponentials")
    pair = (chosen(2, "MAC", label="two products") * SIDE**3).named("multiply-adds")
    fast = (pair / unit_rate(B200, "bf16")).to("cycle")
    cycles = chosen(1, "cycle", label="a cycle of a lane")
    on_hopper = gpu.part_count(H100, "special_lanes")
    return Finding.true(
        computed=(slow * cycles / fast).named("exponentials over products"),
        why=f"A tile of {SIDE.si:.0f} x {SIDE.si:.0f} with a head of {SIDE.si:.0f}: "
        f"{slow.si:.0f} cycles of {lanes.si:.0f} lanes, and {fast.si:.0f} cycles of "
        "products. Neither hides the other altogether, so a part of the exponentials "
        f"moves to multiply-adds. An H100 has {on_hopper.si:.0f} lanes as well and "
        "half the products a cycle. The authors of FlashAttention-4 say it of a B200 "
        "(Together AI's blog, read 2026-11-30): the forward pass is bound by the units "
        "for exponentials.",
    )
