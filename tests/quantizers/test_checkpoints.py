"""Folders of Hugging Face's in few bits: read back, and as transformers runs them."""

import json
from pathlib import Path

import gguf
import numpy as np
import pytest

from stacklib.quantizers import dequantize, quantize
from stacklib.quantizers.checkpoints.compressed import (
    LAYOUTS,
    _decoded,
    read_compressed,
    write_compressed,
)
from stacklib.quantizers.checkpoints.gguf import scheme_of, write_checkpoint
from stacklib.quantizers.checkpoints.opened import open_checkpoint
from stacklib.quantizers.gguf_file import TYPES
from stacklib.tinylm.config import Config
from stacklib.tinylm.forward import forward
from stacklib.tinylm.gguf_model import read_model

from .hugging_face import FOLDERS, LLAMA3, SIZES, folder, tensors, write_file

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


@pytest.mark.rows("scheme, wide", [("nvfp4", 96), ("int8_channel", 90)])
def test_rows_that_no_block_or_word_divides_end_where_they_end(
    scheme, wide, tmp_path_factory
):
    """NVFP4 is in blocks of 64 in a GGUF file; rows of 90 bytes were refused."""
    sizes = {"hidden_size": wide, "intermediate_size": wide + 80, "head_dim": 16}
    tmp_path = tmp_path_factory.mktemp("rows")
    path = folder(tmp_path / "hf", "tied", **sizes)
    write_file(path / "model.safetensors", tensors("tied", **sizes), "F16")
    found = open_checkpoint(path)
    write_compressed(tmp_path / "out", found, scheme)
    read = read_compressed(tmp_path / "out")
    for name in found.places:
        if "proj" in name:
            plain = dequantize(quantize(found.numbers(name), scheme))
            np.testing.assert_allclose(read[name], plain, rtol=1e-6)


# five numbers from -2**(bits - 1) on: words by compressed-tensors 0.20, pack_to_int32
WORDS = {2: 0xE4, 3: 0x4688, 5: 0x418820, 7: 0x40608080, 8: 0x03020100}


@pytest.mark.rows("bits", [*WORDS])
def test_codes_of_any_width_are_read_as_the_library_packs_them(bits):
    words = [WORDS[bits], {7: 0, 8: 4}.get(bits)][: 1 + (bits > 6)]
    parts = {
        "a.weight_packed": np.array([words], "<u4").view("<i4"),
        "a.weight_scale": np.ones((1, 1), np.float32),
        "a.weight_shape": np.array([1, 5]),
    }
    least = -(1 << bits - 1)
    want = [least + n % (1 << bits) for n in range(5)]
    assert _decoded("a", [bits], parts).tolist() == [want]
    parts["a.weight_packed"] = parts["a.weight_packed"][:, :1]
    with pytest.raises(ValueError, match=r"1 rows of 5 numbers in \[1, 6"):
        _decoded("a", [1, 6, bits], parts)  # one word of 32 holds 5 of 1 or of 6


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
        ({"tie_word_embeddings": "false"}, "tie_word_embeddings = 'false'"),
        ({"attention_bias": True}, "q_proj.bias' is missing"),
        ({"mlp_bias": True}, "gate_proj.bias' is missing"),
        ({"rope_theta": 10**400}, "rope_theta = 1"),
        ({"rope_parameters": [1]}, "rope_parameters = .1.: a JSON object"),
        ({"rope_parameters": {"full_attention": {"rope_theta": 1e6}}}, "one rotation"),
        ({"rope_scaling": {**LLAMA3, "factor": np.inf}}, "'factor': inf.*not a scal"),
        ({"rope_scaling": {**LLAMA3, "high_freq_factor": np.inf}}, "not a scaling"),
        (
            {"model_type": "mistral", "max_position_embeddings": 32_768},
            "sliding_window = 4096",  # what the class has where nothing is said
        ),
        ({"model_type": "mistral", "sliding_window": "16"}, "sliding_window = '16'"),
        (
            {"model_type": "qwen2", "layer_types": ["sliding_attention"] * 2},
            "no window",
        ),
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
        ("model.layers.0.self_attn.q_proj.bias", "q_proj.bias' is not covered"),
        ("lm_head.weight", "'lm_head.weight' is not 'model.embed_tokens.weight'"),
    ],
)
def test_a_tensor_that_is_not_covered_is_refused_by_name(more, says, tmp_path_factory):
    path = folder(tmp_path_factory.mktemp("hf") / "bad", "qwen3")
    size = {"lm_head.weight": (160, 128), "bias": (256,)}
    shape = next((s for n, s in size.items() if more.endswith(n)), (2, 2))
    write_file(path / "more.safetensors", {more: np.ones(shape, np.float32)}, "F32")
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


