"""Small folders as Hugging Face releases them, their numbers drawn."""

import json
from pathlib import Path

import numpy as np

SIZES = {
    "vocab_size": 160,
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "hidden_act": "silu",
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500_000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
# type, what its config says besides, type of its numbers, files
FOLDERS = {
    "llama": ("llama", {"rope_parameters": LLAMA3, "attention_bias": True}, "BF16", 3),
    "tied": ("llama", {"tie_word_embeddings": True, "rope_theta": 1e4}, "F16", 1),
    "mistral": ("mistral", {"sliding_window": None, "head_dim": 16}, "F32", 1),
    "qwen2": ("qwen2", {"rope_theta": 1e6, "use_sliding_window": False}, "BF16", 1),
    "qwen3": ("qwen3", {"head_dim": 64, "tie_word_embeddings": True}, "BF16", 1),
}


def tensors(name, seed=0, **config):
    """Every tensor of a folder, in fp32 that its type holds exactly."""
    kind, besides, form, _ = FOLDERS[name]
    c = {**SIZES, **besides, **config}
    wide, inner = c["hidden_size"], c["intermediate_size"]
    head = c.get("head_dim") or wide // c["num_attention_heads"]
    queries, keys = head * c["num_attention_heads"], head * c["num_key_value_heads"]
    found = {"model.embed_tokens.weight": (c["vocab_size"], wide)}
    for layer in range(c["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        for part, shape in {
            "self_attn.q_proj": (queries, wide),
            "self_attn.k_proj": (keys, wide),
            "self_attn.v_proj": (keys, wide),
            "self_attn.o_proj": (wide, queries),
            "mlp.gate_proj": (inner, wide),
            "mlp.up_proj": (inner, wide),
            "mlp.down_proj": (wide, inner),
            "input_layernorm": (wide,),
            "post_attention_layernorm": (wide,),
        }.items():
            found[f"{at}{part}.weight"] = shape
            short = part.removeprefix("self_attn.")[:1]
            everywhere = c.get("attention_bias") and "attn" in part
            if everywhere or (kind == "qwen2" and short in "qkv" and "attn" in part):
                found[f"{at}{part}.bias"] = shape[:1]
        if kind == "qwen3":
            found[f"{at}self_attn.q_norm.weight"] = (head,)
            found[f"{at}self_attn.k_norm.weight"] = (head,)
    found["model.norm.weight"] = (wide,)
    if not c.get("tie_word_embeddings"):
        found["lm_head.weight"] = (c["vocab_size"], wide)
    draw = np.random.default_rng(seed)
    made = {}
    for key, shape in found.items():
        numbers = draw.integers(-127, 128, shape).astype(np.float32) / 1024
        made[key] = numbers + 1 if "norm" in key else numbers
    if form == "BF16":
        for key, x in made.items():
            made[key] = (x.view(np.uint32) & 0xFFFF0000).view(np.float32)
    return made


def raw(x, form):
    """The bytes of numbers in a type."""
    if form == "BF16":
        return (x.view(np.uint32) >> 16).astype("<u2").tobytes()
    return x.astype({"F16": "<f2", "F32": "<f4", "F8_E4M3": "u1"}[form]).tobytes()


def write_file(path, named, form):
    """One safetensors file."""
    head, data = {}, b""
    for name, x in named.items():
        part = raw(x, form)
        place = [len(data), len(data) + len(part)]
        head[name] = {"dtype": form, "shape": [*x.shape], "data_offsets": place}
        data += part
    text = json.dumps(head).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def folder(path: Path, name: str, **config) -> Path:
    """A folder with its config and its files; ``config`` is said besides."""
    kind, besides, form, files = FOLDERS[name]
    path.mkdir()
    architecture = kind.capitalize() + "ForCausalLM"
    told = {"model_type": kind, "architectures": [architecture], **SIZES, **besides}
    (path / "config.json").write_text(json.dumps({**told, **config}))
    named = tensors(name)
    if files == 1:
        write_file(path / "model.safetensors", named, form)
        return path
    places = {}
    for n in range(files):
        shard = f"model-{n + 1:05}-of-{files:05}.safetensors"
        part = dict([*named.items()][n::files])
        write_file(path / shard, part, form)
        places |= dict.fromkeys(part, shard)
    index = {"metadata": {}, "weight_map": places}
    (path / "model.safetensors.index.json").write_text(json.dumps(index))
    return path
