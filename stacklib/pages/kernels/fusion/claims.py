"""The claim on what a library of attention kernels gains in an engine."""

from stacklib.evidence import Finding, claim
from stacklib.kernels.plan.published import gain, speedup


@claim("flashinfer-29-69")
def between_tokens() -> Finding:
    """A measurement of engines; no model of ours has their schedulers."""
    row = gain("flashinfer-itl")
    low, high = speedup(row)
    return Finding.cited(
        f"Source: {row.source}: {row.low:.0%} to {row.high:.0%} less time between "
        f"tokens than {row.over} ({row.where}), which is {low:.2g} to {high:.2g} times "
        "as fast."
    )
