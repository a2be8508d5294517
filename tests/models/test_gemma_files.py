"""Gemma 4 as llama.cpp writes it: layers of two shapes, and facts that differ by layer.

Names and sizes are listed here by hand after its converter (conversion/gemma.py) and
written by its own library.
"""

from math import prod

import pytest

from stacklib import models
from stacklib.models import ConfigError, from_gguf, from_hf_config

from .test_files import closed

gguf = pytest.importorskip("gguf")
NEAR = (True, True, False, True, True, False)
COMMON = {
    "model_type": "gemma4_text",
    "vocab_size": 1024,
    "hidden_size": 256,
    "num_hidden_layers": 6,
    "num_attention_heads": 4,
    "head_dim": 64,
    "global_head_dim": 128,
    "sliding_window": 512,
    "max_position_embeddings": 4096,
    "layer_types": [f"{'sliding' if n else 'full'}_attention" for n in NEAR],
}
SMALL = COMMON | {  # as E2B: inputs by layer, borrowed keys, twice as wide MLPs
    "intermediate_size": 512,
    "num_key_value_heads": 1,
    "num_kv_shared_layers": 3,
    "hidden_size_per_layer_input": 32,
    "vocab_size_per_layer_input": 1024,
    "use_double_wide_mlp": True,
}
MIXED = COMMON | {  # as 26B-A4B: experts beside the MLP, one matrix for keys and values
    "intermediate_size": 128,
    "num_key_value_heads": 2,
    "num_global_key_value_heads": 1,
    "attention_k_eq_v": True,
    "hidden_size_per_layer_input": 0,
    "enable_moe_block": True,
    "num_experts": 8,
    "top_k_experts": 2,
    "moe_intermediate_size": 64,
}


def listed(c, borrowed):
    """Name, shape and whether a step reads it whole, of every tensor."""
    hidden, more = c["hidden_size"], c["hidden_size_per_layer_input"]
    own = 6 - c.get("num_kv_shared_layers", 0)
    yield "token_embd.weight", (1024, hidden), True
    yield "output_norm.weight", (hidden,), True
    yield "rope_freqs.weight", (64,), None  # no parameters of the model
    if more:
        yield "per_layer_token_embd.weight", (1024, 6 * more), False
        yield "per_layer_model_proj.weight", (6 * more, hidden), True
        yield "per_layer_proj_norm.weight", (more,), False  # with its table
    for n, near in enumerate(NEAR):
        wide = c["head_dim"] if near else c["global_head_dim"]
        alike = c.get("attention_k_eq_v") and not near
        kv = wide * (1 if alike else c["num_key_value_heads"])
        inner = c["intermediate_size"] * (2 if n >= own else 1)
        rows = {"attn_q": (4 * wide, hidden), "attn_output": (hidden, 4 * wide)}
        rows |= {"ffn_gate": (inner, hidden), "ffn_up": (inner, hidden)}
        rows |= {"ffn_down": (hidden, inner), "attn_q_norm": (wide,)}
        norms = ["attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"]
        if more:
            rows |= {"inp_gate": (more, hidden), "proj": (hidden, more)}
            norms.append("post_norm")
        if "num_experts" in c:
            rows["ffn_gate_inp"] = (8, hidden)
            rows["ffn_gate_up_exps"] = (8, 2 * 64, hidden)
            rows["ffn_down_exps"] = (8, hidden, 64)
            norms += ["pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2"]
            yield f"blk.{n}.ffn_gate_inp.scale", (hidden,), True
            yield f"blk.{n}.ffn_down_exps.scale", (8,), True  # the router's
        rows |= dict.fromkeys(norms, (hidden,)) | {"layer_output_scale": (1,)}
        for name, shape in rows.items():
            read = "an expert" if name.endswith("_exps") else True
            yield f"blk.{n}.{name}.weight", shape, read
        if n < own or borrowed:
            yield f"blk.{n}.attn_k.weight", (kv, hidden), n < own
            yield f"blk.{n}.attn_k_norm.weight", (wide,), n < own
            if not alike:
                yield f"blk.{n}.attn_v.weight", (kv, hidden), n < own


