"""GGUF files of hybrids and chunks: llama.cpp's own tensors and facts are the model.

The tensors are those that its loaders ask for (src/models/qwen35.cpp at 06e514f,
llama4.cpp at 8a5c4e0), the facts what its converters write.
"""

import math

import pytest

from stacklib import models
from stacklib.models import from_gguf
from stacklib.models.rows import config_of

from .test_files import closed, gguf

# name, and the letters of its sizes, the fastest axis first
MLP = "ffn_gate.weight:n,f ffn_up.weight:n,f ffn_down.weight:f,n"
EXPERTS = (
    "ffn_gate_inp.weight:n,x ffn_gate_exps.weight:n,e,x ffn_up_exps.weight:n,e,x "
    "ffn_down_exps.weight:e,n,x ffn_gate_shexp.weight:n,e ffn_up_shexp.weight:n,e "
    "ffn_down_shexp.weight:e,n"
)
SHARED = f"{EXPERTS} ffn_gate_inp_shexp.weight:n"
SOFTMAX = (
    "attn_k.weight:n,k attn_v.weight:n,k attn_output.weight:q,n attn_norm.weight:n"
)
CHUNKS = f"{SOFTMAX} attn_q.weight:n,q ffn_norm.weight:n"
GATED = (
    f"{SOFTMAX} attn_q.weight:n,2q attn_q_norm.weight:d attn_k_norm.weight:d "
    "post_attention_norm.weight:n"
)
DELTA = (
    "attn_norm.weight:n attn_qkv.weight:n,c attn_gate.weight:n,v ssm_conv1d.weight:4,c "
    "ssm_dt.bias:r ssm_a:r ssm_beta.weight:n,r ssm_alpha.weight:n,r ssm_norm.weight:s "
    "ssm_out.weight:v,n post_attention_norm.weight:n"
)
WRITTEN = {
    "block_count": "num_hidden_layers",
    "embedding_length": "hidden_size",
    "context_length": "max_position_embeddings",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "feed_forward_length": "intermediate_size",
    "expert_feed_forward_length": "moe_intermediate_size",
    "expert_shared_feed_forward_length": "shared_expert_intermediate_size",
    "expert_count": "num_experts",
    "expert_used_count": "num_experts_per_tok",
    "ssm.group_count": "linear_num_key_heads",
    "ssm.time_step_rank": "linear_num_value_heads",
    "ssm.state_size": "linear_key_head_dim",
    "ssm.conv_kernel": "linear_conv_kernel_dim",
}
LLAMA4 = {
    "feed_forward_length": "intermediate_size_mlp",
    "expert_feed_forward_length": "intermediate_size",
    "expert_count": "num_local_experts",
    "interleave_moe_layer_step": "interleave_moe_layer_step",
}


def _axes(f):
    """Sizes by the letters above; what an architecture has not is 0."""
    size = dict(zip("ndfexrsg", (f.get(key, 0) for key in AXES), strict=True))
    size["q"], size["k"] = (
        size["d"] * f[f"attention.head_count{w}"] for w in ("", "_kv")
    )
    size |= {"2q": 2 * size["q"], "v": size["r"] * size["s"], "4": 4}
    return size | {"c": 2 * size["g"] * size["s"] + size["v"]}


AXES = (
    *("embedding_length", "attention.key_length", "feed_forward_length"),
    *("expert_feed_forward_length", "expert_count"),
    *("ssm.time_step_rank", "ssm.state_size", "ssm.group_count"),
)


@pytest.mark.rows(
    "name, arch, mixers, mlps",
    [
        ("qwen3.5-9b", "qwen35", [DELTA, DELTA, DELTA, GATED], [MLP]),
        ("qwen3.5-35b-a3b", "qwen35moe", [DELTA, DELTA, DELTA, GATED], [SHARED]),
        ("llama-4-scout", "llama4", [CHUNKS], [EXPERTS]),
        ("llama-4-maverick", "llama4", [CHUNKS], [MLP, EXPERTS]),
    ],
)
def test_the_tensors_that_llama_cpp_loads_are_the_model(
    name, arch, mixers, mlps, tmp_path
):
    config, model = config_of(name)["text_config"], models.get(name)
    fields = WRITTEN | (LLAMA4 if arch == "llama4" else {})
    facts = {key: config[field] for key, field in fields.items() if field in config}
    size = _axes(facts) | {"t": config["vocab_size"]}
    tensors = "token_embd.weight:n,t output_norm.weight:n output.weight:n,t".split()
    for layer in range(model.layers):
        both = f"{mixers[layer % len(mixers)]} {mlps[layer % len(mlps)]}"
        tensors += [f"blk.{layer}.{tensor}" for tensor in both.split()]
    listed = []
    for tensor, axes in (one.split(":") for one in tensors):
        shape = tuple(size[axis] for axis in axes.split(","))[::-1]
        ggml = 8 if "attn_gate" in tensor else int(len(shape) > 1)  # q8_0, fp16, fp32
        listed.append((tensor, shape, ggml))
    writer = gguf.GGUFWriter(tmp_path / "it.gguf", arch)
    for key, value in (facts | {"ssm.inner_size": size["v"]}).items():
        writer.add_uint32(f"{arch}.{key}", value)
    found = from_gguf(closed(tmp_path / "it.gguf", writer, listed))
    assert found.parameters.si == model.parameters.si - model.vision
    assert found.parameters.si == sum(math.prod(shape) for _, shape, _ in listed)
    assert found.kv_bytes(9000, "bf16").si == model.kv_bytes(9000, "bf16").si
    moved = models.operations(found, "decode", context=9, batch=2)
    total = sum(op.weight_bytes for op in moved)
    assert total == pytest.approx(found.read_bytes(2).si, rel=1e-9)
