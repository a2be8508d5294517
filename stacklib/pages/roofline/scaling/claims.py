"""Claims on how fast arithmetic and memory grow, from one GPU to the next."""

from collections.abc import Callable
from itertools import pairwise

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, maximum, minimum
from stacklib.roofline.bound.trend import MemoryWall, Trend, memory_wall

FLAGSHIPS = ("v100_sxm2_16gb", "a100_sxm_80gb", "h100_sxm", "b200_sxm")
A100_40, A100_80 = "a100_sxm_40gb", "a100_sxm_80gb"
PERIOD = 2  # years over which the claims state growth
STUDY = (
    "The claimed figure is that of Gholami et al., AI and Memory Wall (IEEE Micro, "
    "2024), a fit over twenty years of server hardware"
)

Rate = Callable[[Accelerator], Quantity]


def _fp16(device: Accelerator) -> Quantity:
    return device.peak("fp16")


def _bf16(device: Accelerator) -> Quantity:
    return device.peak("bf16")


def _bandwidth(device: Accelerator) -> Quantity:
    return device.memory_bandwidth


def _over(rate: Rate, new: str, old: str) -> Quantity:
    later, earlier = hardware.get(new), hardware.get(old)
    return (rate(later) / rate(earlier)).named(f"{later.short} over {earlier.short}")


def _in_two_years(rate: Rate) -> Quantity:
    """Growth in two years from the first flagship to the last."""
    first, last = FLAGSHIPS[0], FLAGSHIPS[-1]
    years = hardware.get(last).year - hardware.get(first).year
    yearly = _over(rate, last, first) ** (1 / years)
    return (yearly * yearly).named(f"growth in {PERIOD} years, over {years} years")


def _fit() -> MemoryWall:
    return memory_wall(dtype="fp16", period=PERIOD)


def _from_to() -> str:
    first, last = hardware.get(FLAGSHIPS[0]), hardware.get(FLAGSHIPS[-1])
    return f"{first.name} ({first.year}) to {last.name} ({last.year})"


def _beside(fit: Trend) -> str:
    """The fitted growth and its interval."""
    return (
        f"A line through all {len(fit.keys)} data-centre GPUs of our database gives "
        f"{fit.growth:.3g}, from {fit.low:.3g} to {fit.high:.3g} at 95 % confidence."
    )


@claim("memwall-compute-growth")
def compute_growth() -> Finding:
    """Dense FP16 peak from the first flagship to the last, in two years."""
    beside = _beside(_fit().compute)
    return Finding(
        _in_two_years(_fp16), why=f"Dense FP16, {_from_to()}. {STUDY}. {beside}"
    )


@claim("memwall-bandwidth-growth")
def bandwidth_growth() -> Finding:
    """Memory bandwidth from the first flagship to the last, in two years."""
    beside = _beside(_fit().bandwidth)
    return Finding(
        _in_two_years(_bandwidth),
        why=f"HBM, {_from_to()}, grew faster than the DRAM of the claim. {STUDY}. "
        f"{beside}",
    )


@claim("memwall-gap")
def gap_growth() -> Finding:
    """Growth of peak over growth of bandwidth, on the same chips."""
    beside = _beside(_fit().ridge)
    return Finding(
        (_in_two_years(_fp16) / _in_two_years(_bandwidth)).named("growth of the gap"),
        why="The document's own two rates do divide to its figure. On GPUs with HBM "
        f"the gap widens more slowly: {_from_to()}. {beside}",
    )


@claim("memwall-compute-doubles")
def compute_doubles() -> Finding:
    """The same growth, which one document states in two ways."""
    return Finding(
        _in_two_years(_fp16),
        why="The document disagrees with itself: threefold in two places, twofold "
        "here, and with twofold its gap would be a third smaller than the one it "
        f"headlines. Ours is {_from_to()} and lies between the two.",
    )


def _steps(rate: Rate) -> str:
    return ", ".join(f"{_over(rate, new, old):.3}" for old, new in pairwise(FLAGSHIPS))


@claim("gpu-gen-gain")
def generation_gain() -> Finding:
    """The least and the largest step of dense FP16 peak over three generations."""
    steps = [_over(_fp16, new, old) for old, new in pairwise(FLAGSHIPS)]
    return Finding(
        minimum(*steps).named("least step"),
        to=maximum(*steps).named("largest step"),
        why="From V100 to A100, H100 and B200 the "
        f"dense FP16 peak grew by {_steps(_fp16)}, the bandwidth by "
        f"{_steps(_bandwidth)}: not every step lies in the range, and the last "
        "one is above it both ways.",
    )


@claim("a100-b200-bf16")
def bf16_growth() -> Finding:
    """Dense BF16 peak of B200 over that of A100."""
    return Finding(
        _over(_bf16, FLAGSHIPS[-1], A100_80),
        why="Dense over dense; a B200 is two dies, an A100 one.",
    )


@claim("a100-b200-ridge-growth")
def ridge_growth() -> Finding:
    """Growth of the BF16 ridge, which depends on which A100 one starts from."""

    def from_(old: str) -> Quantity:
        new = FLAGSHIPS[-1]
        growth = _over(_bf16, new, old) / _over(_bandwidth, new, old)
        return growth.named("growth of the ridge")

    return Finding.true(
        computed=from_(A100_80),
        why=f"From the A100 of 80 GB the ridge grows {from_(A100_80):.3} times, from "
        f"that of 40 GB {from_(A100_40):.3}: the later A100 had more bandwidth "
        "for the same arithmetic.",
    )