def written(path, c, *, borrowed=True, **other):
    """The file, matrices in fp16 and vectors in fp32, and bytes that are read."""
    near = c["num_key_value_heads"]
    far = c.get("num_global_key_value_heads", near)
    wide = 2 if c.get("use_double_wide_mlp") else 1
    own = 6 - c.get("num_kv_shared_layers", 0)
    inner = [c["intermediate_size"] * (1 if n < own else wide) for n in range(6)]
    facts = {
        "block_count": 6,
        "embedding_length": 256,
        "context_length": 4096,
        "attention.head_count": 4,
        "attention.head_count_kv": [near if n else far for n in NEAR],
        "attention.key_length": 128,
        "attention.key_length_swa": 64,
        "attention.sliding_window": 512,
        "attention.sliding_window_pattern": [*NEAR],
        "attention.shared_kv_layers": 6 - own,
        "embedding_length_per_layer_input": c["hidden_size_per_layer_input"],
        "feed_forward_length": inner if wide > 1 else inner[0],
    }
    if "num_experts" in c:
        facts |= {"expert_count": 8, "expert_used_count": 2}
        facts["expert_feed_forward_length"] = 64
    writer = gguf.GGUFWriter(path, "gemma4")
    for key, value in (facts | other).items():
        add = writer.add_array if isinstance(value, list) else writer.add_uint32
        add(f"gemma4.{key}", value)
    rows = [*listed(c, borrowed)]
    kinds = [(name, shape, 0 if len(shape) < 2 else 1) for name, shape, _ in rows]
    closed(path, writer, kinds)
    return [(4 if len(s) < 2 else 2) * prod(s) for _, s, _ in rows], rows


@pytest.mark.rows("config", [SMALL, MIXED], ids=["small", "mixed"])
@pytest.mark.parametrize("borrowed", [True, False])
def test_a_gguf_of_gemma_4_has_the_sizes_and_bytes_of_its_model(
    config, borrowed, tmp_path
):
    path, model = tmp_path / "it.gguf", from_hf_config(config)
    sizes, rows = written(path, config, borrowed=borrowed)
    found = from_gguf(path)
    assert found.kinds == model.kinds and found.pattern == model.pattern
    left = 0 if borrowed else model.unused
    assert found.parameters.si == model.parameters.si - left
    whole = [
        size for size, (_, _, read) in zip(sizes, rows, strict=True) if read is not None
    ]
    assert found.weight_bytes().si == sum(whole)
    for batch in (1, 5):
        share = model.experts.touched(batch) / 8 if model.experts else 0
        parts = {True: 1, False: 0, None: 0, "an expert": share}
        due = sum(s * parts[read] for s, (_, _, read) in zip(sizes, rows, strict=True))
        assert found.read_bytes(batch).si == pytest.approx(due, rel=1e-9)
        moved = models.operations(found, "decode", context=9, batch=batch)
        total = sum(op.weight_bytes for op in moved)
        assert total == pytest.approx(due, rel=1e-9)


@pytest.mark.rows(
    "fact, value",
    [
        ("feed_forward_length", [512, 512, 512, 512, 1024, 1024]),
        ("feed_forward_length", [512] * 5),
        ("attention.head_count_kv", [1, 1, 1, 1, 2, 1]),
        ("attention.sliding_window_pattern", [True] * 6),
        ("attention.sliding_window_pattern", 1),
    ],
)
def test_a_fact_that_fits_no_gemma_4_is_named(fact, value, tmp_path):
    path = tmp_path / "it.gguf"
    written(path, SMALL, **{fact: value})
    with pytest.raises(ConfigError) as wrong:
        from_gguf(path)
    named = "attention.head_count_kv" if "pattern" in fact else fact
    assert f"gemma4.{named}" in str(wrong.value)
