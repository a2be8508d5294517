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
    """Two best cases of one list of shapes: the shape of one bounds the other."""
    over_fa4, over_cudnn = (speedup(gain(n))[1] for n in ("avo-fa4", "avo-cudnn"))
    return Finding.open(
        f"{gain('avo-fa4').source}: both are the most over the same shapes. "
        f"Where FlashAttention-4 is {over_fa4 - 1:.1%} behind, cuDNN is at most "
        f"{over_cudnn - 1:.1%} behind, so there it leads by at least "
        f"{over_fa4 / over_cudnn - 1:.1%}. By how much at most does not follow. To "
        "settle it: the rates of both at each shape."
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
    return Finding.cited(f"Source: {PAPER}, names on its first page, counted: 23.")


@claim("trn-nki-attention-versions")
def versions() -> Finding:
    """The tutorial's own count."""
    return Finding.cited(
        "Source: AWS, nki-samples, tutorials/attention_fwd_performance: kernels "
        "attn_fwd_v1 to attn_fwd_v11, and a v8a beside the eighth."
    )
