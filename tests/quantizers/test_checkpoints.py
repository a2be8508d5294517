"""Folders of Hugging Face's in few bits: read back, and as transformers runs them."""

import json
from pathlib import Path

import gguf
import numpy as np
import pytest

from stacklib.quantizers import dequantize, quantize
from stacklib.quantizers.checkpoints.compressed import (
    LAYOUTS,
    read_compressed,
    write_compressed,
)
from stacklib.quantizers.checkpoints.gguf import scheme_of, write_checkpoint
from stacklib.quantizers.checkpoints.opened import open_checkpoint
from stacklib.quantizers.gguf_file import TYPES
from stacklib.tinylm.config import Config
from stacklib.tinylm.forward import forward
from stacklib.tinylm.gguf_model import read_model

from .hugging_face import FOLDERS, SIZES, folder, tensors, write_file

IDS = np.arange(3, 40)
# logits of the last of IDS by transformers 5.24 and compressed-tensors 0.20, in fp32
TRANSFORMERS = json.loads((Path(__file__).parent / "transformers.json").read_text())


def rounded(checkpoint, scheme, matrices=lambda name: True):
    """The weights in plain NumPy: each matrix there and back."""
    found = {}
    for name in checkpoint.places:
        x = checkpoint.numbers(name)
        kind = scheme_of(checkpoint, name, scheme) if scheme in TYPES else scheme
        coded = x.ndim == 2 and matrices(name) and kind not in ("bf16", "fp16", "fp32")
        found[name] = dequantize(quantize(x, kind)) if coded else x
    return found


def config_of(checkpoint):
    return Config(**checkpoint.sizes, rope_turns=checkpoint.turns)


@pytest.mark.rows("name", [*FOLDERS])
def test_a_folder_is_read_as_it_was_written(name, tmp_path):
    found = open_checkpoint(folder(tmp_path / f"{name}-read", name))
    for key, x in tensors(name).items():
        assert np.array_equal(found.numbers(key), x), key
    logits = forward(tensors(name), config_of(found), IDS)
    assert np.abs(logits[-1, :8] - TRANSFORMERS[name]["full"]).max() < 1e-4


@pytest.mark.rows("name", [*FOLDERS])
def test_the_gguf_of_a_folder_has_its_logits(name, tmp_path):
    """The book's own runner of GGUF beside a forward pass of what was rounded."""
    found = open_checkpoint(folder(tmp_path / name, name))
    for scheme in ("q8_0", "q4_k", "nvfp4"):
        path = tmp_path / f"{name}-{scheme}.gguf"
        write_checkpoint(path, found, scheme)
        config, weights = read_model(path)
        ours = forward(weights, config, IDS)
        theirs = forward(rounded(found, scheme), config_of(found), IDS)
        assert np.abs(ours - theirs).max() < 1e-3 and np.abs(theirs).max() > 0.5
        told = TRANSFORMERS[name].get(scheme)
        assert told is None or np.abs(ours[-1, :8] - told).max() < 1e-3


@pytest.mark.rows("name", [*FOLDERS])
def test_a_compressed_folder_has_its_logits(name, tmp_path):
    source = folder(tmp_path / f"{name}-hf", name)
    (source / "tokenizer_config.json").write_text("{}")
    found = open_checkpoint(source)
    for scheme in ("int4_g128", "int8_channel", "nvfp4"):
        if name == "mistral" and scheme == "int4_g128":
            with pytest.raises(ValueError, match=r"o_proj.*int4_g128 wants .* 128"):
                write_compressed(tmp_path / "no", found, scheme)
            continue
        out = tmp_path / f"{name}-{scheme}"
        write_compressed(out, found, scheme)
        assert {p.name for p in out.iterdir()} >= {"tokenizer_config.json"}
        ours = forward(read_compressed(out), config_of(found), IDS)
        plain = rounded(found, scheme, lambda n: "proj" in n)
        theirs = forward(plain, config_of(found), IDS)
        assert np.abs(ours - theirs).max() < 1e-3
        told = TRANSFORMERS[name].get(f"{scheme} folder")
        assert told is None or np.abs(ours[-1, :8] - told).max() < 1e-3
    assert not list(tmp_path.glob("*.partial")) and len(LAYOUTS) == 3


def test_rows_that_blocks_of_gguf_do_not_divide_end_where_they_end(tmp_path):
    """NVFP4 is kept in blocks of 64 in a GGUF file, and in rows in a folder."""
    sizes = {"hidden_size": 96, "intermediate_size": 176, "num_attention_heads": 2}
    path = folder(tmp_path / "hf", "tied", **sizes)
    write_file(path / "model.safetensors", tensors("tied", **sizes), "F16")
    found = open_checkpoint(path)
    write_compressed(tmp_path / "out", found, "nvfp4")
    read, plain = read_compressed(tmp_path / "out"), rounded(found, "nvfp4")
    for name in found.places:
        if "proj" in name:
            np.testing.assert_allclose(read[name], plain[name], rtol=1e-6)


