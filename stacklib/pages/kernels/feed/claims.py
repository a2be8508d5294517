"""Claims on DeepGEMM, on a bit of its machine code, and on a PTX instruction."""

from stacklib import gpu, hardware
from stacklib.evidence import Finding, claim
from stacklib.quantity import Quantity, counted, quoted

from ...figures_of import measured

H800 = "h800_sxm"
README = "deepseek-ai/DeepGEMM, README"
FIRST = "deepseek-ai/DeepGEMM at a6d97a1, the first release"
FAST = quoted("deepgemm.fast")
FIRST_BEST = "A-0031"  # the fastest row of the first release's table
# What interleave_ffma.py of the first release flips in an FFMA: yield and reuse.
MASK = 0x0800_2000_0000_0000


def bits(mask: int) -> int:
    """Bits that a mask flips."""
    return mask.bit_count()


def share() -> Quantity:
    """The published speed over the dense FP8 peak."""
    peak = hardware.get(H800).peak("fp8")
    return (FAST.retag("dense").retag("per_chip") / peak).named("share of the peak")


@claim("deepgemm-tflops")
def speed() -> Finding:
    """As the repository says; our look-up of it."""
    return Finding(
        FAST,
        why=f"Up to, on an H800: {share():.3 %} of the dense peak. The first release, "
        f"two months before, had {measured(FIRST_BEST):.4 TFLOP/s}.",
    )


@claim("deepgemm-lines")
def lines() -> Finding:
    """Lines of the first release's kernel, of which its README speaks, no blanks."""
    whole = quoted("deepgemm.code_lines")
    return Finding(
        quoted("deepgemm.kernel_lines"),
        why=f"Of the kernel function, with its comments; its file has {whole.si:.0f}. "
        f"That is the release with {measured(FIRST_BEST):.4 TFLOP/s}; "
        f"{FAST:.4 TFLOP/s} came after further changes. Two releases in one sentence.",
    )


@claim("deepgemm-yield-gain")
def gain() -> Finding:
    """The repository's own words."""
    flipped = counted(bits, MASK, unit="bit", label="bits flipped")
    return Finding.cited(
        f"Source: {FIRST}, README, FFMA SASS interleaving: 10 % and more in some "
        f"cases, for products with fine scales. The script flips {flipped.si:.0f} bits "
        "of an FFMA, yield and reuse, in SASS."
    )


@claim("deepseek-single-bit")
def flipped() -> Finding:
    """Ones of the mask that the first release's script applies."""
    return Finding(
        counted(bits, MASK, unit="bit", label="bits flipped of an instruction"),
        why="One bit, yield, was what the README found changed between NVCC 12.2 and "
        "12.3. The script flips the reuse bit too: a register cannot be reused when "
        "the warp yields.",
    )


@claim("deepgemm-yield-current")
def current() -> Finding:
    """What the repository's news say of it."""
    return Finding.false(
        f"Source: {README}, news of 2025-07-20: post-compilation optimization of SASS "
        "is disabled, since NVCC 12.9 interleaves FFMA itself. True of the releases "
        f"from February to July 2025, the one with {FAST:.4 TFLOP/s} among them; not "
        "of what runs today."
    )


@claim("deepgemm-vs-cublas")
def beside_cublas() -> Finding:
    """What is published is a ratio to a CUTLASS kernel of their own."""
    return Finding.open(
        f"{README}, says that it matches or exceeds expert-tuned libraries, and shows "
        "no such table; the first release compares with CUTLASS 3.6 as its authors "
        f"built it. It has {share():.3 %} of the dense peak at best, which leaves "
        f"{1 / share() - 1:.2 %} to any other. To settle it: both on one H100 with "
        "CUDA 12.9 or later, over one list of shapes, cuBLAS with its own scales of "
        "1x128 and 128x128."
    )


@claim("ptx-tma-load-name")
def instruction_name() -> Finding:
    """What the instruction is called, and what it becomes."""
    said = gpu.accepted("cp.async.bulk.tensor.5d", "sm_90a")
    return Finding.false(
        "Source: NVIDIA PTX ISA, list of instructions: there is no "
        "tma.load. A copy by a tensor map is cp.async.bulk.tensor; the assembler makes "
        f"{said.text} of it. The other three names of the document exist."
    )
