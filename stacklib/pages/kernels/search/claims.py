"""Claims on kernels that were found by search, and on a tutorial's versions."""

from stacklib.evidence import Finding, claim
from stacklib.kernels.plan.published import SEARCH_DAYS, gain, speedup

PAPER = "T. Chen et al., AVO, arXiv 2603.24517"


@claim("avo-cudnn-3p5", "avo-cudnn")
@claim("avo-fa4-10p5", "avo-fa4")
def gains(name: str) -> Finding:
    """A measurement of the paper."""
    row = gain(name)
    return Finding.cited(
        f"Source: {row.source}: up to {row.high:.1%} faster than {row.over} "
        f"({row.where}). The document drops the up to."
    )


@claim("avo-implied-cudnn-over-fa4")
def implied() -> Finding:
    """Two best cases, which may be of two shapes."""
    over_fa4, over_cudnn = (speedup(gain(n))[1] for n in ("avo-fa4", "avo-cudnn"))
    return Finding.open(
        f"It would be {over_fa4 / over_cudnn - 1:.1%} if both figures were of one "
        "shape. Each is the best of many, over another kernel, so no ratio follows, "
        "and the document does not state it. To settle it: cuDNN and "
        "FlashAttention-4 on one B200 over the paper's shapes."
    )


@claim("avo-seven-days")
def days() -> Finding:
    """The paper's own word."""
    return Finding.cited(
        f"Source: {PAPER}: {SEARCH_DAYS} days of autonomous search. What that cost "
        "depends on the number of GPUs and of the model's tokens, which it does not "
        "price."
    )


@claim("avo-authors-23")
def authors() -> Finding:
    """A first review counted the names."""
    return Finding.cited(
        f"Source: {PAPER}, names on the abstract page, counted in a first review: 23."
    )


@claim("trn-nki-attention-versions")
def versions() -> Finding:
    """The tutorial's own count."""
    return Finding.cited(
        "Source: AWS Neuron, NKI tutorial on attention for long sequences, which goes "
        "from a first version to its eleventh."
    )
