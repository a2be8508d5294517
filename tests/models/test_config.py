"""Configs nobody vouches for: an error that names the field, and quickly."""

import json
import math
import time
from collections import UserDict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.models import ConfigError, LanguageModel, from_hf_config
from stacklib.models.rows import config_of

from ..rows import refusals

HERE = Path(__file__).parent
LIBRARY = json.loads((HERE / "transformers_counts.json").read_text())
RELEASES = json.loads((HERE / "releases.json").read_text())
CONFIGS = [case["config"] for case in LIBRARY["parameters"]]
# types of which the released configs alone are kept
NEW = [entry["config"] for entry in RELEASES.values() if "source" in entry]
NEW += [config_of(key) for key in ("gemma-4-e2b", "gemma-4-26b-a4b", "deepseek-v3.2")]
NEW += [config_of(key) for key in ("kimi-k2.5", "llama-4-scout", "qwen3.5-35b-a3b")]
NEW += [config_of("mistral-small-3.1-24b")]
CONFIGS += NEW
LLAMA = {
    "model_type": "llama",
    "vocab_size": 128256,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 8192,
    "tie_word_embeddings": False,
}
LLAMA_TEXT = json.dumps(LLAMA).encode()
DEEP: list = []
for _ in range(50_000):
    DEEP = [DEEP]


def of(kind):
    return next(c for c in CONFIGS if c["model_type"] == kind)


test_bad_config_names_the_field = refusals(
    ({"hidden_size": None}, "lacks 'hidden_size'"),
    ({"hidden_size": "4096"}, "hidden_size = '4096'"),
    ({"hidden_size": 4096.0}, "hidden_size = 4096.0"),
    ({"hidden_size": math.nan}, "hidden_size = nan"),
    ({"hidden_size": math.inf}, "hidden_size = inf"),
    ({"hidden_size": True}, "hidden_size = True"),
    ({"hidden_size": [4096]}, r"hidden_size = \[4096\]"),
    ({"hidden_size": {}}, r"hidden_size = \{\}"),
    ({"hidden_size": DEEP}, "hidden_size = "),
    ({"hidden_size": -1}, "hidden_size = -1"),
    ({"hidden_size": 10**30}, "not between 1 and"),
    ({"hidden_size": 10**9999}, "hidden_size = "),
    ({"num_hidden_layers": 0}, "num_hidden_layers = 0"),
    ({"num_hidden_layers": 10**8}, "num_hidden_layers = 100000000: not between"),
    ({"num_key_value_heads": 7}, "no multiple of num_key_value_heads = 7"),
    ({"hidden_size": 4097}, "no multiple of num_attention_heads"),
    ({"model_type": "mamba"}, "'mamba' is not supported"),
    ({"model_type": None}, "model_type = None"),
    ({"model_type": ["llama"]}, r"model_type = \['llama'\]"),
    ({"tie_word_embeddings": "no"}, "tie_word_embeddings = 'no'"),
    ({"tie_word_embeddings": 1}, "tie_word_embeddings = 1"),
    ({"mlp_bias": "yes"}, "mlp_bias = 'yes'"),
    ({"num_kv_heads": 4}, "num_key_value_heads = 8 and num_kv_heads = 4 disagree"),
    # what changes the parameters of other types is not passed over here
    ({"num_experts": 8}, "num_experts = 8"),
    ({"q_lora_rank": 512}, "q_lora_rank = 512"),
    ({"use_qk_norm": True}, "use_qk_norm = True"),
    ({"lm_head_bias": True}, "lm_head_bias = True"),
    ({"vision_config": {"hidden_size": 1}}, "vision_config = "),
    ({"sliding_window": 4096}, "sliding_window = 4096"),
    ({"layer_types": ["full_attention"]}, "layer_types has 1 entries for 32"),
    ({"layer_types": ["linear"] * 32}, "layer_types has 'linear'"),
    ({"layer_types": ["sliding_attention"] * 32}, "no window size"),
    ({"layer_types": "full"}, "layer_types = 'full': a list"),
    by=lambda change: from_hf_config({**LLAMA, **change}),
    error=ConfigError,
)


