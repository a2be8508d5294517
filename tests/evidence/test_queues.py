"""How many requests an engine holds, and how long a queue of them takes to empty."""

import math
from dataclasses import replace

import pytest

from stacklib.evidence.predict import inference, queues
from stacklib.evidence.predict.inference_rows import run_of
from stacklib.serving.estimates import steady

from .made_row import predict, row

CONFIG = "isl=217;osl=201;num_prompts=1000;dataset=ShareGPT;quant=bf16"


def made(config=CONFIG, **changes):
    told = {
        "system": "A100 80GB SXM",
        "subject": "Qwen3-8B",
        "software": "vLLM 0.9.2",
        "metric": "max_output_throughput",
        "unit": "tokens/s",
        "date": "2025-08",
    }
    return row("E", config, **(told | changes))


@pytest.mark.rows(
    ("changes", "most", "chunk"),
    [
        ({}, 256, 2048),  # an A100, as a small memory
        ({"system": "RTX 4090"}, 256, 2048),
        ({"system": "H100 SXM"}, 1024, 8192),
        ({"system": "H100 SXM", "date": "2024-10"}, 256, 2048),
        ({"config": f"{CONFIG};max_num_seqs=32"}, 32, 2048),
        ({"software": "TensorRT-LLM 1.0"}, 2048, 8192),
        ({"metric": "mlperf_throughput"}, 2048, 8192),  # set by who submits
    ],
)
def test_an_engine_holds_what_it_is_told_or_its_default(changes, most, chunk):
    asked = made(**changes)
    assert queues.limits(asked, run_of(asked)) == (most, chunk)


def test_fewer_at_once_and_fewer_in_all_are_slower():
    all_at_once = predict(made(f"{CONFIG};max_num_seqs=1000")).value
    few = predict(made(f"{CONFIG};max_num_seqs=16")).value
    assert predict(made(f"{CONFIG};max_num_seqs=64")).value > 1.5 * few
    assert all_at_once > few
    endless = predict(made(CONFIG.replace("num_prompts=1000;", ""))).value
    assert all_at_once < endless
    long = CONFIG.replace("num_prompts=1000", "num_prompts=100000")
    assert predict(made(long)).value == pytest.approx(endless, rel=0.1)


def test_a_queue_empties_as_step_after_step_says():
    """The slow way: what is left of the held ones after each step, one by one."""
    asked = made("isl=64;osl=200;num_prompts=256;dataset=ShareGPT;quant=bf16")
    run = run_of(asked)
    step, load = run.step, run.load(256.0)
    seconds, left = 256 * steady.added(step, load), 256.0
    while left > 1:
        seconds += steady.step_time(step, replace(load, batch=left))
        left *= math.exp(-1 / 200)
    found = queues.emptied(step, load, 256.0, 1)
    assert found == pytest.approx(256 * 200 / seconds, rel=0.03)


def test_prompts_that_begin_together_take_as_long_as_they_are_many():
    one = made("batch=1;isl=1024;osl=1", metric="prefill_latency", unit="s")
    many = made("batch=16;isl=1024;osl=1", metric="prefill_latency", unit="s")
    assert predict(many).value == pytest.approx(16 * predict(one).value)
    rate = {"metric": "prefill_speed", "unit": "tokens/s"}
    both = (made(f"batch={n};isl=1024", **rate) for n in (1, 16))
    assert len({round(predict(each).value, 6) for each in both}) == 1


def test_a_batch_that_begins_together_is_told_in_three_metrics():
    config = "batch=32;isl=512;osl=256"
    life = predict(made(config, metric="e2e_latency", unit="s")).value
    rate = predict(made(config, metric="output_throughput")).value
    whole = predict(made(config, metric="total_token_throughput")).value
    assert rate == pytest.approx(32 * 256 / life, rel=0.02)
    assert whole == pytest.approx(3 * rate)
    assert inference.kind_of(made(config, metric="e2e_latency")) == "served"


def test_a_pass_of_a_runner_is_as_long_as_its_row_says():
    prompt = {
        "system": "RTX 4090",
        "subject": "Qwen3-30B-A3B Q4_K_M",
        "software": "llama.cpp (2026)",
        "metric": "prefill_speed",
        "date": "2026",
    }
    short = predict(made("batch=1;test=pp2048", **prompt)).value
    long = predict(made("batch=1;test=pp2048;ubatch=2048", **prompt)).value
    assert long > 1.3 * short
