"""Parameters by counting, and configs from the wild."""

import json

import pytest

from stacklib import models
from stacklib.models import ConfigError, from_hf_config

LLAMA_8B = {
    "model_type": "llama", "vocab_size": 128256, "hidden_size": 4096,
    "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "max_position_embeddings": 8192,
    "tie_word_embeddings": False,
}  # fmt: skip
QWEN_06B = {
    "model_type": "qwen3", "vocab_size": 151936, "hidden_size": 1024,
    "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
    "num_key_value_heads": 8, "head_dim": 128, "max_position_embeddings": 40960,
    "tie_word_embeddings": True,
}  # fmt: skip
QWEN25_7B = {
    "model_type": "qwen2", "vocab_size": 152064, "hidden_size": 3584,
    "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
    "num_key_value_heads": 4, "max_position_embeddings": 32768,
    "tie_word_embeddings": False,
}  # fmt: skip
LLAMA2_7B = {  # multi-head: no num_key_value_heads at all
    "model_type": "llama", "vocab_size": 32000, "hidden_size": 4096,
    "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32,
    "max_position_embeddings": 4096,
}  # fmt: skip


@pytest.mark.parametrize("name", models.names())
def test_counted_parameters_equal_the_published_count(name):
    counted, published = models.get(name).parameters, models.published_parameters(name)
    assert counted.si == published.si


# counts: safetensors totals of the releases
@pytest.mark.parametrize(
    "config, count",
    [
        (LLAMA_8B, 8030261248),
        (LLAMA2_7B, 6738415616),
        (QWEN_06B, 596049920),
        (QWEN25_7B, 7615616512),
    ],
)
def test_configs_from_the_wild_count_to_the_release(config, count, tmp_path):
    assert from_hf_config(config).parameters.si == count
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    assert from_hf_config(path).parameters.si == count


def test_kv_per_token_is_two_by_layers_by_kv_heads_by_head_dim():
    model = models.get("llama-3-70b")
    assert model.kv_bytes_per_token("bf16").si == 2 * 80 * 8 * 128 * 2
    assert model.kv_bytes_per_token("fp8").si == 2 * 80 * 8 * 128
    assert from_hf_config(LLAMA_8B).kv_bytes_per_token("bf16").si == 128 * 1024


def test_tied_output_is_read_but_counted_once():
    model = from_hf_config(QWEN_06B)
    assert model.streamed_parameters.si == model.parameters.si


@pytest.mark.parametrize(
    "change, message",
    [
        ({"hidden_size": None}, "lacks 'hidden_size'"),
        ({"hidden_size": "4096"}, "hidden_size = '4096'"),
        ({"hidden_size": 4096.0}, "hidden_size = 4096.0"),
        ({"hidden_size": True}, "hidden_size = True"),
        ({"hidden_size": -1}, "hidden_size = -1"),
        ({"hidden_size": 10**30}, "not between 1 and"),
        ({"num_hidden_layers": 0}, "num_hidden_layers = 0"),
        ({"num_key_value_heads": 7}, "no multiple of num_key_value_heads = 7"),
        ({"hidden_size": 4097}, "no multiple of num_attention_heads"),
        ({"model_type": "mamba"}, "'mamba' is not supported"),
        ({"model_type": None}, "model_type = None"),
        ({"tie_word_embeddings": "no"}, "tie_word_embeddings = 'no'"),
        ({"mlp_bias": True}, "mlp_bias"),
    ],
)
def test_bad_config_names_the_field(change, message):
    with pytest.raises(ConfigError, match=message):
        from_hf_config({**LLAMA_8B, **change})


@pytest.mark.parametrize("config", [7, None, ["llama"]])
def test_what_is_neither_path_nor_dict_is_refused(config):
    with pytest.raises(ConfigError, match="a path or a dict is needed"):
        from_hf_config(config)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "[" * 100_000, '{"model_type": "llama", }', "\x00"]
)
def test_hostile_json_is_an_error_not_a_crash(text, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(ConfigError):
        from_hf_config(path)
    with pytest.raises(ConfigError, match="No such file"):
        from_hf_config(tmp_path / "absent.json")
