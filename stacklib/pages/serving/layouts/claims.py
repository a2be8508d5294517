"""Claims on engines: what one gains over another, and what it takes to build."""

from __future__ import annotations

from stacklib.evidence import Finding, claim
from stacklib.pages.serving import layouts as page


@claim("trtllm-8-13")
def over_vllm() -> Finding:
    """A cloud ran both on one chip; medians of all published rows tell no engine."""
    return Finding.cited(
        "Source: Spheron, vLLM vs TensorRT-LLM vs SGLang, 2026 (spheron.network; its "
        "single request as cloudai.pt tells it): Llama 3.3 70B in FP8 on one H100, 130 "
        "tokens/s after 120 for one request, 2,100 after 1,850 for fifty. Rows of both "
        "engines from elsewhere, each held against one estimate of its run, differ by "
        f"{page.gain():.2 %} in their medians; rows of one engine spread wider."
    )


@claim("trtllm-compile")
def build() -> Finding:
    """Told by clouds that built an engine; the newer backend builds none."""
    return Finding.cited(
        "Source: Spheron, vLLM vs TensorRT-LLM vs SGLang, 2026 (spheron.network): "
        "about 28 minutes to a cold start, Llama 3.3 70B in FP8 on one H100; "
        "gigagpu.com has 30 to 90 for a model of 70B. The PyTorch backend, by "
        "TensorRT-LLM's documentation, loads a checkpoint as it is and builds nothing."
    )


@claim("decode-startups-12")
def companies() -> Finding:
    """A count without its list."""
    return Finding.open(
        "The document counts companies and names no list of them. To settle it: print "
        "the list, with what each has taped out."
    )
