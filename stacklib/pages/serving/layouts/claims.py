"""Claims on engines: what one gains over another, and what it takes to build."""

from __future__ import annotations

from stacklib.evidence import Finding, claim
from stacklib.pages.serving import layouts as page


@claim("trtllm-8-13")
def over_vllm() -> Finding:
    """Published tokens of both engines, each held against the estimate of its run."""
    gain = page.gain()
    mine, its = (page.stands(name, "rows") for name in ("TensorRT-LLM", "vLLM"))
    return Finding(
        gain,
        to=gain,
        why="No public row has both engines at the same model, chip and load. "
        f"{mine.text()} rows of TensorRT-LLM and {its.text()} of vLLM, a token among "
        "others, are each "
        "held against one estimate of that run, which knows no engine; the medians "
        f"differ by {gain:.2 %}. Rows of one engine spread wider than that.",
    )


@claim("trtllm-compile")
def build() -> Finding:
    """Nobody's figure of a build stands in the record."""
    return Finding.open(
        "A build is of the engine before the PyTorch backend, which by TensorRT-LLM's "
        "documentation loads a checkpoint as it is and builds nothing. To settle it: "
        "time `trtllm-build` for one model on one chip."
    )


@claim("decode-startups-12")
def companies() -> Finding:
    """A count without its list."""
    return Finding.open(
        "The document counts companies and names no list of them. To settle it: print "
        "the list, with what each has taped out."
    )
