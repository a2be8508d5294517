"""Published gains, each with what it is over: a ratio without its base says nothing.

A row is one published figure. ``speedup`` turns a shorter time into a ratio, ``times``
multiplies two gains only where the second is over what the first makes, at the same
place; two figures that are each the best of many configurations never are. ``payback``
says from how much use on a search has paid for itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.quantity import quoted, resolve
from stacklib.quantity.bounds import above_zero, at_least

KINDS = ("faster", "shorter")  # how a share is meant: more work a second, or less time


@dataclass(frozen=True, slots=True)
class Gain:
    """A published gain: from ``low`` to ``high`` as shares, 0.3 for 30 %."""

    what: str
    low: float
    high: float
    kind: str  # of ``KINDS``
    over: str
    where: str  # device, model, batch: what it was measured on
    source: str
    best_case: bool = False  # "up to": the best of its configurations
    seen: str = "read"  # "recalled" where its base is not in the source that was read


_FLASHINFER = "Z. Ye et al., FlashInfer, arXiv 2501.01005, 2025, abstract"
_AVO = "T. Chen et al., AVO, arXiv 2603.24517, 2026, abstract"
_SAMPLING = "T. Ruiz et al., FlashSampling, arXiv 2603.15854, 2026"
_DOC = "document 004"
_FA4 = "FlashAttention-4, 2026, abstract; document 004"
GAINS = {
    "flashinfer-itl": Gain(
        "FlashInfer",
        0.29,
        0.69,
        "shorter",
        "a compiler's (Triton) backend",
        "SGLang, time between tokens, batch 8 to 64",
        _FLASHINFER,
    ),
    "flashinfer-long": Gain(
        "FlashInfer",
        0.28,
        0.30,
        "shorter",
        "RoPE and attention as two kernels",
        "long contexts, latency",
        _FLASHINFER,
        seen="recalled",
    ),
    "flashinfer-parallel": Gain(
        "FlashInfer",
        0.13,
        0.17,
        "faster",
        "one format for the whole cache",
        "parallel generation",
        _FLASHINFER,
        seen="recalled",
    ),
    "tensorrt-llm": Gain(
        "TensorRT-LLM",
        0.08,
        0.13,
        "faster",
        "vLLM",
        "throughput; model, device and versions are not given",
        _DOC,
    ),
    "vllm-orca": Gain(
        "vLLM",
        1.0,
        3.0,
        "faster",
        "FasterTransformer and Orca",
        "OPT and LLaMA on A100, same latency",
        "W. Kwon et al., PagedAttention, SOSP 2023, abstract",
        seen="recalled",
    ),
    "sglang": Gain(
        "SGLang",
        0.0,
        5.4,
        "faster",
        "inference systems of its time",
        "agents, few-shot prompts, JSON, chat: prefixes are shared",
        "L. Zheng et al., SGLang, arXiv 2312.07104, abstract",
        True,
    ),
    "fa4-cudnn": Gain(
        "FlashAttention-4", 0.0, 0.3, "faster", "cuDNN 9.13", "B200, bf16", _FA4, True
    ),
    "fa4-triton": Gain(
        "FlashAttention-4", 0.0, 1.7, "faster", "Triton", "B200, bf16", _FA4, True
    ),
    "avo-cudnn": Gain(
        "AVO, 7 days", 0.0, 0.035, "faster", "cuDNN", "B200, multi-head", _AVO, True
    ),
    "avo-fa4": Gain(
        "AVO, 7 days",
        0.0,
        0.105,
        "faster",
        "FlashAttention-4",
        "B200, multi-head",
        _AVO,
        True,
    ),
    "avo-gqa-cudnn": Gain(
        "AVO, 30 minutes more",
        0.0,
        0.07,
        "faster",
        "cuDNN",
        "B200, grouped-query",
        _AVO,
        True,
    ),
    "avo-gqa-fa4": Gain(
        "AVO, 30 minutes more",
        0.0,
        0.093,
        "faster",
        "FlashAttention-4",
        "B200, grouped-query",
        _AVO,
        True,
    ),
    "flashsampling-multinomial": Gain(
        "FlashSampling",
        0.0,
        0.84,
        "faster",
        "torch's multinomial, compiled",
        "B300, the kernel",
        _SAMPLING,
        True,
    ),
    "flashsampling-flashinfer": Gain(
        "FlashSampling",
        0.0,
        1.52,
        "faster",
        "FlashInfer's top-k and top-p",
        "B300, the kernel: another function",
        _SAMPLING,
        True,
    ),
    "flashsampling-step": Gain(
        "FlashSampling",
        0.0,
        0.19,
        "shorter",
        "vLLM's own sampler",
        "Qwen3-1.7B on B200, time a token; 7 % at 8B, 2 % at 32B",
        _SAMPLING,
        True,
    ),
}
SEARCH_DAYS = 7  # of AVO
PORT_MINUTES = quoted("avo.port").value  # of that search, to grouped queries


def gain(name: str) -> Gain:
    """A published gain by its key."""
    return GAINS[resolve(name, GAINS, "published gain")]


def speedup(row: Gain) -> tuple[float, float]:
    """A gain as ratios of speed, from its low to its high.

    69 % less time is 3.2 times as fast, 69 % more work a second 1.69 times.
    """
    low, high = row.low, row.high
    if row.kind == "shorter":
        return 1 / (1 - low), 1 / (1 - high)
    return 1 + low, 1 + high


def times(first: Gain, second: Gain) -> tuple[float, float]:
    """Both gains together, where they may be multiplied.

    - raises ``ValueError`` when the first is not over what the second gives, when they
      were measured in different places, or when one is the best of many.
    """
    if first.over != second.what:
        raise ValueError(f"{first.what} is over {first.over}, not over {second.what}")
    if first.best_case or second.best_case:
        raise ValueError(
            f"{first.what} and {second.what}: each is the best of its configurations, "
            "and not of the same one"
        )
    if first.where != second.where:
        raise ValueError(f"measured in two places: {first.where}; {second.where}")
    (a, b), (c, d) = speedup(first), speedup(second)
    return a * c, b * d


def payback(search_gpu_hours: float, share: float, faster: float) -> float:
    """GPU-hours of use from which on a search has paid for itself.

    - ``search_gpu_hours``: float; what the search took.
    - ``share``: float; of the GPU's time, the kernel's.
    - ``faster``: float; the gain, 0.035 for 3.5 %: the kernel's time falls to 1 / (1 +
      gain).
    """
    at_least(0, search_gpu_hours=search_gpu_hours)
    above_zero(share=share, faster=faster)
    if share > 1:
        raise ValueError(f"share = {share!r}: of all time, at most 1")
    return search_gpu_hours / (share * (1 - 1 / (1 + faster)))
