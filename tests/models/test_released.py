"""``quantization_config`` is believed, in count and in bytes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.cli import main
from stacklib.models import ConfigError, from_hf_config
from stacklib.models.files.released import METHODS
from stacklib.roofline import fit_memory

LLAMA = {
    "model_type": "llama",
    "vocab_size": 128256,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
}
LINEAR, COLUMNS = 6979321856, 1376256  # numbers in the layers' matrices; outputs
REST = 2 * (2 * 128256 * 4096 + 65 * 4096)
GROUPED = {"num_bits": 4, "type": "int", "group_size": 128, "strategy": "group"}


def _groups(weights, **more):
    group = {"targets": ["Linear"], "weights": weights, **more}
    config = {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}}
    return {**config, "ignore": ["lm_head"]}


@pytest.mark.rows(
    "quantization, size, numbers, cache",
    [
        # issue 36: 16.06 GB was printed for it
        (
            {"quant_method": "fp8", "weight_block_size": [128, 128]},
            LINEAR * (1 + 4 / 128**2),
            "fp8",
            "bf16",
        ),
        ({"quant_method": "fp8"}, LINEAR + 4 * 224, "fp8", "bf16"),
        ({"quant_method": "fbgemm_fp8"}, LINEAR + 4 * COLUMNS, "fp8", "bf16"),
        (
            {"quant_method": "gptq", "bits": 4, "group_size": 128},
            LINEAR * (4 + 20 / 128) / 8 + 4980736,
            "",
            "bf16",
        ),
        (
            {"quant_method": "gptq", "bits": 8, "group_size": 32, "desc_act": True},
            LINEAR * (8 + 24 / 32) / 8 + 4980736,
            "",
            "bf16",
        ),
        (
            {"quant_method": "awq", "bits": 4, "group_size": 64},
            LINEAR * (4 + 20 / 64) / 8,
            "",
            "bf16",
        ),
        (
            {
                "quant_method": "bitsandbytes",
                "load_in_4bit": True,
                "bnb_4bit_quant_type": "nf4",
            },
            LINEAR * 4.5 / 8,
            "",
            "bf16",
        ),
        ({"load_in_8bit": True}, LINEAR + 4 * COLUMNS, "", "bf16"),
        (_groups(GROUPED), LINEAR * (4 + 16 / 128) / 8, "", "bf16"),
        (
            _groups(
                {"num_bits": 8, "type": "float", "strategy": "channel"},
                input_activations={"num_bits": 8},
            ),
            LINEAR + 2 * COLUMNS,
            "fp8",
            "bf16",
        ),
        (
            {
                "quant_algo": "NVFP4",
                "kv_cache_scheme": {"num_bits": 8},
                "quant_method": "modelopt",
                "ignore": ["lm_head"],
            },
            LINEAR * 4.5 / 8 + 4 * 224,
            "fp4",
            "fp8",
        ),
        (
            {"quant_algo": "W4A16_AWQ", "quant_method": "modelopt"},
            LINEAR * (4 + 16 / 128) / 8,
            "",
            "bf16",
        ),
        (
            {
                "quant_method": "quark",
                "global_quant_config": {
                    "weight": {"dtype": "fp4", "qscheme": "per_group", "group_size": 32}
                },
            },
            LINEAR * 4.25 / 8,
            "fp4",
            "bf16",
        ),
    ],
)
def test_a_method_is_counted_as_its_files_are_laid_out(
    quantization, size, numbers, cache
):
    model = from_hf_config({**LLAMA, "quantization_config": quantization})
    assert model.parameters.si == 8030261248  # in count nothing changes
    assert model.weight_bytes().si == pytest.approx(size + REST, rel=1e-6)
    way = model.kept.way
    assert (way.numbers, way.cache, model.left_out) == (numbers, cache, ())
    assert model.weight_bytes("bf16").si == 2 * 8030261248  # when asked for


def test_an_fp8_llama_fits_twelve_gigabytes(tmp_path, capsys):
    path = tmp_path / "config.json"
    fp8 = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    path.write_text(json.dumps({**LLAMA, "quantization_config": fp8}))
    argv = ["fit", str(path), "--on", "rtx-3060-12gb", "--context", "4096"]
    assert main(argv) == 0
    out = capsys.readouterr().out
    assert "9.083 GB weights" in out and out.startswith("config.json, fp8")
    # ModelOpt's older releases say it in a file beside
    path.write_text(json.dumps(LLAMA))
    told = {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}
    (tmp_path / "hf_quant_config.json").write_text(json.dumps({"quantization": told}))
    for there in (str(path), str(tmp_path)):
        assert main([argv[0], there, *argv[2:]]) == 0
        out = capsys.readouterr().out
        assert "9.081 GB weights" in out and "cache in fp8" in out


@pytest.mark.rows(
    "left, share",
    [
        (["lm_head"], 1),
        (["model.layers.*.self_attn"], 32 * 3 * 4096 * 14336 / LINEAR),
        (["re:.*self_attn.*"], 32 * 3 * 4096 * 14336 / LINEAR),
        (["model.language_model.layers.0*"], 31 / 32),
        (["model.layers.3.mlp.down_proj"], 1 - 4096 * 14336 / LINEAR),
        (["gate", "mtp.*", "*.mlp.shared_expert.*"], 1),
    ],
)
def test_modules_left_alone_stay_in_16_bits(left, share):
    fp8 = {"quant_method": "fp8", "modules_to_not_convert": left}
    model = from_hf_config({**LLAMA, "quantization_config": fp8})
    inside = next(s for s in model.kept.shares if s.format.name == "fp8_tensor")
    assert inside.whole[0] == pytest.approx(share * LINEAR)


def test_experts_that_stand_beside_the_mlp_are_not_left_with_it():
    mixture = {
        **LLAMA,
        "model_type": "mixtral",
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "num_hidden_layers": 2,
    }
    left = [f"model.layers.{n}.{p}*" for n in (0, 1) for p in ("mlp", "router")]
    for ignored, inside in ((left, 1), (left[::2], 0)):
        fp4 = {"quant_algo": "NVFP4", "ignore": [*ignored, "lm_head"]}
        model = from_hf_config({**mixture, "quantization_config": fp4})
        found = {s.format.name: s.whole[0] for s in model.kept.shares}["nvfp4"]
        attention = 2 * (2 * 4096 * 4096 + 2 * 4096 * 1024)
        assert found == attention + inside * 2 * 4 * 3 * 4096 * 14336


def test_layers_of_several_formats_are_told_apart():
    layers = {"model.layers.0.mlp.down_proj": {"quant_algo": "FP8"}}
    layers["lm_head"] = {"quant_algo": "W4A16_NVFP4", "group_size": 16}
    mixed = {"quant_algo": "MIXED_PRECISION", "quantized_layers": layers}
    model = from_hf_config({**LLAMA, "quantization_config": mixed})
    found = {s.format.name: s.whole[0] for s in model.kept.shares}
    assert found["fp8_tensor"] == 4096 * 14336 and found["nvfp4"] == 128256 * 4096


@pytest.mark.rows(
    "quantization, says",
    [
        ("fp8", "quantization_config = 'fp8'"),
        ({"quant_method": "aqlm"}, "quant_method = 'aqlm': not known"),
        ({"quant_method": 7}, "quant_method = 7"),
        ({"quant_method": "gptq", "bits": 99}, "bits = 99"),
        ({"quant_method": "gptq", "bits": float("nan")}, "bits = nan"),
        ({"quant_method": "awq", "group_size": 0}, "group_size = 0"),
        ({"quant_method": "fp8", "weight_block_size": [128]}, "weight_block_size"),
        ({"quant_method": "fp8", "ignore": "lm_head"}, "ignore = 'lm_head'"),
        ({"quant_method": "fp8", "ignore": ["re:("]}, "no pattern"),
        ({"quant_algo": "FP3"}, "quant_algo = 'FP3'"),
        ({"quant_method": "compressed-tensors"}, "config_groups"),
        ({"quant_method": "mxfp4"}, "leaves every tensor"),  # of a dense model
    ],
)
def test_what_is_not_known_is_refused_by_field(quantization, says):
    with pytest.raises(ConfigError, match="quantization_config") as wrong:
        from_hf_config({**LLAMA, "quantization_config": quantization})
    assert says in str(wrong.value)


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["weights", "targets", "bits", "x"]), inner)
    ),
    max_leaves=6,
)
_NAMES = (
    "bits group_size weight_block_size modules_to_not_convert ignore config_groups "
    "quant_algo quantized_layers kv_cache_scheme load_in_4bit global_quant_config"
).split()


@given(st.sampled_from([*METHODS]), st.dictionaries(st.sampled_from(_NAMES), _ANY))
@settings(max_examples=150, deadline=None)
def test_nothing_but_the_stated_error_is_raised(method, fields):
    small = {**LLAMA, "num_hidden_layers": 1}
    config = {**small, "quantization_config": {"quant_method": method, **fields}}
    try:
        fit = fit_memory(from_hf_config(config), on="h100")
    except ConfigError as wrong:
        assert "quantization_config" in str(wrong)
        return
    assert 0 < fit.weights.si < 1e11