@pytest.mark.rows(
    "kind, change, message",
    [
        ("mixtral", {"num_experts_per_tok": 9}, "num_experts_per_tok = 9 of 8"),
        ("mixtral", {"num_local_experts": None}, "lacks 'n_routed_experts'"),
        ("mixtral", {"num_key_value_heads": ...}, "lacks 'num_key_value_heads'"),
        ("qwen2_moe", {"mlp_only_layers": [99]}, "mlp_only_layers has 99"),
        ("qwen2_moe", {"mlp_only_layers": [True]}, "mlp_only_layers has True"),
        ("qwen2_moe", {"use_sliding_window": True, "sliding_window": 8}, "layer_types"),
        ("deepseek_v3", {"kv_lora_rank": None}, "lacks 'kv_lora_rank'"),
        ("deepseek_v3", {"q_lora_rank": ...}, "lacks 'q_lora_rank'"),
        ("deepseek_v3", {"n_shared_experts": ...}, "lacks 'n_shared_experts'"),
        ("deepseek_v3", {"first_k_dense_replace": ...}, "lacks 'first_k_dense"),
        ("deepseek_v3", {"topk_method": "mine"}, "topk_method = 'mine'"),
        ("deepseek_v3", {"attention_bias": True}, "attention_bias = True"),
        ("deepseek_v4", {"compress_ratios": [0, 0, 4]}, "has 3 entries for 5"),
        ("deepseek_v4", {"compress_ratios": [0, 0, 4, 128, 8]}, "has 8; supported"),
        ("deepseek_v4", {"o_groups": 7}, "o_groups = 7"),
        ("phi", {"qk_layernorm": True}, "qk_layernorm = True"),
        ("opt", {"do_layer_norm_before": False}, "do_layer_norm_before = False"),
        ("opt", {"word_embed_proj_dim": 8}, "word_embed_proj_dim"),
        ("smollm3", {"use_sliding_window": True, "sliding_window": 8}, "layer_types"),
        ("gemma3", {"text_config": None}, "lacks 'text_config'"),
        ("gemma3", {"text_config": 7}, "text_config = 7"),
        ("gemma3", {"text_config": {"hidden_size": "x"}}, "text_config.hidden_size"),
        ("gemma3", {"vision_config": {"model_type": "clip"}}, "vision_config.model"),
        ("gpt_oss", {"layer_types": ["chunked_attention"] * 5}, "chunked_attention"),
    ],
)
def test_bad_fields_of_other_types_are_named(kind, change, message):
    config = {**of(kind), **change}
    config = {name: value for name, value in config.items() if value is not ...}
    with pytest.raises(ConfigError, match=message):
        from_hf_config(config)


MIMO, SUPER, NAS = (
    RELEASES[name]["config"]
    for name in ("MiMo-V2-Flash", "Nemotron-3-Super", "Nemotron-Super-49B")
)
BLOCKS = NAS["block_configs"]
M3, GLM = RELEASES["MiniMax-M3"]["config"], RELEASES["GLM-5.2"]["config"]
SPARSE = M3["text_config"]["sparse_attention_config"]
GEMMA, KIMI = config_of("gemma-4-e2b"), config_of("kimi-k2.5")
NEXT, SCOUT = config_of("qwen3-next-80b-a3b"), config_of("llama-4-scout")


FULL = {f"{layer:02}": {"head_dim": 512} for layer in range(4, 35, 5)}


def put(config, path, value):
    """The config with one value changed, or left out where that is an ellipsis."""
    first, *rest = path.split("/")
    if rest:
        return {**config, first: put(config[first], "/".join(rest), value)}
    kept = {name: old for name, old in config.items() if name != first}
    return kept if value is ... else {**kept, first: value}


def blocks(path, value):
    return [put(BLOCKS[0], path, value)] * 80


