"""The decode step of every architecture: three counts, fit, copies."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import models, roofline
from stacklib.models.block import has_cache
from stacklib.quantity import Quantity
from stacklib.roofline import decode_step, fit_memory
from stacklib.roofline.work.fit import fit_with_copies

CASES = Path(__file__).parents[2] / "models" / "transformers_counts.json"
LIBRARY = json.loads(CASES.read_text())
SMALL = [models.from_hf_config(c["config"]) for c in LIBRARY["parameters"]]
SMALL += [models.from_hf_config(c["config"]) for c in LIBRARY["windows"]]


@given(
    st.sampled_from(SMALL),
    st.integers(1, 24),
    st.integers(0, 600),
    st.sampled_from(["bf16", "e4m3fn", "fp4", "fp32", "int8"]),
)
@settings(max_examples=120, deadline=None)
def test_closed_form_count_and_operations_agree(model, batch, context, dtype):
    shape = {"dtype": dtype, "batch": batch, "context": context}
    work = roofline.decode_work(model, **shape)
    operations, moved = roofline.count_decode(model, **shape)
    assert work.operations.si == pytest.approx(operations, rel=1e-12)
    assert work.bytes.si == pytest.approx(moved, rel=1e-11)
    found = models.operations(model, "decode", **shape)
    assert sum(op.flops for op in found) == pytest.approx(operations, rel=1e-12)
    assert sum(op.bytes for op in found) == pytest.approx(moved, rel=1e-11)


@pytest.mark.rows("name", models.names())
def test_every_model_of_the_database_three_ways(name):
    model = models.get(name)
    shape = {"dtype": "e4m3fn", "batch": 3, "context": 2000}
    work = roofline.decode_work(model, **shape)
    operations, moved = roofline.count_decode(model, **shape)
    assert work.operations.si == pytest.approx(operations, rel=1e-12)
    assert work.bytes.si == pytest.approx(moved, rel=1e-11)


@pytest.mark.rows("name", models.names())
def test_every_model_has_a_step_where_it_fits(name):
    rows = roofline.compare_devices(name, ["b200"], dtype="fp8", most_chips=16)
    assert rows[0].fits is (rows[0].time is not None)
    assert rows[0].fits or name == "deepseek-v4-pro" or rows[0].chips == 16


def test_experts_are_read_once_however_many_sequences_choose_them():
    model = models.get("qwen3-30b-a3b")
    one = roofline.decode_work(model, dtype="bf16", batch=1, context=0).bytes.si
    many = roofline.decode_work(model, dtype="bf16", batch=4096, context=0).bytes.si
    kv = model.kv_bytes_per_token("bf16").si
    everything = 2 * (model.parameters.si - model.embedding_parameters.si)
    assert one == 2 * model.streamed_parameters.si + kv
    assert many == pytest.approx(everything + 4096 * kv, rel=1e-6)


def test_a_latent_cache_is_kept_whole_on_every_chip():
    shape = {"on": "h200", "dtype": "e4m3fn", "batch": 64, "context": 8192}
    even = fit_memory("deepseek-v3", tp=8, **shape)
    step = decode_step("deepseek-v3", tp=8, **shape)
    kv = 64 * 8192 * 61 * 576
    assert even.need.si == pytest.approx((671026419200 + kv) / 8)
    assert step.fit.need.si == pytest.approx(671026419200 / 8 + kv)
    alone = roofline.decode_work(models.get("deepseek-v3"), dtype="e4m3fn")
    shared = roofline.decode_work(models.get("deepseek-v3"), dtype="e4m3fn", tp=8)
    assert (shared.bytes - alone.bytes).si == pytest.approx(7 * 4097 * 61 * 576)


@pytest.mark.rows("name", models.names())
def test_the_sum_with_copies_is_what_the_step_asks_for(name):
    """Both calls, every model, from one chip to more chips than KV heads."""
    model = models.get(name)
    shape = {"on": "b200", "dtype": "e4m3fn", "batch": 32, "context": 1000}
    for tp in (1, model.heads):
        fit = fit_memory(model, tp=tp, **shape)
        copied, step = fit_with_copies(model, fit), decode_step(model, tp=tp, **shape)
        assert copied.need.si == step.fit.need.si and copied.fits is step.fit.fits
        more = sum(  # layer by layer, as each has its heads; a state is cut
            b.attention.cached(1000) * (max(tp / b.attention.cache_heads, 1) - 1)
            for b in model.blocks
            if has_cache(b)
        )
        assert copied.need.si == pytest.approx(fit.need.si + 32 * more / tp)
        spare = fit_memory(model, tp=tp, **shape, reserve=Quantity(1, "GB"))
        kept = fit_with_copies(model, spare).need.si - copied.need.si
        assert kept == pytest.approx(1e9)


def test_layers_with_fewer_heads_are_kept_more_often():
    """Gemma 4 31B on eight chips: ten full layers of 4 heads, windows of 16."""
    even = roofline.decode_work(models.get("gemma-4-31b"), dtype="bf16", tp=4)
    twice = roofline.decode_work(models.get("gemma-4-31b"), dtype="bf16", tp=8)
    assert (twice.bytes - even.bytes).si == pytest.approx(2 * 10 * 4097 * 4 * 512 * 2)
    step = decode_step("gemma-4-31b", on="h200", dtype="bf16", tp=8, batch=1.0)
    assert step.bytes == pytest.approx(twice.bytes.si)


def test_a_window_stops_the_cache_and_its_traffic():
    model = models.get("mistral-7b-v0.1")
    short = roofline.decode_work(model, dtype="bf16", context=4095)
    far = roofline.decode_work(model, dtype="bf16", context=10**6)
    assert far.bytes.si == short.bytes.si
    assert far.operations.si == short.operations.si
    assert fit_memory(model, on="rtx-4090", context=10**6).kv.si == 512 * 2**20


def test_context_that_stays_memory_bound_is_refused_where_layers_differ():
    with pytest.raises(ValueError, match="does not grow evenly"):
        roofline.memory_bound_context("gemma-3-27b", on="h100")
    assert roofline.memory_bound_context("deepseek-v2", on="h100").si > 0
