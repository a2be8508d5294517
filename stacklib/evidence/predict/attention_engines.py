"""Which kernels engines run around an attention, and how theirs cuts it.

Facts read in the engines' code, a row for each kernel that a source names in its last
word. The rows were timed as replays of a CUDA graph of one call (ai-dynamo/
aiconfigurator @095f58a, collector/helper.py, benchmark_with_power), which starts as one
kernel does.

- *vLLM* writes K and V to the cache by one kernel (collector/vllm/collect_attn.py:
  do_kv_cache_update before forward), and takes a prompt of one token for a token.
- *SGLang* stores K and V by one kernel; casts come first where they are kept in 8 bits
  (mem_cache/memory_pool.py, set_kv_buffer; queries: flashattention_backend.py).
- *TensorRT-LLM* sums up lengths, turns queries and keys by their positions and writes
  all (cpp/tensorrt_llm/common/attentionOp.cpp: invokeBuildDecoderInfo,
  invokeQKVPreprocessing); XQA leaves the first out for tokens, and its shares merge in
  the kernel after a memset (decoderXQAImplJIT.cpp). Its prompts pack no heads.
- *FlashAttention-2* takes 64 queries a tile where it shares keys out, and does so for
  heads that share them without a window (flash_api.cpp: seqlenq_ngroups_swapped);
  *FlashAttention-3* packs all heads that share keys and merges always (hopper/
  flash_api.cpp: get_pack_gqa, and get_num_splits, which takes the batch for one).
  FlashInfer's prompts pack heads, too. By themselves the one shares out always, and the
  other multiplies 128 queries, two warp groups (vLLM's takes one: its pull request 63).
- *Triton* of SGLang steps over 32 keys, shares out eight times at most and runs stage 2
  always (triton_ops/decode_attention.py; triton_attention_num_kv_splits); its prompts
  fetch nothing ahead (extend_attention.py: num_stages = 1).

A matrix instruction of warp groups multiplies 64 queries, however few are asked.

SGLang's one kernel, Triton's stages and the sixteen shares of vLLM's Triton kernel are
recalled, not read. Loads that wait for one another (``trips``, ``stalls``) and some
``rows`` were chosen by the rows of a single tile: they lean on the measurements that
they are held against, as a fitted factor does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stacklib.hardware import Accelerator
from stacklib.kernels.schedule.attention_time import Attention
from stacklib.kernels.schedule.cuts import PLAIN, Cut, doubled, flash, rooted, whole
from stacklib.kernels.schedule.rates import newest


def latent(work: Attention) -> bool:
    """Whether all heads share one key a token, whose first columns are values."""
    return work.kv_heads == 1 and work.wide < work.head_dim


@dataclass(frozen=True, slots=True)
class Engine:
    """What an engine runs around its attention, and how that is cut."""

    token: Cut = PLAIN
    prompt: Cut = PLAIN
    kernels: tuple[int, int] = (2, 2)  # beside it, for a token and for a prompt
    casts: int = 0  # more of them where K and V are kept in 8 bits
    turns: bool = False  # whether they read and write the queries as well
    lone: bool = False  # whether a prompt of one token runs as a token does
    groups: bool = False  # packs and shares out for heads that share keys alone

    def cut(self, work: Attention, window: bool) -> Cut:
        """How an attention is cut; queries of a latent lie in a tile with all heads
        (deepseek-ai/FlashMLA, csrc: q is seen as q_len * heads / kv_heads rows)."""
        if work.queries > 1 and latent(work) and not work.causal:
            return replace(self.token, packs="all")
        if work.queries > 1 or (work.causal and not self.lone):
            return self.prompt
        if self.groups and (window or work.heads == work.kv_heads):
            return replace(self.token, packs="none", shares=whole)
        return self.token

    def around(self, work: Attention) -> int:
        """Kernels beside the attention."""
        short = str(work.kv_dtype).startswith("fp8")
        return self.kernels[work.causal] + self.casts * short


FLASH_2 = ("flashattention-2", "flash-attn-2", "fa2")
_NAMES = {"torch_flow": ("tensorrt",), "flash-2": FLASH_2} | {
    "flash-3": ("flashattention-3", "flash-attn-3", "fa3")
}
_ONE = (1, 1)
_APART = Cut(packs="none", trips=8)
_GEN = Cut(64, packs="none", trips=6)  # prompts by cubins that other engines call
_FA2 = Engine(
    Cut(64, shares=flash(128, 2), trips=6),
    Cut(64, packs="none"),
    _ONE,
    lone=True,
    groups=True,
)
_FA3 = Engine(
    Cut(64, trips=4, merges=True), Cut(packs="all", merges=True), _ONE, lone=True
)
_TRITON = Engine(
    Cut(columns=32, shares=doubled(8), stalls=2, merges=True),
    Cut(64, 64, "none", stalls=2),
    _ONE,
)
_FLASHINFER = Engine(PLAIN, Cut(packs="all"), _ONE)
ENGINES = {
    "flash-2": Engine(Cut(shares=flash(128, 2))),
    "flash-3 wgmma.mma_async": Engine(Cut(128, trips=4, merges=True)),
    # FlashAttention-3's kernel for mma.sync: 128 queries, 112 keys (tile_size.h)
    "flash_attention": Engine(
        Cut(128, shares=flash(112)), Cut(64, packs="all"), _ONE, 2, lone=True
    ),
    "fa3": replace(_FA3, casts=1),
    "flashinfer": replace(_FLASHINFER, casts=2),
    "triton": replace(_TRITON, casts=2),
    "trtllm_mha": Engine(PLAIN, _GEN, _ONE, 2),
    "torch_flow": Engine(PLAIN, _APART, turns=True),
    "torch_flow wgmma.mma_async": Engine(
        Cut(columns=256, shares=rooted, trips=8), _APART, (1, 2), turns=True
    ),
    "torch_flow mma.sync": Engine(
        Cut(32, shares=rooted, trips=6),
        Cut(packs="none", trips=4),
        (1, 2),
        turns=True,
    ),
    "torch_flow_flashinfer": Engine(PLAIN, _GEN),
    "vllm_flash_attn": _FA2,
    "vllm_flash_attn_fa2": _FA2,
    "vllm_flash_attn_fa3": _FA3,
    "vllm_flash_attn_fa4": _FA3,
    "vllm_flashinfer_fidecode": Engine(Cut(merges=True), kernels=(2, 2), lone=True),
    "vllm_flashinfer_fiprefill": replace(_FLASHINFER, lone=True),
    "vllm_flashinfer_trtllmdecode": Engine(kernels=_ONE, lone=True),
    "vllm_flashinfer_trtllmprefill": Engine(PLAIN, _GEN, _ONE, lone=True),
    "vllm_triton_attn": replace(
        _TRITON, token=replace(_TRITON.token, shares=doubled(16)), lone=True
    ),
}


def engine_of(source: str, software: str, device: Accelerator) -> Engine:
    """The engine that a row's source names last; some also by their software."""
    word = source.rpartition(" ")[2]
    if word not in ENGINES:
        text = software.lower()
        named = (e for e, names in _NAMES.items() if any(n in text for n in names))
        word = next(named, word)
    return ENGINES.get(f"{word} {newest(device)}", ENGINES.get(word, Engine()))