@pytest.mark.rows("form", ["F32", "F16", "BF16"])
def test_infinity_is_refused_in_what_is_copied(form, tmp_path_factory):
    """Norms, and the two tables that NVFP4 leaves as they are."""
    tmp_path = tmp_path_factory.mktemp("kept")
    path = folder(tmp_path / "hf", "mistral")
    found = open_checkpoint(path)
    for name in ("lm_head", "model.embed_tokens", "model.norm"):
        named = tensors("mistral")
        named[f"{name}.weight"].reshape(-1)[-1] = np.nan if form == "F32" else np.inf
        write_file(path / "model.safetensors", named, form)
        found = open_checkpoint(path)
        for write, out in ((write_checkpoint, "m.gguf"), (write_compressed, "out")):
            with pytest.raises(ValueError, match=f"{name}.weight' has infinity or NaN"):
                write(tmp_path / out, found, "nvfp4")
    assert [p.name for p in tmp_path.iterdir()] == ["hf"]


def test_a_copy_of_the_embedding_is_no_other_matrix(tmp_path):
    path = folder(tmp_path / "hf", "tied")
    named = tensors("tied")
    named["lm_head.weight"] = named["model.embed_tokens.weight"].copy()
    write_file(path / "model.safetensors", named, "F16")
    assert open_checkpoint(path).tied
    named["lm_head.weight"][-1, -1] += 1
    write_file(path / "model.safetensors", named, "F16")
    with pytest.raises(ValueError, match="loaders disagree"):
        open_checkpoint(path)


def test_windows_begin_where_qwens_config_says(tmp_path):
    """The first layers of ``max_window_layers`` look back over everything."""
    window = {"use_sliding_window": True, "sliding_window": 16}
    open_checkpoint(folder(tmp_path / "two", "qwen2", **window, max_window_layers=2))
    with pytest.raises(ValueError, match="sliding_window = 16"):
        open_checkpoint(
            folder(tmp_path / "one", "qwen2", **window, max_window_layers=1)
        )
    del window["sliding_window"]
    much = {"max_position_embeddings": 8192, "max_window_layers": 1}
    with pytest.raises(ValueError, match="sliding_window = 4096"):
        open_checkpoint(folder(tmp_path / "none", "qwen2", **window, **much))


def test_norms_of_qwen3_must_be_there(tmp_path):
    path = folder(tmp_path / "hf", "qwen3")
    named = tensors("qwen3")
    del named["model.layers.1.self_attn.k_norm.weight"]
    write_file(path / "model.safetensors", named, "BF16")
    with pytest.raises(ValueError, match=r"1\.self_attn\.k_norm\.weight' is missing"):
        open_checkpoint(path)


@pytest.mark.rows(
    "moved, more, says",
    [
        (-4, b"", r"'model\.norm\.weight' begins at byte"),  # into the one before
        (0, b"1234", "4 bytes behind the last tensor"),
    ],
)
def test_tensors_fill_their_file_without_sharing(moved, more, says, tmp_path_factory):
    """As the library itself checks (safetensors, ``Metadata::validate``)."""
    path = folder(tmp_path_factory.mktemp("st") / "hf", "mistral")
    file = path / "model.safetensors"
    text = file.read_bytes()
    end = 8 + int.from_bytes(text[:8], "little")
    head = json.loads(text[8:end])
    place = head["model.norm.weight"]["data_offsets"]
    head["model.norm.weight"]["data_offsets"] = [n + moved for n in place]
    told = json.dumps(head).encode()
    file.write_bytes(len(told).to_bytes(8, "little") + told + text[end:] + more)
    with pytest.raises(ValueError, match=says):
        open_checkpoint(path)


NAMES = ["", "..", "../a.safetensors", "/a.safetensors", 3, None, ["a"], {"a": "b"}]


@pytest.mark.rows("name", NAMES)
def test_an_index_names_files_of_its_folder(name, tmp_path_factory):
    path = folder(tmp_path_factory.mktemp("index") / "hf", "llama")
    index = path / "model.safetensors.index.json"
    told = json.loads(index.read_text())
    told["weight_map"]["model.norm.weight"] = name
    index.write_text(json.dumps(told))
    with pytest.raises(ValueError, match=r"index\.json: weight_map has"):
        open_checkpoint(path)