def test_gguf_finds_every_tensor_under_llama_cpps_name(tmp_path):
    found = open_checkpoint(folder(tmp_path / "q", "qwen2"))
    path = tmp_path / "q.gguf"
    told = write_checkpoint(path, found, "q4_k")
    theirs = gguf.GGUFReader(path)
    known = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN2, 2)
    wanted = {known.get_name(n, (".weight", ".bias")) for n in found.places}
    assert {t.name for t in theirs.tensors} == wanted
    kinds = {t.name: t.tensor_type.name for t in theirs.tensors}
    assert kinds["blk.1.ffn_down.weight"] == "Q4_K"  # rows of 256
    assert kinds["blk.1.ffn_up.weight"] == "Q5_0"  # of 128
    assert kinds["blk.1.attn_q.bias"] == kinds["output_norm.weight"] == "F32"
    assert told.nbytes == sum(int(t.n_bytes) for t in theirs.tensors)
    assert theirs.fields["general.file_type"].contents() == 14


@pytest.mark.rows(
    "config, says",
    [
        ({"model_type": "mixtral"}, "model_type = 'mixtral'"),
        ({"model_type": ["llama"]}, "model_type"),
        ({"quantization_config": {"bits": 4}}, "quantization_config"),
        ({"rope_scaling": {"type": "yarn", "factor": 4}}, "rope_type = 'yarn'"),
        ({"rope_scaling": {"rope_type": "llama3"}}, "KeyError"),
        ({"hidden_act": "gelu"}, "hidden_act"),
        ({"num_key_value_heads": 3}, "heads must divide"),
        ({"rms_norm_eps": float("nan")}, "rms_norm_eps"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers = 1000000000"),
        ({"vocab_size": 170}, "'model.embed_tokens.weight' of shape"),
        (
            {"num_hidden_layers": 3},
            "'model.layers.2.input_layernorm.weight' is missing",
        ),
        ({"num_hidden_layers": 1}, "'model.layers.1.* is not covered"),
        ({"tie_word_embeddings": False}, "'lm_head.weight' is missing"),
    ],
)
def test_a_folder_that_is_not_covered_is_refused_by_name(
    config, says, tmp_path_factory
):
    path = folder(tmp_path_factory.mktemp("hf") / "bad", "tied", **config)
    with pytest.raises(ValueError, match=says):
        open_checkpoint(path)


@pytest.mark.rows(
    "more, says",
    [
        ("model.layers.0.mlp.experts.0.w1.weight", "mixture of experts"),
        ("model.layers.0.self_attn.g_proj.weight", "g_proj.weight' is not covered"),
        ("model.layers.0.mlp.up_proj.weight", "another shard"),
    ],
)
def test_a_tensor_that_is_not_covered_is_refused_by_name(more, says, tmp_path_factory):
    path = folder(tmp_path_factory.mktemp("hf") / "bad", "qwen3")
    write_file(path / "more.safetensors", {more: np.ones((2, 2), np.float32)}, "F32")
    with pytest.raises(ValueError, match=says):
        open_checkpoint(path)


def test_infinity_is_refused_and_nothing_is_left(tmp_path):
    path = folder(tmp_path / "hf", "mistral")
    named = tensors("mistral")
    named["model.layers.1.mlp.up_proj.weight"][3, 5] = np.inf
    write_file(path / "model.safetensors", named, "F32")
    found = open_checkpoint(path)
    for write, out in ((write_checkpoint, "m.gguf"), (write_compressed, "out")):
        scheme = "q8_0" if out.endswith("f") else "int8_channel"
        with pytest.raises(ValueError, match=r"layers\.1\.mlp\.up_proj\.weight'.*inf"):
            write(tmp_path / out, found, scheme)
    assert [p.name for p in tmp_path.iterdir()] == ["hf"]


def test_a_vocabulary_goes_with_the_file(tmp_path):
    path = folder(tmp_path / "hf", "tied", bos_token_id=158, eos_token_id=[159, 2])
    cut = {"type": "Split", "pattern": {"Regex": r"\p{L}+|\p{N}{1,3}| ?"}}
    table = {
        "added_tokens": [{"id": 159, "content": "<end>", "special": True}],
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [cut, {"type": "ByteLevel"}],
        },
        "model": {
            "type": "BPE",
            "vocab": {"a": 0, "b": 1, "ab": 2},
            "merges": [["a", "b"]],
        },
    }
    (path / "tokenizer.json").write_text(json.dumps(table))
    told = write_checkpoint(tmp_path / "m.gguf", open_checkpoint(path), "q8_0")
    fields = gguf.GGUFReader(tmp_path / "m.gguf").fields
    facts = {key: field.contents() for key, field in fields.items()}
    assert "160 words" in told.words
    assert facts["tokenizer.ggml.tokens"][:4] == ["a", "b", "ab", "[PAD3]"]
    assert facts["tokenizer.ggml.token_type"] == [1, 1, 1, *[5] * 156, 3]
    assert facts["tokenizer.ggml.merges"] == ["a b"]
    assert facts["tokenizer.ggml.pre"] == "llama-bpe"
    assert facts["tokenizer.ggml.eos_token_id"] == 159
    table["model"]["vocab"]["c"] = SIZES["vocab_size"]
    (path / "tokenizer.json").write_text(json.dumps(table))
    with pytest.raises(ValueError, match="vocab_size = 160"):
        write_checkpoint(tmp_path / "n.gguf", open_checkpoint(path), "q8_0")
