"""How a kernel cuts an attention into blocks: its tile, its heads, its shares of keys.

Read in the kernels' own code. Where few queries meet many keys, a kernel shares the
keys of a head out to several blocks, by a rule of its own:

- ``filled``: as many as give each unit a block;
- ``flash``: the fewest that come within 85 % of the best last wave (Dao-AILab/
  flash-attention @0251105a, csrc/flash_attn/flash_api.cpp, num_splits_heuristic);
- ``rooted``: XQA of TensorRT-LLM, no more than the root of their eightfold
  (cpp/tensorrt_llm/kernels/decoderMaskedMultiheadAttention/decoderXQAImplCommon.h,
  computeMultiBlockCount);
- ``doubled``: as ``filled``, more the longer the keys, up to a number that the engine
  is started with (SGLang's Triton kernel, get_num_kv_splits_triton).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

Shares = Callable[[int, int, int], int]  # of keys, blocks without shares, and units
_ROOTED_KEYS, _ROOTED_WAVES = 128, 8  # kMinHistoryTokensPerBlock, kTargetWaveFactor
_DOUBLED_KEYS = 64
_ENOUGH, _NEAR = 0.8, 0.85  # waves from which on flash shares nothing; of the best


def filled(keys: int, blocks: int, units: int) -> int:
    """As many shares as give each unit a block."""
    return units // blocks


def whole(keys: int, blocks: int, units: int) -> int:
    """None: the keys of a head are left to one block."""
    return 1


def doubled(most: int) -> Shares:
    """As many as fill the units once for each doubling of 64 keys, up to a number."""

    def shares(keys: int, blocks: int, units: int) -> int:
        times = max(1.0, math.log2(keys / _DOUBLED_KEYS))
        return min(most, math.ceil(units * times / blocks))

    return shares


def rooted(keys: int, blocks: int, units: int) -> int:
    """XQA's: the root of eight times as many as have 128 keys; up to eight waves."""
    count = max(1, keys // _ROOTED_KEYS)
    count = min(count, round(math.sqrt(8 * count)))
    return int(count / max(1.0, blocks * count / units / _ROOTED_WAVES))


def flash(step: int, beside: int = 1) -> Shares:
    """FlashAttention's, by the last wave.

    ``step``: keys of a tile; ``beside``: blocks that a unit holds at once.
    """

    def shares(keys: int, blocks: int, units: int) -> int:
        places, tiles = units * beside, math.ceil(keys / step)
        if blocks >= _ENOUGH * places:
            return 1
        filled = {}
        for n in range(1, min(128, places, tiles) + 1):
            if n == 1 or math.ceil(tiles / n) != math.ceil(tiles / (n - 1)):
                waves = blocks * n / places
                filled[n] = waves / math.ceil(waves)
        enough = _NEAR * max(filled.values())
        return next(n for n, full in filled.items() if full >= enough)

    return shares


@dataclass(frozen=True, slots=True)
class Cut:
    """How a kernel cuts an attention into blocks."""

    rows: int = 0  # queries of its tile, though fewer are asked; 0: those asked
    columns: int = 0  # keys of its tile; 0: those of the rule
    packs: str = "one"  # heads that share keys lie in a tile: in "one", "all" or "none"
    shares: Shares = filled
    # Loads of a block that wait for one another: lengths, a page's place, its keys.
    trips: int = 2
    stalls: int = 0  # the same in each step, where none is fetched ahead
    merges: bool = False  # a second kernel merges, though there be one share


PLAIN, WHOLE = Cut(), Cut(shares=whole)
