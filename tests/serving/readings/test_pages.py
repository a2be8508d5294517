"""Blocks against counts by hand, and sizes that published logs print."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import models
from stacklib.serving.readings.pages import Layers, NotModelled, layers_of, pages_of


def pages(name, kv_dtype="bf16", tp=1, **asked):
    return pages_of(layers_of(models.get(name), kv_dtype, tp), **asked)


# model, format, chips -> bytes a block, tables a sequence, tokens a block; by hand
BY_HAND = [
    ("llama-3-8b", "bf16", 1, 32 * 16 * 2 * 8 * 128 * 2, 1, 16),
    ("llama-3-70b", "bf16", 8, 80 * 16 * 2 * 1 * 128 * 2, 1, 16),
    ("llama-3-70b", "e4m3fn", 8, 80 * 16 * 2 * 1 * 128, 1, 16),
    ("llama-3-70b", "bf16", 16, 80 * 16 * 2 * 1 * 128 * 2, 1, 16),  # heads kept twice
    ("deepseek-v3", "bf16", 8, 61 * 16 * 576 * 2, 1, 16),  # the latent on every chip
    ("gpt-oss-20b", "bf16", 1, 12 * 16 * 2 * 8 * 64 * 2, 2, 16),  # 12 and 12 layers
    ("gemma-3-27b", "bf16", 1, 10 * 16 * 2 * 16 * 128 * 2, 7, 16),  # 10, and 52 in 6
]


@pytest.mark.rows("name, kv_dtype, tp, size, tables, block", BY_HAND)
def test_blocks_by_hand(name, kv_dtype, tp, size, tables, block):
    found = pages(name, kv_dtype, tp)
    assert (found.bytes, found.tables, found.block) == (size, tables, block)


# "Setting attention block size to ... tokens", "Padding mamba page size by ...%"
@pytest.mark.rows(
    "name, kv_dtype, block, padded",
    [
        ("qwen3.5-9b", "bf16", 528, None),
        ("qwen3.5-9b", "e4m3fn", 1056, 0.76),
        ("qwen3.5-27b", "bf16", 784, 0.13),
    ],
)
def test_hybrid_blocks_as_published_logs_print_them(name, kv_dtype, block, padded):
    state = next(x for x in layers_of(models.get(name), kv_dtype) if x.state).state
    found = pages(name, kv_dtype)
    assert found.block == block
    if padded:
        page = next(x for x, _ in found.groups if x.state).state
        assert round(100 * (page / state - 1), 2) == padded


@given(
    st.sampled_from(["llama-3-8b", "gpt-oss-20b", "gemma-3-27b", "qwen3.5-9b"]),
    st.integers(0, 2**38),
    st.sampled_from([8, 16, 32]),
)
@settings(max_examples=40, deadline=None)
def test_blocks_fill_the_memory_and_no_more(name, memory, block):
    found = pages(name, block=block)
    blocks = found.blocks(memory)
    assert blocks * found.bytes <= memory < (blocks + 1) * found.bytes
    assert found.tokens(blocks) <= blocks * found.block


@pytest.mark.rows("name", ["llama-3-8b", "deepseek-v3", "qwen3-0.6b", "gemma-3-27b"])
@pytest.mark.rows("tokens", [16, 4096])
def test_layers_hold_what_the_model_counts(name, tokens):
    """The models' own sum of a cache, which knows nothing of blocks."""
    model = models.get(name)
    kept = sum(
        one.count * one.per_token * min(tokens, one.window or tokens)
        for one in layers_of(model)
    )
    assert kept == model.kv_bytes(tokens, "bf16").si


def test_states_are_the_models_own():
    model = models.get("qwen3.5-9b")
    same = layers_of(model, widths=(2, 2))
    states = sum(one.count * one.state for one in same)
    assert states == model.state_bytes("bf16").si


@given(st.integers(1, 20000), st.integers(1, 8192), st.integers(1, 4096))
@settings(max_examples=60, deadline=None)
def test_blocks_of_a_window_hold_every_token_that_may_be_seen(tokens, chunk, window):
    """Walked chunk by chunk, from every place in a block at which it may begin."""
    one = Layers("window", 1, 1, window=window)
    most = 0
    for start in range(0, tokens, chunk):
        end = min(start + chunk, tokens)
        first = max(start - window + 1, 0)
        most = max(most, -(-end // 16) - first // 16)
    assert most <= one.blocks(tokens, chunk)
    assert one.blocks(tokens, chunk) <= -(-tokens // 16) + 1


def test_counts_of_windows_and_tables_by_hand():
    """1,023 of the window before a chunk of 2,049: 192 blocks, and one for the ends."""
    assert Layers("window", 1, 1, window=1024).blocks(131072, 2049) == 193
    assert Layers("window", 1, 1, window=1024).blocks(131072, 2049, local=True) == 193
    assert Layers("window", 1, 1, window=1024).blocks(131072, 2048, local=True) == 192
    assert pages("gemma-3-27b").tokens(10) == 16  # one block for each of seven tables


def test_without_tables_for_windows_every_layer_keeps_all():
    found = pages("gemma-3-27b", hybrid=False)
    assert found.tables == 1 and found.bytes == 62 * 16 * 8192
    assert found.needed(4096, 512) == 256


def test_pages_of_other_sizes():
    small, large = Layers("a", 4, 1024), Layers("b", 2, 4096, window=128)
    found = pages_of((small, large))
    assert {one.kind: one.block for one, _ in found.groups} == {"a": 64, "b": 16}
    with pytest.raises(NotModelled, match="no whole number"):
        pages_of((Layers("a", 4, 3000), large))
    with pytest.raises(NotModelled, match="no layer has a cache that grows"):
        pages_of((Layers("state", 4, state=100),))


@pytest.mark.rows(
    "name, asked, says",
    [
        ("llama-3-70b", {"tp": 3}, "tp = 3 does not share out the 8 heads"),
        ("llama-3-70b", {"tp": True}, "tp = True"),
        ("llama-3-70b", {"block": 0}, "block = 0"),
        ("deepseek-v3.2", {}, "beside its cache"),
    ],
)
def test_what_is_not_modelled_is_said(name, asked, says):
    with pytest.raises(ValueError, match=says):
        pages(name, **asked)
