"""Kernels that engines run around an attention, and how their attention is cut.

Facts read in the engines' code, a row each, by the last word of a row's source.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from stacklib.kernels.schedule.attention_time import Cut


def one(keys: int, blocks: int, units: int) -> int:
    """No share: a block walks over all keys of its head."""
    return 1


def eight(keys: int, blocks: int, units: int) -> int:
    """SGLang's Triton kernel: eight at most."""
    return min(8, math.ceil(units * max(1.0, math.log2(max(keys, 1) / 64)) / blocks))


def rooted(keys: int, blocks: int, units: int) -> int:
    """XQA's, decoderXQAImplCommon.h."""
    count = keys // 128
    count = max(1, min(count, round(math.sqrt(8 * count))))
    waves = blocks * count / units
    return max(1, int(count / max(1.0, waves / 8)))


def efficient(step: int, times: int = 1, least: int = 0):
    """FlashAttention's heuristic."""

    def shares(keys: int, blocks: int, units: int) -> int:
        units *= times
        tiles = math.ceil(keys / step)
        if blocks >= 0.8 * units or tiles <= least:
            return 1
        tried = range(1, min(128, units, tiles) + 1)
        kept = []
        for n in tried:
            waves = blocks * n / units
            eligible = n == 1 or math.ceil(tiles / n) != math.ceil(tiles / (n - 1))
            kept.append(waves / math.ceil(waves) if eligible or least else 0.0)
        best = max(kept)
        return next(n for n, k in zip(tried, kept) if k >= 0.85 * best)

    return shares


@dataclass(frozen=True, slots=True)
class Engine:
    """What an engine's attention is, besides its class."""

    before: int = 3  # kernels before it
    casts: int = 0  # more of them where K and V are kept in 8 bits
    turns: bool = True  # whether those read and write the queries as well
    token: Cut = Cut()
    prompt: Cut = Cut()
    direct: bool = False


ENGINES = {
    "flash_attention": Engine(1, 2, False, Cut(128, shares=efficient(112, 1, 4)), Cut(64), True),
    "fa3": Engine(2, 1, False, Cut(64), Cut(64)),
    "flashinfer": Engine(1, 2, False, Cut(), Cut()),
    "triton": Engine(1, 2, False, Cut(columns=32, shares=eight, stalls=2, merges=True), Cut(64, columns=64, packs=False, stalls=2)),
    "trtllm_mha": Engine(1, 2, False, Cut(), Cut(64, packs=False, trips=6)),
    "torch_flow": Engine(2, 0, True, Cut(), Cut(packs=False, trips=8)),
    "xqa": Engine(1, 0, True, Cut(columns=256, shares=rooted, trips=8), Cut(64, packs=False, trips=6)),
    "torch_flow_flashinfer": Engine(2, 0, False, Cut(), Cut(64, packs=False, trips=6)),
    "vllm_flash_attn": Engine(1, 0, False, Cut(64, shares=efficient(128, 2), trips=6), Cut(64, packs=False)),
    "vllm_flash_attn_fa2": Engine(1, 0, False, Cut(64, shares=efficient(128, 2), trips=6), Cut(64, packs=False)),
    "vllm_flash_attn_fa3": Engine(2, 0, False, Cut(64, trips=4), Cut(64)),
    "vllm_flash_attn_fa4": Engine(2, 0, False, Cut(64, trips=4), Cut(64)),
    "vllm_flashinfer_fidecode": Engine(2, 0, False, Cut(merges=True), Cut()),
    "vllm_flashinfer_fiprefill": Engine(1, 0, False, Cut(), Cut()),
    "vllm_flashinfer_trtllmdecode": Engine(1, 0, False, Cut(), Cut()),
    "vllm_flashinfer_trtllmprefill": Engine(1, 0, False, Cut(), Cut(64, packs=False, trips=6)),
    "vllm_triton_attn": Engine(1, 0, False, Cut(columns=32, shares=eight, stalls=2, merges=True), Cut(64, columns=64, packs=False, stalls=2)),
}
