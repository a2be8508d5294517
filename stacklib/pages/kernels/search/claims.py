"""Claims on kernels that were found by search, and on a tutorial's versions."""

from __future__ import annotations

from stacklib.evidence import Finding, claim

PAPER = "AVO, arXiv 2603.24517"


@claim("avo-cudnn-3p5", "3.5 % over cuDNN")
@claim("avo-fa4-10p5", "10.5 % over FlashAttention-4")
def gains(which: str) -> Finding:
    """A measurement of the paper."""
    return Finding.cited(
        f"Source: {PAPER}, abstract: up to {which}, on a B200. The document drops the "
        "up to."
    )


@claim("avo-implied-cudnn-over-fa4")
def implied() -> Finding:
    """Two best cases, which may be of two shapes."""
    ratio = 1.105 / 1.035 - 1
    return Finding.open(
        f"It would be {ratio:.1%} if both figures were of one shape; they are the best "
        "of many, each over another kernel, so no ratio follows. The document does not "
        "state it. To settle it: cuDNN and FlashAttention-4 on one B200 over the "
        "paper's shapes."
    )


@claim("avo-seven-days")
def days() -> Finding:
    """The paper's own word."""
    return Finding.cited(
        f"Source: {PAPER}: seven days of autonomous search. What that cost depends on "
        "the number of GPUs and of the model's tokens, which it does not price."
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