@pytest.mark.rows(
    "config, path, value, message",
    [
        (SUPER, "hybrid_override_pattern", "MEX", "hybrid_override_pattern = 'MEX'"),
        (SUPER, "hybrid_override_pattern", ..., "hybrid_override_pattern = None"),
        (SUPER, "layers_block_type", ["mamba", "lstm"], "has 'lstm'; supported"),
        (SUPER, "layers_block_type", ["mamba", 3], "layers_block_type has 3"),
        (SUPER, "num_hidden_layers", 87, "87, but 88 layers are named"),
        (SUPER, "mamba_num_heads", "128", "mamba_num_heads = '128'"),
        (SUPER, "moe_latent_size", -1, "moe_latent_size = -1"),
        (SUPER, "num_experts_per_tok", 513, "num_experts_per_tok = 513 of 512"),
        (SUPER, "mamba_new_gate", 2, "mamba_new_gate = 2 is not known"),
        (NAS, "block_configs", BLOCKS[:79], "one for each of 80 layers"),
        (NAS, "block_configs", [*BLOCKS[:79], 7], r"block_configs\[79\].attention"),
        (
            NAS,
            "block_configs",
            blocks("attention/n_heads_in_group", 7),
            r"block_configs\[0\]: n_heads_in_group = 7 of 64",
        ),
        (
            NAS,
            "block_configs",
            blocks("ffn/ffn_mult", math.nan),
            r"block_configs\[0\].ffn.ffn_mult = nan",
        ),
        (
            NAS,
            "block_configs",
            blocks("ffn/experts", 8),
            r"block_configs\[0\].ffn.experts = 8",
        ),
        (GEMMA, "text_config/num_kv_shared_layers", 36, "num_kv_shared_layers = 36"),
        (GEMMA, "text_config/num_kv_shared_layers", 31, "a kind has no lender"),
        (GEMMA, "text_config/layer_types", ["linear"] * 35, "has 'linear'"),
        (GEMMA, "text_config/global_head_dim", 0, "global_head_dim = 0"),
        (GEMMA, "text_config/per_layer_config", {"04": {"head_dim": 9}}, "not alike"),
        (GEMMA, "text_config/per_layer_config", FULL | {"34": {}}, "not alike"),
        (GEMMA, "text_config/laurel_rank", 64, "text_config.laurel_rank = 64"),
        (GEMMA, "vision_config/head_dim", None, "lacks 'vision_config.head_dim'"),
        (GEMMA, "audio_config/subsampling_conv_channels", ["a", 1], "two whole"),
        (MIMO, "hybrid_layer_pattern", [0, 1] * 23, "has 46 entries for 48"),
        (MIMO, "hybrid_layer_pattern", [2] * 48, "hybrid_layer_pattern has 2"),
        (MIMO, "hybrid_layer_pattern", ..., "lacks 'hybrid_layer_pattern'"),
        (MIMO, "swa_num_key_value_heads", 7, "swa_num_key_value_heads = 7 of 64"),
        (MIMO, "moe_layer_freq", [1], "moe_layer_freq has 1 entries for 48"),
        (
            M3,
            "text_config/sparse_attention_config",
            put(SPARSE, "sparse_disable_index_value", [0] * 60),
            "has 0 where one picks",
        ),
        (M3, "text_config/use_qk_norm", False, "use_qk_norm = False"),
        (M3, "text_config/use_routing_bias", False, "use_routing_bias = False"),
        (M3, "text_config/moe_intermediate_size", 7, "moe_intermediate_size = 7"),
        (GLM, "indexer_types", ["shared"] * 78, "no choice to share"),
        (GLM, "indexer_types", ["full"] * 77, "has 77 entries for 78"),
        (GLM, "index_topk", None, "lacks 'index_topk'"),
        (KIMI, "text_config/model_type", "llama", "text_config.model_type = 'llama'"),
        (KIMI, "vision_config/merge_kernel_size", [3, 3], "only \\[2, 2\\] is counted"),
        (NEXT, "attn_output_gate", False, "attn_output_gate = False"),
        (NEXT, "layer_types", ["full_attention"] * 47, "has 47 entries for 48"),
        (SCOUT, "vision_config/image_size", 337, "image_size = 337 by patch_size = 14"),
        (SCOUT, "llm_config", {"hidden_size": 8}, "llm_config = "),
    ],
)
def test_bad_fields_of_released_configs_are_named(config, path, value, message):
    from_hf_config(config)
    with pytest.raises(ConfigError, match=message):
        from_hf_config(put(config, path, value))


@pytest.mark.rows(
    "config, path, value",
    [  # facts that the type always has, other spellings, and what no count reads
        (LLAMA, "max_position_embeddings", ...),
        (LLAMA, "rope_parameters", {"rope_type": "default", "rope_theta": 5e5}),
        (LLAMA, "attn_type_list", [1] * 32),
        (NEXT, "use_qk_norm", True),
        (NEXT, "attn_output_gate", True),
        (SUPER, "time_step_limit", [0.0, math.inf]),
        (SUPER, "mamba_ssm_cache_dtype", "float32"),
        (GEMMA, "text_config/per_layer_config", FULL),
        (GLM, "indexer_types", None),
        (GLM, "index_topk_pattern", "FFF" + "SSSF" * 18 + "SSS"),
        (GLM, "layer_types", ["deepseek_sparse_attention"] * 78),
        (M3, "text_config/use_routing_bias", True),
        (M3, "text_config/use_qk_norm", None),
    ],
)
def test_what_changes_no_count_is_no_reason_to_refuse(config, path, value):
    plain, told = from_hf_config(config), from_hf_config(put(config, path, value))
    assert told.parameters.si == plain.parameters.si and told.kinds == plain.kinds


