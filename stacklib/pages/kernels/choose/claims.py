"""Claims on what a kernel in CUDA gains over one in Triton."""

from statistics import median

from stacklib.evidence import Finding, claim, measurements
from stacklib.quantity import Quantity, counted

TRITON = ("Triton", "Triton tutorial flash_v2")


def pairs(software: str) -> list[float]:
    """Speeds of a kernel over Triton's, where both were measured on one shape."""
    speeds: dict[tuple[str, str], dict[str, float]] = {}
    for row in measurements.public():
        if row.family == "B" and row.metric == "throughput":
            place = speeds.setdefault((row.source, row.settings), {})
            place[row.software] = row.value
    return sorted(
        place[software] / place[name]
        for place in speeds.values()
        for name in TRITON
        if software in place and name in place
    )


def ratio(software: str) -> float:
    """Median of those ratios."""
    return median(pairs(software))


def won_back(software: str) -> Quantity:
    """Share of its speed that a kernel has over Triton's."""
    gain = counted(ratio, software, label=f"{software} over Triton")
    return (1 - 1 / gain).named(f"won back by {software}")


@claim("triton-vs-cuda-5-10")
def last_percent() -> Finding:
    """Attention on an H100, both kernels on the same shapes."""
    ends = [won_back(name) for name in ("FlashAttention-3", "cuDNN")]
    older = ratio("FlashAttention-2")
    return Finding(
        ends[0],
        to=ends[1],
        why=f"Medians of {len(pairs('FlashAttention-3'))} and {len(pairs('cuDNN'))} "
        "shapes of attention on an H100. It depends on how much of the chip a language "
        f"reaches: FlashAttention-2, in CUDA without Hopper's own instructions, has "
        f"{older:.2g} of Triton's speed. For products of matrices we have no pair.",
    )


@claim("triton-gap-conflict")
def within() -> Finding:
    """The same as a ratio, beside what the documents say."""
    found = pairs("FlashAttention-3")
    return Finding.false(
        computed=counted(
            ratio, "FlashAttention-3", label="FlashAttention-3 over Triton"
        ),
        why="The learning guide says within 10 %, “Where the 100x Comes From” 2.7 "
        "times on Blackwell, at best. Published pairs on an H100 are "
        f"{found[0]:.2g} to {found[-1]:.2g}.",
    )
