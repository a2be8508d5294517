"""Three pasted logs, each rule beside its opposite, and numbers drawn at random."""

import math
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stacklib.serving import account, diagnose, estimate, read_log
from stacklib.serving.readings.causes import TABLE
from stacklib.serving.readings.gains import gain, seconds
from stacklib.serving.readings.lines import NAMES
from stacklib.serving.readings.load import context_of, load_of
from stacklib.serving.readings.read import log_sample
from stacklib.serving.server.metrics import Latencies, page

LOGS = {name: read_log(log_sample(name)) for name in ("vllm", "sglang", "llama_cpp")}
CACHE, PLACES = "the KV cache is too small", "too few requests may run"
CLIENT, HOST = "the client asks for too little", "steps wait for the host"
OVERLAP = "the host takes much of a step"
PROMPTS = "prompts stand between the tokens"
PREFIX, WEIGHTS = "prompts are not found in the cache", "weights of 16 bits"
EXCHANGES = "exchanges between the chips"
CAUTION = "room is kept for answers that end early"


def found(name, model, on, **asked):
    return diagnose(LOGS[name], model, on, **asked)


def test_vllm_to_the_block():
    """52.05 GiB at 2 MiB a block: 26,649 in the middle of what the log rounds to."""
    d = found("vllm", "llama-3-8b", "h100-sxm")
    tokens, concurrency, weights = d.checks
    block = 32 * 2 * 8 * 128 * 2 * 16
    low, high = (int((52.05 + e) * 2**30 // block) * 16 for e in (-0.005, 0.005))
    assert (tokens.low, tokens.high) == (low, high) == (426352, 426432)
    assert tokens.printed == 426368 == 26648 * 16 and tokens.equal
    assert concurrency.printed == 52.05 == round(26648 / (8192 / 16), 2)
    assert concurrency.equal and weights.equal and weights.reading.line == 6
    assert d.saturation.by == "cache" and [c.name for c in d.causes] == [CACHE]
    assert {one.line for one in d.causes[0].evidence} == {16, 17}
    assert d.causes[0].gain.low <= d.causes[0].gain.ratio <= d.causes[0].gain.high
    assert d.predicted * d.band.low < d.measured < d.predicted * d.band.high


def test_sglang_to_the_token():
    d = found("sglang", "llama-3-70b", "h100-sxm")
    keys, values, _weights = d.checks
    each = 80 * 2 * 128 * 2  # two of eight heads on each of four chips
    assert keys.low < (452198 + 1) * each / 2**30 < keys.high
    assert keys.equal and values.equal and d.measured == 64 / 2671.55
    assert d.saturation.by == "places" and [c.name for c in d.causes] == [
        PLACES,
        WEIGHTS,
    ]
    assert d.causes[0].flag == "--max-running-requests"


def test_llama_cpp_to_the_cell():
    d = found("llama_cpp", "qwen2.5-32b", "rtx-4090", dtype="q5_k_m")
    keys, values, weights = d.checks
    assert keys.high - keys.low == pytest.approx(2 * 0.005 / 1024)
    assert keys.equal and values.equal
    assert (keys.low + keys.high) / 2 == pytest.approx(8192 * 64 * 8 * 128 * 2 / 2**30)
    assert weights.equal and d.measured == pytest.approx(31.41026 / 402)
    assert d.causes[0].name == "layers lie in the host's memory"
    assert d.predicted is None and "24.33 GB > 24 GB" in d.notes[-1]


# SGLang's lines of published logs: model, chips, lines
PUBLISHED = [
    (
        "qwen3.5-9b",
        2,
        "Load weight end. type=Qwen3_5, avail mem=14.08 GB, mem usage=8.85 GB.\n"
        "Mamba Cache is allocated. max_mamba_cache_size: 186, conv_state size: 0.10GB,"
        " ssm_state size: 4.38GB \n"
        "KV Cache is allocated. #tokens: 327310, K size: 2.50 GB, V size: 2.50 GB\n",
    ),
    ("kimi-k2.5", 8, "KV Cache is allocated. #tokens: 2454421, KV size: 160.63 GB\n"),
    (
        "nemotron-3-nano-30b-a3b",  # its cache in 8 bits, its states in 32
        4,
        "Mamba Cache is allocated. max_mamba_cache_size: 2211, conv_state size: 0.44GB,"
        " ssm_state size: 24.84GB\n"
        "KV Cache is allocated. dtype: float8_e4m3fn, #tokens: 19644177, K size: 14.05 "
        "GB, V size: 14.05 GB\n",
    ),
    (
        "qwen3.5-9b",  # a draft's pool is made after it, for as many tokens
        1,
        "KV Cache is allocated. dtype: torch.bfloat16, #tokens: 295950, K size: 4.52 GB"
        ", V size: 4.52 GB\n"
        "KV Cache is allocated. dtype: torch.bfloat16, #tokens: 295950, K size: 3.39 GB"
        ", V size: 3.39 GB\n",
    ),
]


@pytest.mark.rows("model, tp, text", PUBLISHED)
def test_sglang_pools_as_published_logs_print_them(model, tp, text):
    checks = diagnose(read_log(text), model, "h200-sxm", tp=tp).checks
    assert checks and all(one.equal for one in checks)
    wrong = text.replace("4.38GB", "4.36GB").replace("160.63", "172.48")  # 186; its GB
    if wrong != text:
        checks = diagnose(read_log(wrong), model, "h200-sxm", tp=tp).checks
        assert not all(one.equal for one in checks)


def test_a_difference_is_told_by_its_ratio():
    d = found("vllm", "llama-3-8b", "h100-sxm", kv_dtype="fp8")
    tokens = d.checks[0]
    assert not tokens.equal and tokens.note.startswith("0.5 times; half as much")
    d = found("vllm", "llama-3.1-8b", "h100-sxm", tp=2)
    assert "half the chips" in d.checks[-1].note and not d.checks[0].equal
    wrong = log_sample("vllm").replace("memory: 52.05", "memory: 55.89")  # its GB
    d = diagnose(read_log(wrong), "llama-3-8b", "h100-sxm")
    assert "GB over GiB" in d.checks[0].note


START = """\
INFO non-default args: {{'max_num_seqs': {most}, 'max_num_batched_tokens': {chunk}}}
INFO Initializing a V1 LLM engine (v0.11.0) with config: model='m', \
tensor_parallel_size={tp}, enforce_eager={eager}, kv_cache_dtype={kv}
INFO Model loading took 14.96 GiB and 9.2 seconds
INFO GPU KV cache size: 426,368 tokens
"""
LINE = """\
INFO Engine 000: Avg prompt throughput: {prompt} tokens/s, Avg generation throughput: \
{rate} tokens/s, Running: {running} reqs, Waiting: {waiting} reqs, GPU KV cache \
usage: {usage}%, Prefix cache hit rate: {hits}%
"""
CALM = {"most": 256, "chunk": 2048, "tp": 1, "eager": False, "kv": "auto"}
CALM |= {"prompt": 100.0, "rate": 4500.0, "running": 100, "waiting": 0, "usage": 70.0}
CALM |= {"hits": 60.0}


def told(on="h100-sxm", **changes):
    text = (START + LINE).format(**{**CALM, **changes})
    return diagnose(read_log(text), "llama-3-8b", on)


def names(d):
    return {cause.name for cause in d.causes}


# what is changed in a server that is well, and which cause that is
@pytest.mark.rows(
    "changes, cause",
    [
        ({"waiting": 9, "usage": 99.0}, CACHE),
        ({"waiting": 9, "usage": 40.0, "most": 100}, PLACES),
        ({"prompt": 12000.0}, PROMPTS),
        ({"prompt": 6000.0, "hits": 1.0}, PREFIX),
        ({"running": 8, "usage": 6.0, "rate": 900.0, "most": 10}, WEIGHTS),
        ({"tp": 8, "on": "l40s", "rate": 1500.0}, EXCHANGES),
        ({"rate": 1000.0, "eager": True}, HOST),
        ({"tp": 8, "running": 30, "usage": 10.0, "rate": 9e3, "most": 40}, OVERLAP),
        ({"running": 20, "usage": 15.0, "rate": 1800.0}, CLIENT),
    ],
)
def test_each_cause_where_it_is_and_not_where_it_is_not(changes, cause):
    assert cause not in names(told())
    d = told(**changes)
    assert cause in names(d)
    (one,) = (c for c in d.causes if c.name == cause)
    assert one.evidence and one.flag and one.refute and one.because
    assert one.gain is None or one.gain.low <= one.gain.ratio <= one.gain.high


def test_who_is_well_has_no_cause():
    d = told()
    assert not names(d) and not d.saturation.saturated
    assert d.saturation.margin == pytest.approx(100 / 0.7 * 0.95 - 100)


def test_sglang_keeps_room_for_answers_that_end_early():
    text = log_sample("sglang").replace("#running-req: 64", "#running-req: 30")
    d = diagnose(read_log(text), "llama-3-70b", "h100-sxm")
    assert d.causes[0].name == CAUTION and d.saturation.by == "queue"


def test_metrics_alone():
    lines = {"num_requests_running": 5, "num_requests_waiting": 3}
    lines |= {"kv_cache_usage_perc": 0.98, "num_preemptions_total": 4}
    lines |= {"inter_token_latency_seconds_sum": 40, "prefix_cache_hits_total": 1}
    lines |= {"inter_token_latency_seconds_count": 2000}
    for prefix in ("vllm", "stacklib"):
        text = "".join(f'{prefix}:{k}{{engine="0"}} {v}\n' for k, v in lines.items())
        d = diagnose(read_log(text), "llama-3-8b", "h100-sxm")
        assert d.causes[0].name == CACHE and d.measured == 0.02
        assert d.causes[0].flag == TABLE["causes"]["cache"]["flag"][prefix]
        assert "preemptions: 4;" in d.causes[0].because


HYBRID = """\
INFO Initializing a V1 LLM engine (v0.19.1) with config: model='m', {more}, dtype=x, \
max_seq_len=131072, kv_cache_dtype=fp8
(Worker_TP0) INFO Available KV cache memory: 21.43 GiB
(Worker_TP1) INFO Available KV cache memory: 21.90 GiB
INFO GPU KV cache size: 467,712 tokens
INFO Maximum concurrency for 131,072 tokens per request: 11.79x
"""


def test_a_hybrid_start_as_published_and_what_its_options_leave_open():
    """The chip with least memory decides; cached prefixes keep two states a table."""
    text = HYBRID.format(more="speculative_config=None")
    less = text.replace("21.43", "9.01").replace("467,712", "16,704")  # a start before
    d = diagnose(read_log(less + text), "qwen3.5-122b-a10b", "h100-sxm")
    tokens, concurrency = d.checks
    assert tokens.equal and concurrency.equal and "2 of them states" in concurrency.note
    for more, says in (
        ("pipeline_parallel_size=2", "layers in stages"),
        ("speculative_config=SpeculativeConfig(method='mtp')", "a draft is used"),
    ):
        d = diagnose(
            read_log(HYBRID.format(more=more)), "qwen3.5-122b-a10b", "h100-sxm"
        )
        assert any(says in note for note in d.notes)


# what published logs print together: memory, blocks, tokens, longest and concurrency;
# hybrids are club-3090's issues 612, 294, 295 and talos-argocd-proxmox's pull request
# 1995, whose tokens are a concurrency's, as since 0.20
# model, chips, cache, chunk, drafted
PRINTED = [
    ("qwen2.5-0.5b", 1, "auto", 8192, 0, 34.81, 190_100, None, None, None),
    ("qwen2.5-1.5b", 1, "auto", 8192, 0, 2.36, 5_517, None, None, None),
    ("gemma-4-26b-a4b", 1, "fp8", 2048, 0, 51.62, None, 451_040, 131_072, 33.42),
    ("qwen3.5-35b-a3b", 1, "fp8", 8192, 0, 5.98, None, 567_978, 131_072, 4.33),
    ("qwen3.5-27b", 2, "fp8", 8192, 0, 4.99, None, 302_921, 131_072, 2.31),
    ("qwen3.5-27b", 2, "fp8", 8192, 3, None, None, 620_944, 262_144, 2.37),
    ("qwen3.5-27b", 2, "fp8", 8192, 3, None, None, 622_408, 262_144, 2.37),
]


@pytest.mark.rows("case", PRINTED)
def test_blocks_and_tokens_as_published_logs_print_them(case):
    model, tp, cache, chunk, drafted, memory, blocks, tokens, longest, times = case
    text = f"INFO non-default args: {{'max_num_batched_tokens': {chunk}, "
    text += f"'kv_cache_dtype': '{cache}', 'num_speculative_tokens': {drafted}}}\n"
    text += f"INFO Available KV cache memory: {memory} GiB\n" * bool(memory)
    text += f"INFO # GPU blocks: {blocks}, # CPU blocks: 0\n" * bool(blocks)
    if tokens:
        text += f"INFO GPU KV cache size: {tokens:,} tokens\nINFO Maximum concurrency "
        text += f"for {longest:,} tokens per request: {times}x\n"
    wrong = [
        text.replace(f"{memory} G", f"{(memory or 1) * 1.0737:.2f} G")
    ]  # GB for GiB
    if model[:7] == "qwen3.5":  # a state fixes it to the token
        wrong.append(text.replace(f"{tokens:,}", f"{tokens + 5:,}"))
    for one in (text, *wrong):
        checks = diagnose(read_log(one), model, "h100-sxm", tp=tp).checks
        assert len(checks) == bool(memory) + bool(tokens)
        assert all(c.equal for c in checks) == (one == text)


# the refusal of a start, as printed: spark-vllm-docker's issue 396, LMCache's 1372
REFUSED = [
    ("minimax-m2.5", 2, 196_608, "23.25", 22.5),
    ("qwen3-8b", 1, 32_768, "4.50", 3.58),
    ("llama-4-scout", 8, 1_048_576, "24.00", 9.97),  # vLLM's issue 16118
]


@pytest.mark.rows("model, tp, longest, needed, left", REFUSED)
def test_a_start_that_failed_says_what_it_needed(model, tp, longest, needed, left):
    text = "WARNING Hybrid KV cache manager is disabled\n" * (model[:7] == "llama-4")
    text += "ValueError: To serve at least one request with the models's max seq len "
    text += f"({longest}), ({needed} GiB KV cache is needed, which is larger than the "
    text += f"available KV cache memory ({left} GiB). Based on the available memory, "
    (one,) = diagnose(read_log(text), model, "h100-sxm", tp=tp).checks
    assert one.equal and one.what == "needed" and one.printed == float(needed)
    narrow = diagnose(read_log(text), model, "h100-sxm", tp=tp, kv_dtype="fp8")
    assert narrow.checks[0].note.startswith("2 times; twice as much")


def test_one_chip_of_several_is_said():
    """vLLM's issue 21348 quotes one of four lines; that with least decided."""
    text = "INFO Available KV cache memory: 8.11 GiB\nINFO GPU KV cache size: 178,880 "
    d = diagnose(read_log(text + "tokens\n"), "qwen3-235b-a22b", "h100-sxm", tp=4)
    assert not d.checks[0].equal and "another of the 4 chips" in d.checks[0].note


def test_the_fuller_of_two_pools_decides():
    text = "Decode batch, #running-req: 20, #full token: 4, full token usage: 0.10, "
    text += "mamba num: 9, mamba usage: 0.97, gen throughput (token/s): 900.0, "
    d = diagnose(read_log(text + "#queue-req: 9\n"), "qwen3.5-9b", "h100-sxm")
    assert d.saturation.by == "cache" and d.causes[0].name == CACHE


def test_nobody_runs_is_not_one():
    text = "llamacpp:requests_processing 0\nllamacpp:requests_deferred 0\n"
    d = diagnose(read_log(text), "llama-3-8b", "h100-sxm")
    assert "0 run" in d.saturation.words


def test_the_book_s_own_server_is_read():
    """The text that it writes itself, of counts that are made up."""
    counts = dict.fromkeys(("prompt_tokens", "cached_tokens", "generated_tokens"), 90)
    counts |= dict.fromkeys(("recomputed_tokens", "steps", "cancelled"), 1)
    blocks = {"blocks": 64, "blocks_used": 62, "blocks_cached": 2}
    found = SimpleNamespace(
        running=3, waiting=2, counts=SimpleNamespace(preemptions=5, **counts), **blocks
    )
    readings = read_log(page("tiny", found, Latencies(), 0, 0))
    assert not readings.unread and readings.value("blocks") == 64
    d = diagnose(readings, "tiny", "this-machine")
    assert d.saturation.by == "cache" and d.causes[0].name == CACHE
    assert d.causes[0].flag == "--blocks" and "no prediction" in d.notes[-1]


def test_what_is_left_of_the_memory_as_a_published_log_prints_it():
    parts = "model weights take 8.51GiB; non_torch_memory takes 0.26GiB; PyTorch "
    parts += "activation peak memory takes 0.94GiB; the rest of the memory reserved "
    total = "INFO total_gpu_memory (79.25GiB) x gpu_memory_utilization (0.15) = 11.9GiB"
    for left, equal in (("2.18", True), ("2.31", False)):
        text = f"{total}\nINFO {parts}for KV Cache is {left}GiB.\n"
        (one,) = (
            c
            for c in diagnose(read_log(text), "llama-3-8b", "h100-sxm").checks
            if c.what == "memory left"
        )
        assert one.equal is equal


def test_preempted_by_name_is_counted():
    line = "WARNING Sequence group 0 is preempted by PreemptionMode.RECOMPUTE mode\n"
    text = (line * 3 + START + LINE).format(**CALM)
    d = diagnose(read_log(text), "llama-3-8b", "h100-sxm")
    assert d.causes[0].name == CACHE and d.causes[0].evidence[0].line == 3


def test_options_of_the_log_are_used_and_given_ones_first():
    d = told(kv="fp8", waiting=9, usage=99.0)
    assert "8 bits already" in d.causes[0].why and d.causes[0].gain is None
    text = START.format(**CALM).replace("model='m'", "model='m', quantization=marvel")
    d = diagnose(read_log(text), "llama-3-8b", "h100-sxm")
    assert any("'marvel' is not known" in note for note in d.notes)
    assert d.saturation.words == "the log does not say what runs"


def test_gains_are_ratios_of_estimates():
    old = estimate("llama-3-8b", "h100-sxm", "bf16", 1, 100.0, 2985.0).parts
    same = gain("tokens/s", old, old)
    assert (same.low, same.ratio, same.high) == (1, 1, 1)  # the same errs the same way
    for waiting, batch in ((500, 200.0), (9, 109.0)):  # twice, or as many as there are
        d = told(waiting=waiting, usage=99.0)
        context = float(round(0.99 * 426368 / 100))
        one = estimate("llama-3-8b", "h100-sxm", "bf16", 1, 100.0, context).parts
        asked = {"batch": batch, "context": context, "kv_dtype": "e4m3fn"}
        new = estimate("llama-3-8b", "h100-sxm", "bf16", **asked).parts
        right = batch / 100 * seconds(one) / seconds(new)
        assert d.causes[0].gain.ratio == pytest.approx(right, rel=1e-9)


def test_prompts_are_part_of_the_predicted_time():
    alone, busy = told(prompt=0.0), told(prompt=9000.0)
    asked = {"batch": 1.0, "context": 0.0, "prompt": 2048, "mode": "calibrated"}
    chunk = account("llama-3-8b", "h100-sxm", "bf16", **asked).lines
    share = 9000 * seconds(chunk) / 2048
    assert busy.predicted == pytest.approx(alone.predicted / (1 - share), rel=1e-9)


def test_what_samples_say_of_the_load():
    load = load_of(LOGS["sglang"])
    found, new = 610 + 596, 1402 + 1377
    assert load.hit_rate == found / (found + new) and load.batch == 64
    assert context_of(LOGS["sglang"], load) == 0.31 * 452198 / 64


@pytest.mark.rows(
    "model, on, asked, says",
    [
        ("llama-3-8c", "h100-sxm", {}, "did you mean: llama-3-8b"),
        ("llama-3-8b", "h10O-sxm", {}, "did you mean: h100_sxm"),
        ("llama-3-8b", "h100-sxm", {"dtype": "bf61"}, "bf61"),
        ("llama-3-8b", "h100-sxm", {"kv_dtype": "bf61"}, "bf61"),
        ("llama-3-8b", "h100-sxm", {"tp": 3}, "tp = 3"),
        ("llama-3-8b", "h100-sxm", {"tp": True}, "tp = True"),
        ("llama-3-8b", "h100-sxm", {"context": 0}, "context = 0"),
        ("llama-3-8b", "h100-sxm", {"context": math.nan}, "context = nan"),
    ],
)
def test_bad_input_names_itself(model, on, asked, says):
    with pytest.raises((LookupError, ValueError), match=says):
        found("vllm", model, on, **asked)


def test_every_server_has_its_own_words():
    for row in TABLE["causes"].values():
        assert set(row["flag"]) <= set(NAMES) and row["name"] and row["refute"]
    assert all(set(rows) == set(NAMES) for rows in TABLE["watch"].values())


SHARE = st.floats(0, 100).map(lambda x: round(x, 1))


@given(
    st.fixed_dictionaries(
        {
            "running": st.integers(0, 2000),
            "waiting": st.integers(0, 5000),
            "usage": SHARE,
            "hits": SHARE,
            "rate": st.floats(0, 1e5).map(lambda x: round(x, 1)),
            "prompt": st.floats(0, 1e6).map(lambda x: round(x, 1)),
            "most": st.integers(1, 2000),
            "chunk": st.integers(1, 10**6),
            "tp": st.sampled_from([1, 2, 8]),
            "eager": st.booleans(),
        }
    )
)
@example(  # a chunk that no chip holds
    dict.fromkeys(("running", "waiting", "usage", "hits", "rate", "eager"), 0)
    | {"prompt": 8968.0, "most": 1, "chunk": 487_820, "tp": 1}
)
@settings(max_examples=40, deadline=None)
def test_whatever_a_server_prints_each_cause_has_its_evidence(changes):
    d = told(**changes)
    for cause in d.causes:
        assert cause.evidence and cause.flag and cause.refute
        if cause.gain:
            ends = (cause.gain.low, cause.gain.ratio, cause.gain.high)
            assert all(map(math.isfinite, ends)) and list(ends) == sorted(ends)
    waits = changes["waiting"] > 0
    assert d.saturation.saturated or not waits
    assert not (waits and CLIENT in names(d))