@pytest.mark.rows("config", [7, None, ["llama"], b"config.json", DEEP])
def test_what_is_neither_path_nor_dict_is_refused(config):
    with pytest.raises(ConfigError, match="a path or a dict is needed"):
        from_hf_config(config)


# fields of real releases that say nothing about the parameters
BYSTANDERS = {
    "llama": {
        "architectures": ["LlamaForCausalLM"], "bos_token_id": 128000,
        "eos_token_id": [128001, 128009], "hidden_act": "silu", "pretraining_tp": 1,
        "rope_scaling": {"factor": 8.0, "rope_type": "llama3"}, "rope_theta": 5e5,
        "torch_dtype": "bfloat16", "transformers_version": "4.43.0", "use_cache": True,
        "rms_norm_eps": 1e-05, "attention_dropout": 0.0, "initializer_range": 0.02,
        "_name_or_path": "meta-llama/Llama-3.1-8B", "num_experts": None,
        "rope_parameters": {"rope_theta": 5e5, "rope_type": "default"},
    },
    "deepseek_v3": {
        "auto_map": {"AutoConfig": "configuration_deepseek.DeepseekV3Config"},
        "ep_size": 1, "scoring_func": "sigmoid", "aux_loss_alpha": 0.001,
        "seq_aux": True, "routed_scaling_factor": 2.5, "norm_topk_prob": True,
        "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
        "rope_scaling": {"beta_fast": 32, "type": "yarn"}, "moe_layer_freq": 1,
    },
    "deepseek_v4": {
        "hc_eps": 1e-6, "hc_sinkhorn_iters": 20, "compress_rope_theta": 160000,
        "qk_rope_head_dim": 64, "scoring_func": "sqrtsoftplus", "swiglu_limit": 10.0,
        "topk_method": "noaux_tc", "expert_dtype": "fp4", "attention_bias": False,
        "compress_rope_parameters": {"rope_type": "yarn"}, "mlp_bias": False,
        "kv_lora_rank": None, "first_k_dense_replace": 2, "intermediate_size": 32,
    },
    "gpt_oss": {
        "experts_per_token": 2, "initial_context_length": 4096, "swiglu_limit": 7.0,
        "output_router_logits": False, "router_aux_loss_coef": 0.9,
        "quantization_config": {"quant_method": "mxfp4"}, "rope_theta": 150000,
    },
    "phi3": {
        "embd_pdrop": 0.0, "resid_pdrop": 0.0, "partial_rotary_factor": 1.0,
        "original_max_position_embeddings": 4096, "attention_bias": False,
        "mlp_bias": False, "lm_head_bias": False, "full_attn_mod": 1,
    },
    "gemma2": {
        "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0,
        "query_pre_attn_scalar": 256, "cache_implementation": "hybrid",
        "hidden_activation": "gelu_pytorch_tanh", "sliding_window_size": 4096,
    },
    "gemma3": {
        "boi_token_index": 255999, "eoi_token_index": 256000,
        "image_token_index": 262144, "mm_tokens_per_image": 256,
    },
    "falcon": {"alibi": False, "hidden_dropout": 0.0, "apply_residual_connection_post"
               "_layernorm": False},
    "gpt_bigcode": {
        "attention_softmax_in_fp32": True, "inference_runner": 0, "scale_attn_weights":
        True, "summary_type": "cls_index", "validate_runner_input": True,
    },
    "gpt2": {
        "n_ctx": 1024, "task_specific_params": {"text-generation": {"do_sample": True}},
        "summary_proj_to_labels": True, "resid_pdrop": 0.1, "vocab_pad": None,
    },
}  # fmt: skip


@pytest.mark.rows("kind", BYSTANDERS)
def test_fields_that_change_no_parameter_are_passed_over(kind):
    plain = of(kind) if kind != "llama" else LLAMA
    counted = from_hf_config({**plain, **BYSTANDERS[kind]})
    assert counted.parameters.si == from_hf_config(plain).parameters.si
    assert counted.kinds == from_hf_config(plain).kinds


def test_a_layer_whose_parts_are_left_out_has_no_numbers():
    bare = blocks("attention/no_op", True)
    bare = [put(block, "ffn/no_op", True) for block in bare]
    found = from_hf_config(put(NAS, "block_configs", bare))
    assert found.parameters.si == (2 * found.vocab + 1) * found.hidden
    assert from_hf_config({**LLAMA, "vocab_size": 10**9}).vocab == 10**9  # the most


