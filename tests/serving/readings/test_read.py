"""Logs and metrics: each engine's forms, strangers between them, what is refused."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stacklib.quantity import UnknownName
from stacklib.serving import read_log
from stacklib.serving.readings.read import KEEP, LogError, log_sample, log_samples

SAMPLES = {name: log_sample(name) for name in log_samples()}
CUDA = "INFO 12-22 10:55:35 gpu_executor.py:76] "

# A line as engines of other versions print it, and what it says. Numbers are those of
# published logs.
FORMS = [
    (
        "Initializing an LLM engine (v0.6.3) with config: model='m/x', dtype=torch"
        ".float16, max_seq_len=2048, tensor_parallel_size=4, kv_cache_dtype=fp8_e5m2, ",
        {"version": "0.6.3", "longest": 2048, "tp": 4, "kv_dtype": "fp8_e5m2"},
    ),
    ("Loading model weights took 8.5107 GB\n", {"weights": 8.5107}),
    ("Model loading took 6.5935 GiB and 7.24 seconds", {"weights": 6.5935}),
    ("Model loading took 75.17 GiB memory and 33.8 seconds", {"weights": 75.17}),
    (
        "the current vLLM instance can use total_gpu_memory (79.25GiB) x "
        "gpu_memory_utilization (0.15) = 11.89GiB",
        {"total": 79.25, "utilization": 0.15, "budget": 11.89},
    ),
    (
        "model weights take 6.59GiB; non_torch_memory takes 8.29GiB; PyTorch "
        "activation peak memory takes 4.93GiB; the rest of the memory reserved for "
        "KV Cache is -7.83GiB.",
        {"weights": 6.59, "other": 8.29, "activations": 4.93, "cache_memory": -7.83},
    ),
    ("# GPU blocks: 715, # CPU blocks: 1310", {"blocks": 715}),
    ("# cuda blocks: 14815, # CPU blocks: 1966", {"blocks": 14815}),
    ("kv_cache_utils.py:407] # GPU blocks: 33660\n", {"blocks": 33660}),
    ("GPU KV cache size: 1,142,198 tokens", {"tokens": 1142198}),
    (
        "Maximum concurrency for 4096 tokens per request: 131.48x",
        {"longest": 4096, "concurrency": 131.48},
    ),
    ("Setting attention block size to 784 tokens to ensure that", {"block": 784}),
    ("Forcing kv cache block size to 64 for FlashMLASparse backend.", {"block": 64}),
    (
        "Avg prompt throughput: 10.0 tokens/s, Avg generation throughput: 20.5 "
        "tokens/s, Running: 3 reqs, Swapped: 0 reqs, Pending: 7 reqs, GPU KV cache "
        "usage: 12.5%, CPU KV cache usage: 0.0%.",
        {"running": 3, "waiting": 7, "usage": 0.125, "generation_rate": 20.5},
    ),
    (  # issue 8719 of vLLM's, version 0.6
        "INFO 09-22 23:46:42 metrics.py:367] Prefix cache hit rate: GPU: 26.68%, CPU: "
        "0.00%",
        {"hit_rate": 0.2668},
    ),
    (
        "Engine 001: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: "
        "9.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, Preemptions: 4, GPU KV cache "
        "usage: 0.5%, Prefix cache hit rate: 40.0%, External prefix cache hit rate: "
        "90.0%",
        {"running": 1, "preempted": 4, "hit_rate": 0.4},
    ),
    (
        "[2025-11-04 05:27:13 DP0 TP0 EP0] KV Cache is allocated. #tokens: 524288, "
        "KV size: 17.16 GB",
        {"tokens": 524288, "cache_memory": 17.16},
    ),
    (
        "Mamba Cache is allocated. max_mamba_cache_size: 186, conv_state size: "
        "0.10GB, ssm_state size: 4.38GB ",
        {"states": 186, "state_memory": 4.38, "conv_memory": 0.1},
    ),
    (
        "Decode batch. #running-req: 2, #token: 40, token usage: 0.01, gen throughput "
        "(token/s): 44.50, #queue-req: 0\n",
        {"running": 2, "usage": 0.01, "generation_rate": 44.5, "waiting": 0},
    ),
    (
        "KV cache pool is full. Retract requests. #retracted_reqs: 1, "
        "#new_tokens_gained: 646, #new_token_ratio: 0.0980 -> 0.3487",
        {"preempted": 1},
    ),
    (
        "llama_kv_cache_unified: size =  612.00 MiB (  8192 cells,  36 layers,  1 "
        "seqs), K (q8_0):  306.00 MiB, V (q8_0):  306.00 MiB",
        {"cells": 8192, "layers": 36, "k_dtype": "q8_0", "k_memory": 306 / 1024},
    ),
    (
        "llm_load_tensors:      CUDA0 buffer size =  4403.49 MiB",
        {"buffer": "CUDA0", "weights": 4403.49 / 1024},
    ),
    ("llm_load_tensors: offloaded 29/65 layers to GPU", {"layers_there": 29}),
    (
        "llama_new_context_with_model: KV self size  =  512.00 MiB, K (f16):  256.00 "
        "MiB, V (f16):  256.00 MiB",
        {"k_dtype": "f16", "k_memory": 0.25},
    ),
    ("llama_new_context_with_model: n_ctx      = 4096\n", {"context": 4096}),
    (
        "prompt eval time =    3969.39 ms /   540 tokens (    7.35 ms per token, ",
        {"prompt_time": 3.96939, "prompt_tokens": 540},
    ),
    (
        "INFO [           print_timings] prompt eval time     =    1048.86 ms /   221 "
        "tokens (    4.75 ms per token, ",
        {"prompt_time": 1.04886, "prompt_tokens": 221},
    ),
    (
        "llama_perf_context_print:        eval time =    4488.20 ms /    31 runs   ( ",
        {"eval_time": 4.4882, "eval_tokens": 31},
    ),
    (
        'vllm:cache_config_info{block_size="16",cache_dtype="auto",num_gpu_blocks='
        '"573",gpu_memory_utilization="0.82"} 1.0\n',
        {"block": 16, "blocks": 573, "utilization": 0.82, "kv_dtype": "auto"},
    ),
    ('vllm:gpu_cache_usage_perc{model_name="m"} 0.42\n', {"usage": 0.42}),
    ("llamacpp:requests_deferred 46\n", {"waiting": 46}),
    (  # a machine whose language writes a comma: llama.cpp's pull request 13194
        "llama_perf_context_print:        eval time =    2502,93 ms /   231 runs   ( ",
        {"eval_time": 2.50293, "eval_tokens": 231},
    ),
    (  # vLLM's issue 10517, version 0.6.4
        "Memory profiling results: total_gpu_memory=23.58GiB initial_memory_usage="
        "15.34GiB peak_torch_memory=17.06GiB memory_usage_post_profile=15.35GiB "
        "non_torch_memory=0.35GiB kv_cache_size=3.81GiB gpu_memory_utilization=0.90\n",
        {"total": 23.58, "cache_memory": 3.81, "utilization": 0.9},
    ),
    (
        "ValueError: The model's max seq len (29000) is larger than the maximum number "
        "of tokens that can be stored in KV cache (23648). Try",
        {"longest": 29000, "tokens": 23648},
    ),
    (  # SGLang's pull request 30047: a hybrid model has two pools
        "Decode batch, #running-req: 49, #full token: 4, full token usage: 0.40, mamba "
        "num: 9, mamba usage: 0.60, gen throughput (token/s): 44.50, #queue-req: 0\n",
        {"usage": 0.4, "pool_usage": 0.6},
    ),
    (  # as Prometheus keeps them (SGLang's issue 12618), and Ray hands them on
        'sglang_num_queue_reqs{tp_rank="0"} 7.0',
        {"waiting": 7},
    ),
    ('ray_vllm_num_requests_waiting{engine="0"} 7.0', {"waiting": 7}),
    ('sglang:num_retracted_requests_total{tp_rank="0"} 3.0', {"preempted_total": 3}),
    ('stacklib:num_requests_running{engine="0"} 5.0', {"running": 5}),
]


@pytest.mark.rows("line, says", FORMS)
def test_every_version_of_a_line(line, says):
    found = read_log(line)
    for field, value in says.items():
        reading = found.last(field)
        assert reading is not None, field
        same = value if isinstance(value, str) else pytest.approx(value)
        assert reading.value == same and reading.line == 1
    assert not found.unread


def test_samples_are_read_whole():
    engines = {name: read_log(text).engine for name, text in SAMPLES.items()}
    assert engines == {"vllm": "vllm", "sglang": "sglang", "llama_cpp": "llama.cpp"}
    assert not any(read_log(text).unread for text in SAMPLES.values())
    found = read_log(SAMPLES["vllm"])
    assert found.value("most_running") == 256 and found.value("chunk") == 2048
    assert found.last("usage").quantity.si == pytest.approx(0.996)
    assert found.last("weights").quantity.to("B").value == 14.9605 * 2**30
    assert [s.waiting.value for s in found.samples()] == [0, 22, 47, 63]


def test_gb_that_are_gib_and_lines_as_printed():
    found = read_log(SAMPLES["sglang"])
    keys = found.last("k_memory")
    assert keys.unit == "GiB" and "K size: 17.25 GB" in keys.words and keys.line == 7


def fields(text):
    found = read_log(text)
    return {f: [one.value for one in ones] for f, ones in found.found.items()}


STRANGERS = {
    "Windows": lambda lines: "\r\n".join(lines) + "\r\n",
    "colours": lambda lines: "\n".join(f"\x1b[36m{x}\x1b[0m" for x in lines) + "\n",
    "docker": lambda lines: "".join(f"2026-11-21 09:00:01.5 | {x}\n" for x in lines),
    "journal": lambda lines: "".join(f"Nov 21 09:00 h env[7]: {x}\n" for x in lines),
    "between": lambda lines: "".join(
        f'{x}\nINFO: 10.0.0.1 - "GET /" 200\n\n' for x in lines
    ),
}


@pytest.mark.rows("stranger", list(STRANGERS))
@pytest.mark.rows("name", list(SAMPLES))
def test_prefixes_colours_and_line_ends_change_nothing(stranger, name):
    text = STRANGERS[stranger](SAMPLES[name].splitlines())
    assert fields(text) == fields(SAMPLES[name])


@given(st.sampled_from(list(SAMPLES)), st.floats(0, 1))
@example("sglang", 0.0859375)  # behind the point of a number
@settings(max_examples=60, deadline=None)
def test_a_text_cut_anywhere_says_nothing_that_the_whole_does_not(name, share):
    text = SAMPLES[name]
    whole = read_log(text)
    try:
        found = read_log(text[: int(share * len(text))])
    except LogError:
        return
    for field, ones in found.found.items():
        kept = {(one.value, one.line) for one in whole.found[field]}
        assert {(one.value, one.line) for one in ones} <= kept


def test_a_line_of_another_version_is_quoted_and_gives_no_number():
    other = "(EngineCore pid=1) INFO GPU KV cache size: 12.5 GB in 2 pools"
    found = read_log(SAMPLES["vllm"] + other + "\n")
    assert found.value("tokens") == 426368
    assert [str(one) for one in found.unread] == [f"line 18: {other}"]
    with pytest.raises(LogError, match=r"12\.5 GB in 2 pools: not as .* another ver"):
        read_log(other)


@pytest.mark.rows(
    "text, says",
    [
        ("", "nothing to read"),
        (" \r\n\n", "nothing to read"),
        ("\x7fELF\0\0\1", "not text"),
        (None, "NoneType"),
        (b"GPU KV cache size: 1 tokens", "bytes"),
        ("\n[TensorRT-LLM] max_batch_size 8\n", r"line 2: '\[TensorRT-LLM\]"),
        ("vllm:num_requests_running NaN\n", "another version"),
        ("vllm:num_requests_running -3\n", "another version"),
        ("vllm:kv_cache_usage_perc 55.0\n", "another version"),
        ("vllm:num_requests_running 13", "another version"),
        ("INFO initialization after num_gpu_blocks is: 266", "another version"),
        (SAMPLES["vllm"] + SAMPLES["sglang"], r"vLLM, line 2: .*SGLang, line 18: "),
    ],
)
def test_what_is_refused(text, says):
    with pytest.raises(LogError) as error:
        read_log(text)
    assert re.search(says, str(error.value))


def test_samples_by_name():
    with pytest.raises(UnknownName, match="llama_cpp, sglang, vllm"):
        log_sample("tgi")


def test_a_long_log_keeps_its_end_and_counts_all():
    warning = "Sequence group 1 is preempted by PreemptionMode.RECOMPUTE mode\n"
    line = SAMPLES["vllm"].splitlines()[-1] + "\n"
    found = read_log((warning + line.replace("137", "1")) * KEEP + line)
    running = found.found["running"]
    assert len(running) == KEEP and running[-1].value == 137
    assert running[-1].line == found.lines == 2 * KEEP + 1
    assert found.events == {"preempted": KEEP}


@pytest.mark.rows(
    "line",
    [
        "GPU KV cache size: " + "1" * 200_000 + " tok",
        "vllm:num_requests_running{" + "a" * 200_000 + "} NaN",
        "x" * 200_000 + " model buffer size = 1",
        "Decode batch, " + "#token: 1, " * 40_000,
    ],
)
def test_a_hostile_line_is_quoted_in_time(line):
    """Each would take minutes if patterns tried every way to cut it."""
    (quoted,) = read_log(SAMPLES["vllm"] + line + "\n").unread
    assert quoted.line == 18 and len(quoted.words) <= 300


def metrics(counts, name="vllm:time_to_first_token_seconds"):
    ends = ("0.1", "0.5", "1.0", "+Inf")
    return "".join(
        f'{name}_bucket{{le="{end}"}} {float(count)}\n'
        for end, count in zip(ends, counts, strict=True)
    )


@given(st.lists(st.integers(0, 50), min_size=4, max_size=4), st.floats(0.01, 1))
@settings(max_examples=40, deadline=None)
def test_quantiles_lie_in_the_bucket_that_holds_them(each, share):
    """Against every request one by one, put at the end of its bucket."""
    ends, counts = (0.1, 0.5, 1.0, 1.0), [sum(each[: i + 1]) for i in range(4)]
    found = read_log(metrics(counts) + "vllm:num_requests_running 1.0\n")
    value = found.quantile("ttft", share)
    if not sum(each):
        assert value is None
        return
    alone = [end for end, count in zip(ends, each, strict=True) for _ in range(count)]
    at = alone[min(int(share * len(alone) + 1 - 1e-9), len(alone)) - 1]
    below = max([0.0, *(end for end in ends if end < at)])
    assert below <= value <= at + 1e-12


def test_metrics_of_two_engines_and_of_shares():
    text = "".join(
        f'sglang:num_queue_reqs{{dp_rank="{rank}",priority="{level}"}} {n}.0\n'
        for rank, level, n in ((0, "", 4), (0, 2, 1), (1, "", 7), (1, 2, 5))
    )
    found = read_log(text + "process_cpu_seconds_total 12.5\n")
    assert {r: one.value for r, one in found.by_rank("waiting").items()} == {
        "0": 4,
        "1": 7,
    }
