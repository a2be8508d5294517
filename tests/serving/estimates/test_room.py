"""Conversations that fit: the closed form, the allocator, and what is refused."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware, models, tinylm
from stacklib.quantity import Quantity, UnknownName, chosen
from stacklib.serving.estimates.room import admitted, kept_by_kind, room
from stacklib.tinylm.config import architecture
from stacklib.tinylm.forward import KVCache

GB, EIGHT = 1e9, {"tp": 8}


def test_the_running_case_is_the_sum_by_hand():
    found = room("llama-3-70b", "h100-sxm", tp=8)
    each = 2 * 80 * 8 * 128 * 2 * 4096
    left = 8 * 80 * GB - 2 * models.get("llama-3-70b").parameters.si
    assert found.each.si == each and found.left.si == pytest.approx(left)
    assert found.conversations.si == left // each == 371
    assert found.why.startswith("8 x H100: 640 GB - 0 GB - 141.1 GB = 498.9 GB")


CASES = [
    ("llama-3-70b", "h100-sxm", 8, "bf16", 4096),
    ("llama-3-8b", "h100-sxm", 1, "bf16", 32_768),
    ("llama-3-8b", "rtx-4090", 1, "fp8", 777),
    ("gemma-3-27b", "h200-sxm", 2, "bf16", 100_000),
    ("qwen3-next-80b-a3b", "b200-sxm", 1, "fp8", 1_000_000),
    ("deepseek-v3", "h200-sxm", 8, "fp8", 5000),
]


@pytest.mark.rows(("model", "on", "tp", "dtype", "context"), CASES)
def test_one_more_would_not_fit(model, on, tp, dtype, context):
    found = room(model, on, tp=tp, dtype=dtype, context=context, share=0.9)
    have = 0.9 * tp * hardware.get(on).memory_capacity.si
    used = found.weights.si + found.conversations.si * found.each.si
    assert found.conversations.si > 0
    assert used <= have * (1 + 1e-12) < used + found.each.si


def test_a_latent_lies_on_every_chip():
    alone, eight = (room("deepseek-v3", "h200-sxm", dtype="fp8", tp=n) for n in (1, 8))
    assert eight.each.si == 8 * alone.each.si
    assert alone.conversations.si == 0 and "do not fit" in alone.why


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 10**6), st.floats(0.3, 1))
def test_more_tokens_or_less_memory_never_fit_more(context, share):
    asked = {"model": "llama-3-8b", "on": "h100-sxm"}
    one = room(**asked, context=context, share=share).conversations.si
    assert room(**asked, context=2 * context, share=share).conversations.si <= one
    assert room(**asked, context=context, share=share / 2).conversations.si <= one


@pytest.mark.parametrize("model", ["llama-3-70b", "gemma-3-27b", "deepseek-v4-pro"])
@pytest.mark.parametrize("context", [0, 1, 100, 5000, 1_000_000])
def test_kinds_of_layers_sum_to_the_cache(model, context):
    rows, found = kept_by_kind(model, context), models.get(model)
    assert sum(row.held.si for row in rows) == found.kv_bytes(context, "bf16").si
    assert sum(row.layers for row in rows) == found.layers


def test_the_arrays_of_a_cache_have_the_bytes_that_the_config_says():
    config = tinylm.load().config
    arrays = KVCache(config)
    found = architecture("tiny").kv_bytes(config.max_position_embeddings, "fp32")
    assert found.si == arrays.keys.nbytes + arrays.values.nbytes


@pytest.mark.parametrize("block", [1, 3, 16])
def test_an_allocator_admits_what_the_division_says(block):
    for blocks in (1, 7, 40):
        for context in (1, 2, 3, 4, 16, 17, 100):
            assert admitted(blocks, context, block) == blocks // math.ceil(
                context / block
            )


BAD = [
    ({"share": 0}, "share = 0"),
    ({"share": 1.01}, "at most all"),
    ({"share": math.nan}, "share = nan"),
    ({"share": True}, "share"),
    ({"share": Quantity(1, "GB")}, "share|GB"),
    ({"context": 0}, "context = 0"),
    ({"context": 4096.0}, "context = 4096.0"),
    ({"tp": 7}, "tp = 7 does not divide"),
    ({"dtype": "bf61"}, "bf16"),
    ({"on": "h101-sxm"}, "h100"),
]


@pytest.mark.rows(("change", "says"), BAD)
def test_bad_input_never_gives_a_number(change, says):
    with pytest.raises((ValueError, UnknownName), match=says):
        room(**{"model": "llama-3-70b", "on": "h100-sxm", **change})


def test_a_share_may_be_a_quantity():
    half = room("llama-3-8b", "h100-sxm", share=chosen(50, "%"))
    assert half.reserve.si == 40 * GB
