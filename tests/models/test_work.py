"""Work by operation: sums equal closed forms, and loops over tokens."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import models
from stacklib.models import Attention, CompressedAttention, LatentAttention
from stacklib.models.recurrent import Recurrent

LIBRARY = json.loads((Path(__file__).parent / "transformers_counts.json").read_text())
SMALL = [models.from_hf_config(case["config"]) for case in LIBRARY["parameters"]]
SMALL += [models.from_hf_config(case["config"]) for case in LIBRARY["windows"]]
BIG = [models.get(name) for name in models.names()]


def total(found, field):
    return sum(getattr(op, field) for op in found)


@pytest.mark.rows("model", BIG)
def test_every_row_decodes_as_its_closed_forms_say(model):
    decode_is_two_a_parameter_and_the_scores(model, 3, 5000)


@given(st.sampled_from(SMALL + BIG), st.integers(1, 64), st.integers(0, 9000))
@settings(max_examples=120, deadline=None)
def test_decode_is_two_a_parameter_and_the_scores(model, batch, context):
    decode_is_two_a_parameter_and_the_scores(model, batch, context)


def decode_is_two_a_parameter_and_the_scores(model, batch, context):
    shape = {"context": context, "batch": batch, "dtype": "bf16"}
    found = models.operations(model, "decode", **shape)
    flops = 2 * model.streamed_parameters.si + model.attention_flops(context + 1).si
    assert total(found, "flops") == pytest.approx(batch * flops, rel=1e-12)
    moved = 2 * model.read_parameters(batch).si
    assert total(found, "weight_bytes") == pytest.approx(moved, rel=1e-12)
    cache = batch * model.kv_read_bytes(context + 1, "bf16").si
    assert total(found, "cache_bytes") == pytest.approx(cache, rel=1e-12)


@given(st.sampled_from(SMALL + BIG), st.integers(1, 9), st.integers(1, 700))
@settings(max_examples=60, deadline=None)
def test_prefill_is_2pl_and_each_token_asks_those_before(model, batch, tokens):
    found = models.operations(model, "prefill", context=tokens, batch=batch)
    pairs = 0
    for block in model.blocks:
        for seen in range(1, tokens + 1):
            pairs += sum(block.attention.score_macs(seen, absorbed=False).values())
    flops = 2 * model.streamed_parameters.si * tokens + 2 * pairs
    assert total(found, "flops") == pytest.approx(batch * flops, rel=1e-12)
    cache = batch * model.kv_bytes(tokens, "bf16").si
    assert total(found, "cache_bytes") == pytest.approx(cache, rel=1e-12)


def test_prefill_of_a_dense_model_is_2pl_plus_causal_attention():
    model, tokens = models.get("llama-3-70b"), 2048
    found = models.operations(model, "prefill", context=tokens)
    parameters = model.parameters.si - model.embedding_parameters.si
    causal = 80 * 4 * 64 * 128 * tokens * (tokens + 1) / 2
    assert total(found, "flops") == 2 * parameters * tokens + causal
    last = models.operations(model, "prefill", context=tokens, logits="last")
    head = 2 * 8192 * 128256
    assert total(found, "flops") - total(last, "flops") == head * (tokens - 1)


def macs_by_loop(attention, tokens):
    """Multiply-adds of the last of ``tokens``, whose entries are found one by one."""
    a, index = attention, getattr(attention, "indexer", None)
    window = getattr(a, "window", 0)
    seen = sum(1 for token in range(tokens) if not window or tokens - token <= window)
    value = getattr(a, "value_dim", 0) or a.head_dim
    each, scored, picked = a.heads * (a.head_dim + value), tokens, 0
    if isinstance(a, CompressedAttention):
        filled = scored = 0
        for _ in range(tokens):
            filled += 1
            if filled == a.rate:
                scored, filled = scored + 1, 0
        picked = min(scored, index.top_k) if index else scored
    elif isinstance(a, LatentAttention):
        each = a.heads * (a.kv_lora_rank * 2 + a.rope_head_dim)
        seen = min(seen, a.selected or seen)
    elif index:
        seen = min(seen, index.top_k)
    own = index.heads * index.head_dim * scored if index else 0
    return each * (seen + picked) + own


INDEXERS = st.none() | st.builds(
    models.Indexer, st.just(2), st.just(4), st.integers(1, 9)
)
ATTENTIONS = st.one_of(
    st.builds(Attention, st.just(4), st.just(2), st.just(8), st.integers(0, 30)),
    st.builds(
        Attention,
        st.just(4),
        st.just(2),
        st.just(8),
        value_dim=st.integers(0, 5),
        keys=st.sampled_from(["", "values too", "borrowed"]),
        indexer=INDEXERS,
    ),
    st.builds(
        LatentAttention,
        *map(st.just, (4, 6, 5, 3, 2, 7)),
        selected=st.integers(0, 20),
        indexer=INDEXERS,
    ),
    st.builds(
        CompressedAttention,
        *map(st.just, (4, 8, 6, 3, 2)),
        window=st.integers(1, 20),
        rate=st.integers(0, 9),
        indexer=INDEXERS,
    ).filter(lambda a: a.rate or a.indexer is None),
)


@given(ATTENTIONS, st.integers(1, 120))
@settings(max_examples=200, deadline=None)
def test_scores_of_a_query_and_of_a_prompt_equal_loops(attention, tokens):
    pairs = 0
    for last in range(1, tokens + 1):
        found = sum(attention.score_macs(last, True).values())
        assert found == macs_by_loop(attention, last)
        pairs += sum(attention.score_macs(last, False).values())
    assert sum(attention.prompt_macs(tokens).values()) == pairs


def test_absorbing_trades_bytes_for_arithmetic():
    attention = models.get("deepseek-v3").attention
    assert isinstance(attention, LatentAttention)
    absorbed = sum(attention.score_macs(1, absorbed=True).values())
    expanded = sum(attention.score_macs(1, absorbed=False).values())
    assert absorbed == 128 * (512 + 64 + 512) and expanded == 128 * (128 + 64 + 128)
    # the cache holds one latent, an expanded one would hold all heads
    assert attention.per_token == 576 < 128 * (128 + 64 + 128)


def test_operations_are_named_and_complete():
    found = models.operations(models.get("deepseek-v3"), "decode", context=10)
    first = [op.name for op in found if op.layer == 0]
    assert first == [
        "q down",
        "q up",
        "kv down",
        "kv up",
        "o",
        "scores",
        "values",
        "gate",
        "up",
        "down",
        "norms",
    ]
    last = [op.name for op in found if op.layer == 60]
    assert last[7:11] == ["router", "expert gate", "expert up", "expert down"]
    assert {op.layer for op in found} == {*range(61), -1}


@pytest.mark.parametrize("phase", ["decode", "prefill"])
def test_work_per_token_adds_up_to_the_operations(phase):
    model = models.get("gemma-3-27b")
    layers = models.work_per_token(model, 5000, phase, batch=3)
    found = models.operations(model, phase, context=5000, batch=3)
    tokens = 3 * (5000 if phase == "prefill" else 1)
    flops = sum(layer.flops for layer in layers) * tokens
    assert flops == pytest.approx(total(found, "flops"))
    assert sum(w.bytes for w in layers) * tokens == pytest.approx(total(found, "bytes"))
    full = [w.layer for w in layers if "window" not in w.kind and w.layer >= 0]
    assert full == list(range(5, 62, 6))
    assert layers[5].flops > layers[4].flops


@pytest.mark.rows(
    "bad, message",
    [
        ({"phase": "train"}, "phase = 'train'"),
        ({"logits": "none"}, "logits = 'none'"),
        ({"context": -1}, "context = -1"),
        ({"context": 1.5}, "context = 1.5"),
        ({"phase": "prefill", "context": 0}, "context = 0"),
        ({"batch": 0}, "batch = 0"),
        ({"dtype": "bf61"}, "unknown number format 'bf61'"),
        ({"kv_dtype": "x"}, "unknown number format 'x'"),
    ],
)
def test_bad_requests_are_refused(bad, message):
    asked = {"phase": "decode", "context": 10, **bad}
    with pytest.raises((ValueError, LookupError), match=message):
        models.operations(models.get("llama-3-8b"), asked.pop("phase"), **asked)


V4 = CompressedAttention(6, 8, 10, 4, 2, 16, 3, models.Indexer(2, 5, 7))


def test_a_compressed_layer_by_hand():
    assert (V4.kv_heads, V4.cache_heads, V4.per_token) == (1, 1, 8)
    assert {a.kind for a in (V4, replace(V4, indexer=None), replace(V4, rate=0))} == {
        "CSA 1:3, window 16",
        "HCA 1:3, window 16",
        "MQA, window 16",
    }
    sizes = {m.name: (m.rows, m.columns, m.total, m.used) for m in V4.matrices(20)}
    assert sizes == {
        "q down": (20, 10, 1, 1),
        "q up": (10, 48, 1, 1),
        "kv": (20, 8, 1, 1),
        "o down": (24, 4, 2, 2),
        "o up": (8, 20, 1, 1),
        "compress kv": (20, 16, 1, 1),
        "compress gate": (20, 16, 1, 1),
        "index kv": (20, 10, 1, 1),
        "index gate": (20, 10, 1, 1),
        "index q": (10, 10, 1, 1),
        "index weights": (20, 2, 1, 1),
    }
    plain = {m.name: m.columns for m in replace(V4, indexer=None).matrices(20)}
    assert plain["compress kv"] == plain["compress gate"] == 8
    assert len(plain) == 7 and len(replace(V4, rate=0, indexer=None).matrices(20)) == 5
    # norms of latents, sinks; places within an entry and its norm; those of keys
    assert V4.vectors() == (10 + 8 + 6) + (3 * 16 + 8) + (2 * 3 * 5 + 5)
    assert replace(V4, indexer=None).vectors() == 24 + 3 * 8 + 8
    assert replace(V4, rate=0, indexer=None).vectors() == 24
    # 50 tokens: 16 entries of 3, of which the query sees 7, and the last 16 tokens
    assert (V4.entries(50), V4.attended(50)) == (16, 16 + 7)
    assert V4.cached(50) == 16 * 8 + 16 * (8 + 5)
    assert V4.read(50) == (16 + 7) * 8 + 16 * 5
    assert replace(V4, indexer=None).read(50) == (16 + 16) * 8
    assert V4.cached(9) == 9 * 8 + 3 * 13 and V4.attended(9) == 12


def test_heads_that_a_cache_is_cut_by():
    heads = {
        "llama-3-70b": (8, "GQA"),
        "deepseek-v3": (1, "MLA"),
        "deepseek-v4-flash": (1, "window 128"),
        "gpt-oss-120b": (8, "GQA, window 128"),
    }
    for key, (expected, kind) in heads.items():
        assert models.get(key).cache_heads == expected, key
        assert kind in " ".join(b.attention.kind for b in models.get(key).blocks)
    kinds = [Attention(8, kv, 4).kind for kv in (8, 2, 1)]
    assert kinds == ["MHA", "GQA", "MQA"]


def test_a_recurrent_layer_by_hand():
    layer = Recurrent("r", 3, 4, 5, (("in", 7),), 15, 2, 9, True, 6, 4, True)
    assert (layer.kv_heads, layer.cache_heads, layer.head_dim) == (3, 3, 5)
    assert layer.state == 3 * 4 * 5 + 6 * 3 == layer.cached(100) == layer.read(9) / 2
    assert layer.score_macs(50, True) == {"state": 2 * 60}
    assert layer.prompt_macs(11) == {"state": 11 * 120}
    assert (layer.per_token, layer.vectors()) == (0, 9)
    assert [m.each for m in layer.matrices(8)] == [8 * 7 + 7, 4 * 6 + 6, 15 * 8 + 8]
