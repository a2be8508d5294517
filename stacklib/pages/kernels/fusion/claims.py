"""The claim on what a library of attention kernels gains in an engine."""

from __future__ import annotations

from stacklib.evidence import Finding, claim


@claim("flashinfer-29-69")
def between_tokens() -> Finding:
    """A measurement of engines; no model of ours has their schedulers."""
    return Finding.cited(
        "Source: Ye et al., FlashInfer, arXiv 2501.01005, abstract: 29 to 69 % less "
        "time between tokens than with compiler backends, which are Triton's, in the "
        "serving benchmarks of its section 4. The document adds the batch sizes."
    )
