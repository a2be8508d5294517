"""GGUF files of hybrids and chunks: llama.cpp's own tensors and facts are the model.

The tensors are those that its loaders ask for (src/models/qwen35.cpp at 06e514f,
llama4.cpp at 8a5c4e0, nemotron-h.cpp), the facts what its converters write.
"""

import math
import re

import pytest

from stacklib import models
from stacklib.models import from_gguf
from stacklib.models.files.gguf_values import Listed
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
    size["h"], size["1"] = f.get("expert_shared_feed_forward_length", 0), 1
    if "expert_shared_count" in f:  # a state space: its heads have a size of their own
        size["v"] = size["r"] * 64
        size |= {
            "w": size["v"] + 2 * size["g"] * size["s"],
            "v/g": size["v"] // size["g"],
        }
        size["i"] = size["v"] + size["w"] + size["r"]
    return size | {"c": 2 * size["g"] * size["s"] + size["v"]}


AXES = (
    *("embedding_length", "attention.key_length", "feed_forward_length"),
    *("expert_feed_forward_length", "expert_count"),
    *("ssm.time_step_rank", "ssm.state_size", "ssm.group_count"),
)


NEMOTRON = {
    "feed_forward_length": "moe_intermediate_size",
    "expert_shared_feed_forward_length": "moe_shared_expert_intermediate_size",
    "expert_count": "n_routed_experts",
    "expert_shared_count": "n_shared_experts",
    "ssm.group_count": "n_groups",
    "ssm.time_step_rank": "mamba_num_heads",
    "ssm.state_size": "ssm_state_size",
    "ssm.conv_kernel": "conv_kernel",
}
MAMBA = (
    "attn_norm.weight:n ssm_in.weight:n,i ssm_conv1d.weight:4,w ssm_conv1d.bias:w "
    "ssm_dt.bias:r ssm_a:1,r ssm_d:1,r ssm_norm.weight:v/g,g ssm_out.weight:v,n"
)
ROUTED = (
    "attn_norm.weight:n ffn_gate_inp.weight:n,x exp_probs_b.bias:x "
    "ffn_up_exps.weight:n,e,x ffn_down_exps.weight:e,n,x ffn_up_shexp.weight:n,h "
    "ffn_down_shexp.weight:h,n"
)


@pytest.mark.rows(
    "name, arch, pattern, parts",
    [
        (
            "qwen3.5-9b",
            "qwen35",
            "MMM*",
            {"M": f"{DELTA} {MLP}", "*": f"{GATED} {MLP}"},
        ),
        (
            *("qwen3.5-35b-a3b", "qwen35moe", "MMM*"),
            {"M": f"{DELTA} {SHARED}", "*": f"{GATED} {SHARED}"},
        ),
        ("llama-4-scout", "llama4", "E", {"E": f"{CHUNKS} {EXPERTS}"}),
        (
            *("llama-4-maverick", "llama4", "-E"),
            {"-": f"{CHUNKS} {MLP}", "E": f"{CHUNKS} {EXPERTS}"},
        ),
        (
            *("nemotron-3-nano-30b-a3b", "nemotron_h_moe", ""),
            {"M": MAMBA, "*": f"{SOFTMAX} attn_q.weight:n,q", "E": ROUTED},
        ),
    ],
)
def test_the_tensors_that_llama_cpp_loads_are_the_model(
    name, arch, pattern, parts, tmp_path
):
    config, model = config_of(name), models.get(name)
    config = config.get("text_config", config)
    fields = WRITTEN | {"llama4": LLAMA4, "nemotron_h_moe": NEMOTRON}.get(arch, {})
    facts = {key: config[field] for key, field in fields.items() if field in config}
    facts["block_count"] = model.layers
    size = _axes(facts) | {"t": config["vocab_size"]}
    tensors = "token_embd.weight:n,t output_norm.weight:n output.weight:n,t".split()
    pattern = config.get("hybrid_override_pattern") or pattern * model.layers
    for layer, letter in enumerate(pattern[: model.layers]):
        tensors += [f"blk.{layer}.{tensor}" for tensor in parts[letter].split()]
    listed = []
    for tensor, axes in (one.split(":") for one in tensors):
        shape = tuple(size[axis] for axis in axes.split(","))[::-1]
        large = len(shape) > 1 and not re.search(r"norm|ssm_[ad]$", tensor)
        ggml = 8 if "attn_gate" in tensor else int(large)  # q8_0, fp16, fp32
        listed.append((tensor, shape, ggml))
    writer = gguf.GGUFWriter(tmp_path / "it.gguf", arch)
    for key, value in (facts | {"ssm.inner_size": size["v"]}).items():
        where = {"feed_forward_length": "E", "attention.head_count_kv": "*"}.get(key)
        if where and arch == "nemotron_h_moe":
            value = [value * (letter == where) for letter in pattern]
            writer.add_array(f"{arch}.{key}", value)
        else:
            writer.add_uint32(f"{arch}.{key}", value)
    found = from_gguf(closed(tmp_path / "it.gguf", writer, listed))
    assert found.parameters.si == model.parameters.si - model.vision
    assert found.parameters.si == sum(math.prod(shape) for _, shape, _ in listed)
    assert found.kv_bytes(9000, "bf16").si == model.kv_bytes(9000, "bf16").si
    moved = models.operations(found, "decode", context=9, batch=2)
    total = sum(op.weight_bytes for op in moved)
    assert total == pytest.approx(found.read_bytes(2).si, rel=1e-9)


def test_a_hybrid_without_an_entry_a_layer_is_refused_by_key(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "it.gguf", "nemotron_h")
    for key in list(WRITTEN)[:7]:
        writer.add_uint32(f"nemotron_h.{key}", 8)
    path = closed(tmp_path / "it.gguf", writer, [("token_embd.weight", (32, 8), 0)])
    with pytest.raises(models.ConfigError, match=r"feed_forward_length = 8: an entry"):
        from_gguf(path)


def test_a_list_of_a_file_equals_what_it_holds():
    found = Listed(bytes([1, 2, 3]), "<", "Q", 0, 3, 0)
    found.end = 3
    assert found == [1, 2, 3] and found != [1, 2, 4] and found != [1, 2]