NAMED = r"'model\.layers\.1\.mlp\.up_proj\.weight': "
BYTES = {"type": "ByteLevel"}


@pytest.mark.rows(
    "model, added, says",
    [
        ({"vocab": ["a"]}, None, "vocab = ..a..: a dict"),
        ({"vocab": {"a": 0, "b": 0}}, None, "'a' and 'b' have the id 0"),
        ({"vocab": {"\ud800": 0}}, None, "is no text"),
        ({"merges": "ab"}, None, "merges = 'ab': a list"),
        ({"merges": [3]}, None, "merges has 3"),
        ({"merges": [["a", 1]]}, None, "merges has"),
        ({"merges": [["a b", "c"]]}, None, "merges has"),
        ({"merges": ["a"]}, None, "merges has 'a'"),
        ({}, 7, "added_tokens = 7: a list"),
        ({}, [3], "the word None has the id None"),
        ({}, [{"id": n, "content": "x"} for n in (5, 6)], "'x' has 2 ids"),
        ({}, [{"id": 5, "content": c} for c in "xy"], "'x' and 'y' have the id 5"),
    ],
)
def test_a_vocabulary_of_another_shape_is_refused(model, added, says, tmp_path_factory):
    path = folder(tmp_path_factory.mktemp("words") / "hf", "tied")
    table = {"pre_tokenizer": BYTES, "model": {"type": "BPE", **model}}
    (path / "tokenizer.json").write_text(json.dumps({**table, "added_tokens": added}))
    with pytest.raises(ValueError, match=says):
        write_checkpoint(path / "m.gguf", open_checkpoint(path), "q8_0")


@pytest.mark.rows("out", ["m.gguf", "out"])
def test_what_is_lost_or_refused_names_its_tensor(out, tmp_path_factory):
    """Of hundreds of matrices only the place in one was told."""
    tmp_path = tmp_path_factory.mktemp("named")
    path, named = folder(tmp_path / "hf", "mistral", head_dim=32), tensors("tied")
    named["lm_head.weight"] = named["model.embed_tokens.weight"]
    write, scheme = write_checkpoint, "q4_0"
    if out == "out":
        write, scheme = write_compressed, "int4_g128"
    for size, told in (
        (1e-9, pytest.warns(RuntimeWarning, match=NAMED + "32768 of")),
        (1e9, pytest.raises(ValueError, match=NAMED + ".*fp16 holds")),
    ):
        named["model.layers.1.mlp.up_proj.weight"][:] = size
        write_file(path / "model.safetensors", named, "F32")
        with told:
            write(tmp_path / out, open_checkpoint(path), scheme)


AT = "model.layers.0.mlp.up_proj."


@pytest.mark.rows(
    "scheme, name, form, shape, says",
    [
        ("int4_g128", "weight_zero_point", "F32", (2, 2), "zero_point' is not read"),
        ("nvfp4", "other.weight", "F8_E4M3", (2, 4), "other.weight' is not read"),
        ("nvfp4", "other.weight_scale", "F32", (2, 4), "other.weight_scale' is not"),
        ("nvfp4", "weight_scale", "F8_E4M3", (256, 8), "in another shard"),
        ("int4_g128", "weight_scale", "F16", (2, 128), r"scales of shape \(2, 128\)"),
        ("nvfp4", "input_global_scale", "F32", (1,), ""),  # of no weight
        ("nvfp4", "empty", "F32", (0,), ""),
    ],
)
def test_a_compressed_folder_of_others_is_read_or_refused_by_name(
    scheme, name, form, shape, says, tmp_path_factory
):
    """Zero points were passed over, codes of a byte read as numbers, tiles as rows."""
    tmp_path = tmp_path_factory.mktemp("more")
    source, out = folder(tmp_path / "hf", "tied"), tmp_path / "out"
    write_compressed(out, open_checkpoint(source), scheme)
    known = read_compressed(out)
    if "of shape" in says:  # tiles of 128 rows in place of the file's
        file, old = out / "model.safetensors", b'F16","shape":[256,1]'
        assert old in file.read_bytes()
        file.write_bytes(file.read_bytes().replace(old, b'F16","shape":[2,128]'))
    else:
        more = {AT + name: np.ones(shape, np.float32)}
        write_file(out / "more.safetensors", more, form)
    if says:
        with pytest.raises(ValueError, match=says):
            read_compressed(out)
    else:
        assert read_compressed(out).keys() - {AT + "empty"} == known.keys()


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
