"""The claim on a matrix instruction of one generation only."""

from stacklib import gpu
from stacklib.evidence import Finding, claim

H100, B200 = "h100_sxm", "b200_sxm"


@claim("wgmma-on-blackwell")
def wgmma() -> Finding:
    """The instruction table, by compute capability, and NVIDIA's assembler."""
    hopper, blackwell = gpu.instruction(H100), gpu.instruction(B200)
    said = gpu.accepted(hopper.name, "sm_100a")
    return Finding.false(
        f"Source: {hopper.source.title}. {hopper.name} exists on compute capa"
        f"bility {hopper.targets[0]} and nowhere else. A B200 takes "
        f"{blackwell.name}, which one thread issues and whose sums "
        "stay in tensor memory. The assembler, on a kernel with it for a B200: "
        f"{said.text}."
    )


@claim("compute-capability")
def capabilities() -> Finding:
    """The number of each generation."""
    return Finding.true(
        "Source: NVIDIA CUDA C++ programming guide, compute capabilities: A100 8.0, "
        "H100 9.0, B200 10.0. Ada is 8.9, consumer Blackwell 12.0."
    )
