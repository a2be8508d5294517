"""What servers print: a row a line, with what each of its numbers is called here.

A row names the server, words that only such a line has, and patterns: the first must
match, the others may. Groups are fields; an ending names the unit printed. vLLM to 0.6
and SGLang divide by 2**30 and print GB, so that ``_GB`` is read as GiB. Forms are those
of vLLM 0.6 to 0.19, SGLang 0.4 to 0.5 and llama.cpp builds 3,000 to 10,000.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

NUMBER = r"-?[\\d,]*\\.?\\d+(?:e[-+]?\\d+)?"  # as a replacement
_GROUP = re.compile(r"(?<!\?P)<(\w+)>")
VLLM, SGLANG, LLAMA, OURS = "vllm", "sglang", "llama.cpp", "stacklib"
NAMES = {VLLM: "vLLM", SGLANG: "SGLang", LLAMA: "llama.cpp", OURS: "stacklib"}

# endings of a group -> unit, and what the printed number is multiplied by
ENDINGS = {
    "_GiB": ("GiB", 1.0),
    "_GB": ("GiB", 1.0),  # printed GB, divided by 2**30
    "_MiB": ("GiB", 2.0**-10),
    "_pct": ("1", 0.01),
    "_ms": ("s", 1e-3),
}
UNITS = {  # of fields whose group has no ending
    "prompt_rate": "1/s",
    "generation_rate": "1/s",
    "each_rate": "1/s",
}
NEGATIVE = ("cache_memory",)  # what may be below zero: nothing is left


TEXTS = frozenset(
    "model dtype kv_dtype k_dtype v_dtype quantization eager prefix_caching version "
    "graph buffer".split()
)


@dataclass(frozen=True, slots=True)
class Row:
    """A line that one server prints; ``event`` counts it as one of these."""

    engine: str
    words: str
    patterns: tuple[re.Pattern[str], ...] = ()
    event: str = ""


def row(engine: str, words: str, *patterns: str, event: str = "") -> Row:
    """A row from patterns in which ``<field>`` stands for a number of that name."""
    made = (_GROUP.sub(rf"(?P<\1>{NUMBER})", one) for one in patterns)
    return Row(engine, words, tuple(map(re.compile, made)), event)


def _given(**fields: str) -> list[str]:
    """Options in a line that lists them: ``name=3``, ``'name': 3``."""
    found = []
    for name, field in fields.items():
        value = f"<{field}>" if field not in TEXTS else rf"'?(?P<{field}>[\w./+-]+)'?"
        found.append(rf"\b{name}'?(?:=|: ){value}")
    return found


_VLLM_OPTIONS = _given(
    tensor_parallel_size="tp",
    max_num_seqs="most_running",
    max_num_batched_tokens="chunk",
    max_model_len="longest",
    max_seq_len="longest",
    gpu_memory_utilization="utilization",
    block_size="block",
    kv_cache_dtype="kv_dtype",
    dtype="dtype",
    quantization="quantization",
    enforce_eager="eager",
    enable_prefix_caching="prefix_caching",
)
_SGLANG_OPTIONS = _given(
    tp_size="tp",
    mem_fraction_static="utilization",
    chunked_prefill_size="chunk",
    max_running_requests="most_running",
    page_size="block",
    kv_cache_dtype="kv_dtype",
    quantization="quantization",
    disable_cuda_graph="eager",
)
_BATCH = (
    r"token usage: <usage>",
    r"#running-req: <running>",
    r"#queue-req: <waiting>",
)
_PARTS = (
    r"weights take <weights_GiB>GiB",
    r"non_torch_memory takes <other_GiB>GiB",
    r"activation peak memory takes <activations_GiB>GiB",
    r"KV Cache is <cache_memory_GiB>GiB",
)

ROWS = (
    # -- vLLM --------------------------------------------------------------------------
    row(
        VLLM,
        "LLM engine (v",
        r"LLM engine \(v(?P<version>[^)\s]+)\) with config: model='(?P<model>[^']+)'",
        *(one for one in _VLLM_OPTIONS if "max_model_len" not in one),
    ),
    row(VLLM, "non-default args: ", "non-default args: ", *_VLLM_OPTIONS),
    row(VLLM, "args: Namespace(", r"args: Namespace\(", *_VLLM_OPTIONS),
    row(VLLM, "API server version", r"API server version (?P<version>\d[\w.+]*)"),
    row(VLLM, "Using max model len ", "Using max model len <longest>"),
    row(
        VLLM,
        "with max_num_batched_tokens=",
        "with max_num_batched_tokens=<chunk>",
    ),
    row(VLLM, "Loading model weights took ", "weights took <weights_GB> GB"),
    row(VLLM, "Model loading took ", "loading took <weights_GiB> Gi?B"),
    row(
        VLLM,
        "x gpu_memory_utilization (",
        r"total_gpu_memory \(<total_GiB>GiB\) x gpu_memory_utilization "
        r"\(<utilization>\) = <budget_GiB>GiB",
    ),
    row(VLLM, "model weights take ", *_PARTS),
    row(VLLM, "reserved for KV Cache is ", r"for KV Cache is <cache_memory_GiB>GiB"),
    row(
        VLLM,
        "Available KV cache memory: ",
        "KV cache memory: <cache_memory_GiB> GiB",
    ),
    row(
        VLLM,
        "# GPU blocks: ",
        "# GPU blocks: <blocks>",
    ),
    row(VLLM, "# cuda blocks: ", "# cuda blocks: <blocks>"),
    row(VLLM, "# CUDA blocks: ", "# CUDA blocks: <blocks>"),
    row(VLLM, "after num_gpu_blocks is: ", "num_gpu_blocks is: <blocks>"),
    row(VLLM, "Overriding num_gpu_blocks=", "num_gpu_blocks_override=<override>"),
    row(VLLM, "GPU KV cache size: ", r"KV cache size: <tokens> tokens"),
    row(
        VLLM,
        "Maximum concurrency for ",
        r"for <longest> tokens per request: <concurrency>x",
    ),
    row(VLLM, "Setting attention block size to ", "size to <block> tokens"),
    row(VLLM, "Forcing kv cache block size to ", "size to <block> for"),
    row(VLLM, "Padding mamba page size by ", r"size by <padding_pct>%"),
    row(VLLM, "ybrid KV cache manager is disabled", "disabled", event="hybrid_off"),
    row(VLLM, "urning off hybrid kv cache manager", "off", event="hybrid_off"),
    row(
        VLLM,
        "Avg prompt throughput: ",
        r"Avg prompt throughput: <prompt_rate> tokens/s, "
        r"Avg generation throughput: <generation_rate> tokens/s, "
        r"Running: <running> reqs",
        r"(?:Waiting|Pending): <waiting> reqs",
        r"GPU KV cache usage: <usage_pct>%",
        r"Prefix cache hit rate: <hit_rate_pct>%",
        r"Preemptions: <preempted>",
    ),
    row(VLLM, "is preempted by ", "is preempted by ", event="preempted"),
    # -- SGLang ------------------------------------------------------------------------
    row(
        SGLANG,
        "server_args=ServerArgs(",
        r"ServerArgs\(model_path='(?P<model>[^']+)'",
        *_SGLANG_OPTIONS,
    ),
    row(SGLANG, "Load weight end. ", "weight end", r"mem usage=<weights_GB> GB"),
    row(SGLANG, "Using KV cache dtype: ", r"dtype: torch\.(?P<kv_dtype>\w+)"),
    row(
        SGLANG,
        "KV Cache is allocated. #tokens: ",
        r"#tokens: <tokens>(?:, |$)",
        r"\bK size: <k_memory_GB> GB",
        r"(?<!K)V size: <v_memory_GB> GB",
        r"KV size: <cache_memory_GB> GB",
    ),
    row(
        SGLANG,
        "Mamba Cache is allocated. ",
        r"max_mamba_cache_size: <states>",
        r"conv_state size: <conv_memory_GB> ?GB",
        r"ssm_state size: <state_memory_GB> ?GB",
    ),
    row(
        SGLANG,
        "max_total_num_tokens=",
        r"max_total_num_tokens=<tokens>, chunked_prefill_size=<chunk>",
        r"max_running_requests=<most_running>",
        r"context_len=<longest>",
        r"available_gpu_mem=<unused_GB> GB",
    ),
    row(
        SGLANG,
        "Prefill batch",
        r"Prefill batch.*?#new-token: <new_tokens>, #cached-token: <found_tokens>",
    ),
    row(
        SGLANG,
        "Decode batch",
        r"Decode batch.*?gen throughput \(token/s\): <generation_rate>",
        *_BATCH,
        r"cuda graph: (?P<graph>True|False)",
    ),
    row(
        SGLANG,
        "KV cache pool is full. Retract requests.",
        "#retracted_reqs: <preempted>",
    ),
    row(SGLANG, "Decode out of memory happened.", "#retracted_reqs: <preempted>"),
    # -- llama.cpp ---------------------------------------------------------------------
    *(
        row(
            LLAMA,
            words,
            r"size = +<all_MiB> MiB \( *<cells> cells, +<layers> layers",
            r"K \((?P<k_dtype>\w+)\): +<k_memory_MiB> MiB",
            r"V \((?P<v_dtype>\w+)\): +<v_memory_MiB> MiB",
        )
        for words in ("llama_kv_cache: size = ", "llama_kv_cache_unified: size = ")
    ),
    row(
        LLAMA,
        "llama_memory_recurrent: size = ",
        r"size = +<state_memory_MiB> MiB \( *<states> cells, +<state_layers> layers",
    ),
    row(
        LLAMA,
        " model buffer size = ",
        r"(?P<buffer>\S+) model buffer size = +<weights_MiB> MiB",
    ),
    row(LLAMA, "load_tensors: offloaded ", "offloaded <layers_there>/<layers_all> lay"),
    row(LLAMA, "llama_context: n_ctx ", r"n_ctx += <context>"),
    row(LLAMA, "n_ctx_seq ", r"n_ctx_seq +(?:= |\()<longest>"),
    row(LLAMA, "n_ctx_per_seq ", r"n_ctx_per_seq +(?:= |\()<longest>"),
    row(LLAMA, "llama_context: n_ubatch ", r"n_ubatch += <chunk>"),
    row(LLAMA, "initializing slots, n_slots = ", "n_slots = <most_running>"),
    row(
        LLAMA,
        "prompt eval time = ",
        r"prompt eval time = +<prompt_time_ms> ms / +<prompt_tokens> tokens",
    ),
    row(
        LLAMA,
        " eval time = ",
        r"(?<!prompt )eval time = +<eval_time_ms> ms / +<eval_tokens> (?:tokens|runs)",
    ),
    row(
        LLAMA,
        "failed to find free space in the KV cache",
        "free space",
        event="preempted",
    ),
)

# -- metrics: name after the server's prefix -> field; a counter may end in _total -----

_COMMON = {
    "prompt_tokens": "prompt_total",
    "generation_tokens": "generation_total",
    "num_requests_running": "running",
    "num_requests_waiting": "waiting",
    "kv_cache_usage_perc": "usage",
    "gpu_cache_usage_perc": "usage",
    "num_preemptions": "preempted_total",
    "prefix_cache_queries": "prefix_queries",
    "prefix_cache_hits": "prefix_hits",
    "gpu_prefix_cache_queries": "prefix_queries",
    "gpu_prefix_cache_hits": "prefix_hits",
}
METRICS = {
    VLLM: _COMMON,
    OURS: _COMMON,
    SGLANG: {
        "prompt_tokens": "prompt_total",
        "generation_tokens": "generation_total",
        "num_running_reqs": "running",
        "num_queue_reqs": "waiting",
        "token_usage": "usage",
        "cache_hit_rate": "hit_rate",
        "gen_throughput": "generation_rate",
        "max_total_num_tokens": "tokens",
        "num_retracted_requests": "preempted_total",
        "total_retracted_reqs": "preempted_total",
    },
    LLAMA: {
        "requests_processing": "running",
        "requests_deferred": "waiting",
        "kv_cache_usage_ratio": "usage",
        "prompt_tokens_seconds": "prompt_each",
        "predicted_tokens_seconds": "each_rate",
        "n_busy_slots_per_decode": "busy",
        "tokens_predicted": "generation_total",
        "prompt_tokens": "prompt_total",
    },
}
PREFIXES = {VLLM: "vllm:", OURS: "stacklib:", SGLANG: "sglang:", LLAMA: "llamacpp:"}
HISTOGRAMS = {
    "time_to_first_token_seconds": "ttft",
    "inter_token_latency_seconds": "gap",
    "time_per_output_token_seconds": "gap",
    "request_time_per_output_token_seconds": "tpot",
    "request_queue_time_seconds": "queued",
    "e2e_request_latency_seconds": "whole",
}
CONFIG = {  # labels of vllm:cache_config_info
    "block_size": "block",
    "num_gpu_blocks": "blocks",
    "gpu_memory_utilization": "utilization",
    "cache_dtype": "kv_dtype",
    "enable_prefix_caching": "prefix_caching",
}