def test_a_mixture_without_sparse_layers_is_dense():
    config = of("deepseek_v3")
    dense = from_hf_config({**config, "first_k_dense_replace": 5})
    assert dense.experts is None and dense.kinds[0].mlp.intermediate == 256
    assert dense.active_parameters.si == dense.parameters.si


class Failing(UserDict):
    def __getitem__(self, key):
        raise RuntimeError("no")


def test_other_mappings_are_read_and_failing_ones_refused():
    assert from_hf_config(UserDict(LLAMA)).layers == 32
    with pytest.raises(ConfigError, match="cannot be read"):
        from_hf_config(Failing(LLAMA))
    with pytest.raises(ConfigError, match="key 7 is not text"):
        from_hf_config({**LLAMA, 7: 1})


@pytest.mark.parametrize(
    "text, message",
    [
        (b"", "not readable JSON"),
        (b"[]", "a JSON object is needed"),
        (b"{", "not readable JSON"),
        (b"[" * 100_000, "not readable JSON: nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"model_type": "llama", }', "not readable JSON"),
        (b"\x00", "not readable JSON"),
        (b"\xff\xfe{}", "not UTF-8"),
        (LLAMA_TEXT.replace(b"4096", b"NaN"), "hidden_size = nan: a whole number"),
        (LLAMA_TEXT.replace(b"4096", b"-Infinity"), "hidden_size = -inf: a whole"),
        (LLAMA_TEXT[:-20], "not readable JSON"),
        (b'{"hidden_size": 1, "hidden_size": 2}', "'hidden_size' is given twice"),
        (b'{"hidden_size": ' + b"9" * 5000 + b"}", "not readable JSON"),
        (b" " * 16_000_001, "larger than"),
    ],
)
def test_hostile_json_is_an_error_not_a_crash(text, message, tmp_path):
    path = tmp_path / "config.json"
    path.write_bytes(text)
    begin = time.process_time()
    with pytest.raises(ConfigError, match=message):
        from_hf_config(path)
    assert time.process_time() - begin < 1


def test_paths_that_are_no_files(tmp_path):
    with pytest.raises(ConfigError, match="No such file"):
        from_hf_config(tmp_path / "absent.json")
    with pytest.raises(ConfigError, match=r"config\.json: No such file"):
        from_hf_config(tmp_path)
    with pytest.raises(ConfigError, match="null"):
        from_hf_config("config\x00.json")
    with pytest.raises(ConfigError, match="too long"):
        from_hf_config("x" * 5000)
    with pytest.raises(ConfigError, match="not a file"):
        from_hf_config("/dev/zero")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=6,
)
FIELDS = sorted({field for config in CONFIGS for field in config} - {"model_type"})


def sane_or_refused(config):
    try:
        model = from_hf_config(config)
    except ConfigError as wrong:
        assert str(wrong) and len(str(wrong)) < 2000
        return
    assert isinstance(model, LanguageModel)
    counts = [
        model.parameters.si,
        model.active_parameters.si,
        model.streamed_parameters.si,
        model.read_parameters(7).si,
        model.weight_bytes("bf16").si,
        model.kv_bytes_per_token("bf16").si or model.state_bytes("bf16").si,
        model.kv_bytes(100, "bf16").si,
    ]
    assert all(math.isfinite(c) and c > 0 for c in counts)
    assert model.active_parameters.si <= model.parameters.si


PLACES = [
    (c, part) for c in NEW for part in ("", *c) if isinstance(c.get(part, c), dict)
]


@given(st.data(), JSON | st.integers(0, 300))
@settings(max_examples=200, deadline=None)
def test_any_change_to_a_released_config_counts_or_names_a_field(data, value):
    """In the text part and in the towers too."""
    config, part = data.draw(st.sampled_from(PLACES))
    fields = sorted(config[part] if part else config)
    field = data.draw(st.sampled_from(fields))
    sane_or_refused(put(config, f"{part}/{field}" if part else field, value))


@given(
    st.sampled_from(CONFIGS),
    st.dictionaries(
        st.sampled_from(FIELDS),
        st.integers(0, 12) | st.integers(1, 10**9) | JSON,
        max_size=3,
    ),
    st.sets(st.sampled_from(FIELDS), max_size=2),
)
@settings(max_examples=300, deadline=None)
def test_any_change_to_a_config_counts_or_names_a_field(config, change, absent):
    config = {**config, **change}
    sane_or_refused({k: v for k, v in config.items() if k not in absent})


@given(st.dictionaries(st.sampled_from(["model_type", *FIELDS]), JSON, max_size=8))
@settings(max_examples=100, deadline=None)
def test_any_dict_counts_or_is_refused(config):
    sane_or_refused(config)
