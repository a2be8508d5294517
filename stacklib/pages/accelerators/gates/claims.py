"""Claims on what stands beside an array, and on who wrote its compiler."""

from stacklib.evidence import Finding, claim
from stacklib.pages.accelerators import gates as page
from stacklib.quantity import counting


@counting("bits of a kept weight, of a byte with its choice", unit="bit")
def in_a_byte() -> int:
    """The widest weight of which each value has two codes among a byte's."""
    return max(bits for bits in range(1, 9) if 2 * 2**bits <= 2**8)


@claim("tpu-7bit-int-proposal")
def seven() -> Finding:
    """What a byte has left beside the choice of a kept weight."""
    return Finding(
        in_a_byte(),
        why="A proposal, so nothing to be right about; but the width follows from the "
        "sparsity that it comes with: a kept weight and which of two it was make a "
        f"byte. Seven bits leave {page.ratio('mac'):%} of a place's transistors, and "
        f"one of two kept gives {page.sparse():.3g} times the products.",
    )


@claim("tpuv3-compiler-throttling")
def throttling() -> Finding:
    """Open: what a pass is worth depends on how busy the programs are."""
    return Finding.open(
        f"Public clocks rose by {page.public_clocks() - 1:%} from v2 to v3, for every "
        "reason together. A quarter more clock asks that programs are at most "
        f"{page.most_active(None):%} as busy as the worst one, by the exponent fitted "
        "to GPUs. To settle it: the power of v3 with the pass and without."
    )


@claim("tpuv2-xla-team-size")
def team() -> Finding:
    """Open: a number of people."""
    return Finding.open(
        "A number of people, told by one of them. No paper on TPU v2 and v3 that we "
        "could read gives it. To settle it: a document that prints it."
    )
