"""Model types: how each departs from Llama's layer. A type is a row.

Names, defaults and shapes are those of the configuration and modeling files of
Hugging Face transformers 5.23; types marked *remote* are described by code that
ships with the release. A test holds every row to counts taken from those files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

# field -> the other names configs give it
ALIASES: dict[str, tuple[str, ...]] = {
    "hidden_size": ("n_embd", "n_embed", "d_model"),
    "num_hidden_layers": ("n_layer", "num_layers"),
    "num_attention_heads": ("n_head", "num_heads"),
    "num_key_value_heads": ("num_kv_heads", "n_head_kv"),
    "intermediate_size": ("n_inner", "ffn_dim", "ffn_hidden_size"),
    "max_position_embeddings": ("n_positions", "seq_length"),
    "n_routed_experts": ("num_experts", "num_local_experts"),
    "head_dim": ("attention_head_dim",),
    "num_experts_per_tok": ("experts_per_token", "top_k_experts"),
    "sliding_window_pattern": ("_sliding_window_pattern",),
}


@dataclass(frozen=True, slots=True)
class Kind:
    """One ``model_type``."""

    defaults: Mapping[str, Any] = field(default_factory=dict)
    # Vectors of one norm: RMSNorm 1, LayerNorm with bias 2, without weights 0.
    norm: int = 1
    norms: int = 2
    # Whether there are biases, or the flag that says so.
    qkv_bias: bool | str = False
    out_bias: bool | str = False
    mlp_bias: bool | str = False
    head_bias: bool | str = False
    qk_norm: str = ""  # norms of queries and keys, as ``Attention`` has it
    qk_flag: str = ""  # the flag that switches those norms; empty: always
    gated: bool = True  # whether the MLP has a gate
    # MLP size in hidden sizes where the config may leave it out; 0: it may not.
    wide: int = 0
    kv_optional: bool = False  # whether an absent number of KV heads means all heads
    # The rule for sliding windows, see `attention_fields`; empty: none.
    window: str = ""
    # Rows a learned position table has beyond the context; -1: no table.
    positions: int = -1
    embedding_norm: bool = False  # whether a norm follows the embedding
    sinks: bool = False  # attention sinks
    # How layers with experts are found: all, step, first, listed; empty: dense.
    experts: str = ""
    # Fields with the size of one expert and of all shared experts together.
    expert_size: str = "moe_intermediate_size"
    shared_size: str = ""  # of all shared experts together
    # A bool, or noaux_tc, the method that has one.
    router_bias: bool | str = False
    mlp: bool = True  # whether layers have one
    dense_size: str = "intermediate_size"  # of layers without experts
    gate: bool = False  # whether attention has an output gate
    parallel_flag: str = ""  # the flag of a parallel layer that has only one norm
    # Flags that change parameters in a way not counted: name to harmless value.
    refuse: Mapping[str, Any] = field(default_factory=dict)
    latent_size: str = ""  # the field with the size in which experts work
    indexed: bool = False  # whether an indexer picks the tokens seen
    # The reader of the attention: grouped, latent, falcon, bigcode, compressed, delta,
    # lightning, mamba2; or of whole layers, see `layered_fields`.
    build: str = "grouped"


_TIED = {"tie_word_embeddings": True}
_ALL_BIASES: dict[str, Any] = {"qkv_bias": True, "out_bias": True, "mlp_bias": True}
_ATTENTION_BIAS: dict[str, Any] = {
    "qkv_bias": "attention_bias",
    "out_bias": "attention_bias",
}

_LLAMA = Kind(**_ATTENTION_BIAS, mlp_bias="mlp_bias", kv_optional=True)
_GEMMA = Kind(
    **_ATTENTION_BIAS,
    defaults={**_TIED, "head_dim": 256},
)
_GEMMA2 = replace(
    _GEMMA,
    norms=4,
    window="every 2",
    defaults={**_GEMMA.defaults, "sliding_window": 4096},
)
_GEMMA3 = replace(
    _GEMMA2,
    window="every 6",
    qk_norm="head",
    defaults={  # google/gemma-3-4b-it leaves most of these out
        **_GEMMA2.defaults,
        "vocab_size": 262208,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "max_position_embeddings": 131072,
    },
)
_QWEN2 = Kind(qkv_bias=True, window="qwen", defaults={"sliding_window": 4096})
_QWEN3 = Kind(
    **_ATTENTION_BIAS,
    qk_norm="head",
    window="qwen",
    defaults={"head_dim": 128, "sliding_window": 4096},
)
_OLMO = Kind(**_ATTENTION_BIAS, kv_optional=True)
_LAYER_NORM = Kind(norm=2, gated=False)
_GPT2 = replace(
    _LAYER_NORM, **_ALL_BIASES, wide=4, positions=0, kv_optional=True, defaults=_TIED
)
_COHERE = Kind(
    **_ATTENTION_BIAS,
    norms=1,
    qk_norm="full",
    qk_flag="use_qk_norm",
    kv_optional=True,
    defaults=_TIED,
)
_GLM = Kind(
    qkv_bias="attention_bias", defaults={"attention_bias": True, "head_dim": 128}
)
_DEEPSEEK = Kind(
    experts="first",
    shared_size="n_shared_experts",
    refuse={"attention_bias": False, "mlp_bias": False},
    kv_optional=True,
)
_NO_DENSE = {"first_k_dense_replace": 0}
_DEEPSEEK3 = replace(_DEEPSEEK, build="latent", router_bias="noaux_tc")
_QWEN3_NEXT = replace(
    _QWEN3,
    build="delta",
    window="",
    gate=True,
    experts="step",
    shared_size="shared_expert_intermediate_size",
    defaults={"head_dim": 256},
)

KINDS: dict[str, Kind] = {
    # Llama's layer, and small departures from it
    "llama": _LLAMA,
    "mistral": Kind(window="all", defaults={"sliding_window": 4096}),
    "ministral3": Kind(window="all", defaults={"head_dim": 128}),
    "granite": _LLAMA,
    "helium": Kind(
        qkv_bias="attention_bias", mlp_bias="mlp_bias", defaults={"head_dim": 128}
    ),
    "ernie4_5": Kind(
        qkv_bias="use_bias",
        out_bias="use_bias",
        mlp_bias="use_bias",
        defaults={**_TIED, "head_dim": 128},
    ),
    "exaone4": Kind(
        qk_norm="head", window="every 4", defaults={"sliding_window": 4096}
    ),
    "smollm3": replace(_LLAMA, kv_optional=False, window="refused", defaults=_TIED),
    "seed_oss": Kind(
        qkv_bias="attention_bias",
        out_bias="attention_out_bias",
        mlp_bias="mlp_bias",
        defaults={"attention_bias": True, "head_dim": 128},
    ),
    "arcee": replace(_LLAMA, gated=False),
    "internlm2": Kind(qkv_bias="bias", out_bias="bias", kv_optional=True),  # remote
    "qwen2": _QWEN2,
    "mimo": replace(_QWEN2, refuse={"attention_bias": True}),  # remote
    "qwen3": _QWEN3,
    "phi3": Kind(window="all", kv_optional=True),
    "gemma": _GEMMA,
    "gemma2": _GEMMA2,
    "gemma3_text": _GEMMA3,
    "olmo": replace(_OLMO, norm=0),
    "olmo2": replace(_OLMO, qk_norm="full"),
    "olmo3": replace(
        _OLMO, qk_norm="full", window="every 4", defaults={"sliding_window": 4096}
    ),
    "cohere": _COHERE,
    "cohere2": replace(
        _COHERE,
        qk_norm="",
        qk_flag="",
        window="every 4",
        defaults={**_TIED, "sliding_window": 4096},
    ),
    "glm": _GLM,
    "glm4": replace(_GLM, norms=4),
    # LayerNorm with bias, plain MLP
    "nemotron": replace(
        _LAYER_NORM, **_ATTENTION_BIAS, mlp_bias="mlp_bias", kv_optional=True
    ),
    "starcoder2": replace(
        _LAYER_NORM,
        qkv_bias="use_bias",
        out_bias="use_bias",
        mlp_bias="use_bias",
        window="all",
        defaults={**_TIED, "use_bias": True},
    ),
    "stablelm": Kind(
        norm=2,
        qkv_bias="use_qkv_bias",
        parallel_flag="use_parallel_residual",
        refuse={"qk_layernorm": False},
    ),
    "phi": replace(
        _LAYER_NORM,
        **_ALL_BIASES,
        head_bias=True,
        norms=1,
        kv_optional=True,
        refuse={"qk_layernorm": False},
    ),
    "gpt_neox": replace(
        _LAYER_NORM,
        qkv_bias="attention_bias",
        out_bias="attention_bias",
        mlp_bias=True,
        kv_optional=True,
        defaults={"attention_bias": True},
    ),
    "gptj": replace(
        _LAYER_NORM, norms=1, mlp_bias=True, head_bias=True, wide=4, kv_optional=True
    ),
    "gpt2": _GPT2,
    "gpt_bigcode": replace(_GPT2, build="bigcode"),
    "opt": replace(
        _GPT2,
        wide=0,
        positions=2,
        refuse={
            "do_layer_norm_before": True,
            "enable_bias": True,
            "layer_norm_elementwise_affine": True,
            "_remove_final_layer_norm": False,
        },
    ),
    "bloom": replace(
        _GPT2,
        positions=-1,
        embedding_norm=True,
        defaults={**_TIED, "max_position_embeddings": 2048},
    ),
    "falcon": replace(
        _LAYER_NORM,
        qkv_bias="bias",
        out_bias="bias",
        mlp_bias="bias",
        wide=4,
        build="falcon",
        defaults={
            **_TIED,
            "multi_query": True,
            "parallel_attn": True,
            "max_position_embeddings": 2048,
        },
    ),
    # mixtures of experts
    "mixtral": Kind(window="all", experts="all", expert_size="intermediate_size"),
    "phimoe": Kind(
        **_ATTENTION_BIAS,
        norm=2,
        head_bias="lm_head_bias",
        window="all",
        experts="all",
        expert_size="intermediate_size",
    ),
    "granitemoe": replace(
        _LLAMA, mlp_bias=False, experts="all", expert_size="intermediate_size"
    ),
    "olmoe": replace(
        _OLMO, qk_norm="full", experts="all", expert_size="intermediate_size"
    ),
    "qwen2_moe": replace(
        _QWEN2,
        qkv_bias="qkv_bias",
        window="refused",
        experts="step",
        shared_size="shared_expert_intermediate_size",
        defaults={"qkv_bias": True},
    ),
    "qwen3_moe": replace(_QWEN3, window="qwen all", experts="step", defaults={}),
    "gpt_oss": Kind(
        **_ATTENTION_BIAS,
        window="every 2",
        sinks=True,
        experts="all",
        expert_size="intermediate_size",
        router_bias=True,
        defaults={"attention_bias": True, "head_dim": 64, "sliding_window": 128},
    ),
    "deepseek": replace(_DEEPSEEK, defaults=_NO_DENSE),  # remote
    "deepseek_v2": replace(_DEEPSEEK, build="latent", defaults=_NO_DENSE),
    "deepseek_v3": _DEEPSEEK3,
    "kimi_k2": _DEEPSEEK3,  # remote: DeepSeek-V3 under another name
    "glm4_moe_lite": _DEEPSEEK3,
    "deepseek_v32": replace(_DEEPSEEK3, indexed=True),
    "glm_moe_dsa": replace(_DEEPSEEK3, indexed=True),
    "glm4_moe": replace(
        _DEEPSEEK,
        qkv_bias="attention_bias",
        qk_norm="head",
        qk_flag="use_qk_norm",
        router_bias=True,
        kv_optional=False,
        refuse={"mlp_bias": False},
    ),
    "dots1": replace(
        _DEEPSEEK,
        **_ATTENTION_BIAS,
        qk_norm="head",
        router_bias=True,
        window="dots",
        refuse={"mlp_bias": False},
    ),
    "llama4_text": replace(
        _LLAMA,
        mlp_bias=False,
        window="chunks",
        experts="listed",
        expert_size="intermediate_size",
        shared_size="intermediate_size",
        dense_size="intermediate_size_mlp",
        defaults={"head_dim": 128},
    ),
    "minimax_m2": Kind(
        qk_norm="full",
        experts="all",
        expert_size="intermediate_size",
        router_bias=True,
        refuse={"shared_intermediate_size": 0, "qk_norm_type": "per_layer"},
    ),
    "minimax_m3": Kind(
        build="best blocks",
        qk_norm="head",
        experts="first",
        expert_size="intermediate_size",
        shared_size="shared_intermediate_size",
        dense_size="dense_intermediate_size",
        router_bias=True,
    ),
    "mimo_v2_flash": Kind(
        qkv_bias="attention_bias",
        build="two shapes",
        experts="first",
        router_bias="noaux_tc",
        refuse={"mlp_bias": False},
    ),
    # layers of several kinds
    "gemma4_text": Kind(
        **_ATTENTION_BIAS,
        build="gemma4",
        norms=4,
        qk_norm="head",
        window="every 6",
        defaults={**_TIED, "head_dim": 256, "sliding_window": 512},
    ),
    "nemotron_h": Kind(
        build="hybrid",
        gated=False,
        shared_size="moe_shared_expert_intermediate_size",
        latent_size="moe_latent_size",
        router_bias=True,
        refuse={"mamba_proj_bias": False},
    ),
    "nemotron-nas": Kind(**_ATTENTION_BIAS, build="searched"),  # remote
    # softmax attention in some layers, a recurrent state in the others
    "qwen3_next": _QWEN3_NEXT,
    "qwen3_5_text": replace(_QWEN3_NEXT, experts="", shared_size=""),
    "qwen3_5_moe_text": _QWEN3_NEXT,
    "minimax": Kind(
        build="lightning",
        kv_optional=True,
        experts="all",
        expert_size="intermediate_size",
        refuse={"shared_intermediate_size": 0},
    ),
    "mamba2": Kind(
        build="mamba2", norms=1, mlp=False, defaults={"max_position_embeddings": 0}
    ),
    "deepseek_v4": replace(
        _DEEPSEEK,
        build="compressed",
        experts="all",
        router_bias="hash",
        refuse={"attention_bias": False, "mlp_bias": False, "num_key_value_heads": 1},
    ),
}

# names some releases were first published under
RENAMED = {
    "RefinedWebModel": "falcon",
    "RefinedWeb": "falcon",
    "minimax_text_01": "minimax",
    "minimax_m1": "minimax",
    "qwen2_vl_text": "qwen2",
    "qwen2_5_vl_text": "qwen2",
    "qwen3_vl_text": "qwen3",
    "qwen3_vl_moe_text": "qwen3_moe",
    "minimax_m3_vl_text": "minimax_m3",
    "deepseek_ref": "deepseek_v4",
}

# Types whose text part is counted: each with the type of a text part that names none.
# Vision is left out, except in Gemma 3.
MULTIMODAL = {
    "gemma3": "gemma3_text",
    "gemma4": "gemma4_text",
    "kimi_k25": "kimi_k2",
    "minimax_m3_vl": "minimax_m3_vl_text",
    "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
    "llama4": "llama4_text",
    "llava": "llama",
    "mistral3": "mistral",
    "qwen2_vl": "qwen2_vl_text",
    "qwen2_5_vl": "qwen2_5_vl_text",
    "qwen3_vl": "qwen3_vl_text",
    "qwen3_vl_moe": "qwen3_vl_moe_text",
}

# fields that change parameters in some type; refused where a type does not read them
STRUCTURAL = (
    r"expert|moe|lora|mamba|ssm|^(linear|global|index|hc|ssm|conv|swa|sparse)_|altup"
    r"|laurel|vision|audio|cross_attention|adapter|mtp|nextn|_rank$|(^|_)bias$"
    r"|qk_(layer)?norm|qk_ln|kv_shared|per_layer_|block_configs|pruned_heads"
    r"|embed_proj|elementwise_affine|^is_encoder_decoder$|^(text|llm)_config$"
    r"|head_dim$|attn_config|double_wide|attention_k_eq_v|^bias$|multi_query"
    r"|compress_rat|^n_inner$|^ffn_|mlp_only|layer_types$|first_k_dense|embedding_size"
    r"|indexer_types|attn_type_list|_pattern$|block_type$|output_gate$|sink|_freq$"
)
# endings of fields that name a format, a function or a token, or weigh a loss
UNCOUNTED = r"(_dtype|_act|_activation_func|_token_id|_token_index|_loss_coef|_theta)$"
HARMLESS = frozenset(
    "boi_token_index eoi_token_index mm_tokens_per_image qk_head_dim hc_eps "
    "hc_sinkhorn_iters vision_feature_layer vision_feature_select_strategy "
    "full_attn_alpha_factor full_attn_beta_factor shared_moe_mode use_mamba_kernels "
    "moe_shared_expert_overlap indexer_rope_interleave vision_soft_tokens_per_image "
    "language_model_only use_unified_vision_chunk norm_topk_prob "
    "moe_router_scaling_factor vision_segment_max_frames".split()
)
