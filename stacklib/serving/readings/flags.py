"""Which option moves what, by server, as their command lines spell it."""

from .lines import LLAMA, OURS, SGLANG, VLLM

FLAGS = {
    "cache": {
        VLLM: "--kv-cache-dtype fp8, or --gpu-memory-utilization nearer 1",
        SGLANG: "--kv-cache-dtype fp8_e4m3, or a larger --mem-fraction-static",
        LLAMA: "-ctk q8_0 -ctv q8_0, or a larger -c",
        OURS: "--blocks",
    },
    "places": {
        VLLM: "--max-num-seqs",
        SGLANG: "--max-running-requests",
        LLAMA: "-np, and -c with it",
        OURS: "--max-batch",
    },
    "caution": {SGLANG: "--schedule-conservativeness 0.3"},
    "prompts": {
        VLLM: "--max-num-batched-tokens, halved",
        SGLANG: "--chunked-prefill-size, halved",
        LLAMA: "-ub, halved",
        OURS: "--chunk, halved",
    },
    "prefix": {
        VLLM: "--enable-prefix-caching, and prompts that begin alike",
        SGLANG: "no --disable-radix-cache, and prompts that begin alike",
        LLAMA: "--cache-reuse 256, and prompts that begin alike",
        OURS: "prompts that begin alike",
    },
    "exchanges": {
        VLLM: "half the --tensor-parallel-size, --data-parallel-size 2",
        SGLANG: "half the --tp-size, --dp-size 2",
    },
    "weights": {
        VLLM: "--quantization fp8",
        SGLANG: "--quantization fp8",
        LLAMA: "a file of fewer bits, such as Q8_0",
    },
    "host": {
        VLLM: "no --enforce-eager; --async-scheduling",
        SGLANG: "no --disable-cuda-graph, no --disable-overlap-schedule",
        LLAMA: "-fa on, and fewer threads than cores",
    },
    "layers": {LLAMA: "-ngl 999, with a smaller file or -c if it does not fit"},
}
WATCH = {
    "preempted": {
        VLLM: "vllm:num_preemptions_total",
        SGLANG: "sglang:num_retracted_requests_total",
        LLAMA: "the lines 'failed to find free space'",
        OURS: "stacklib:num_preemptions_total",
    },
    "waiting": {
        VLLM: "vllm:num_requests_waiting",
        SGLANG: "sglang:num_queue_reqs",
        LLAMA: "llamacpp:requests_deferred",
        OURS: "stacklib:num_requests_waiting",
    },
    "gap": {
        VLLM: "vllm:inter_token_latency_seconds",
        SGLANG: "sglang:inter_token_latency_seconds",
        LLAMA: "the ms per token of 'eval time'",
        OURS: "stacklib:inter_token_latency_seconds",
    },
    "hits": {
        VLLM: "vllm:prefix_cache_hits_total",
        SGLANG: "sglang:cache_hit_rate",
        LLAMA: "the tokens of 'prompt eval time'",
        OURS: "stacklib:prefix_cache_hits_total",
    },
}
