"""Models as files have them: headers alone, written by others' libraries."""

import json
import math
import os
import shutil
import struct
import time
import tracemalloc

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stacklib import models
from stacklib.cli import main
from stacklib.models import ConfigError, from_file, from_gguf, from_safetensors
from stacklib.models.files.gguf import _LAYER, ARCHITECTURES
from stacklib.models.files.gguf_header import read_header
from stacklib.models.weights.ggml_files import types
from stacklib.models.weights.tensors import tensors
from stacklib.roofline import decode_step, fit_memory

gguf = pytest.importorskip("gguf")
WHOLE = {"embedding": "token_embd", "output": "output", "norms": "output_norm"}
NAMES = {ours: theirs for theirs, ours in reversed(_LAYER.items())}


def _name(t, row, seen):
    """What llama.cpp calls a tensor of ours."""
    end = "bias" if t.part == "vectors" and t.name != "norms" else "weight"
    if t.layer < 0:
        return f"{WHOLE[t.name]}.{end}"
    word = NAMES.get(t.name, "attn_norm")
    if t.name == "kv up":
        word = "attn_v_b" if f"blk.{t.layer}.attn_k_b.weight" in seen else "attn_k_b"
    if t.name == "router" and end == "bias":
        word, end = "exp_probs_b", "bias"
    return f"blk.{t.layer}.{word}.{end}"


def _facts(model, arch):
    a, found = model.attention, {"block_count": model.layers, "expert_count": 0}
    found |= {"embedding_length": model.hidden, "context_length": model.max_context}
    found |= {"attention.head_count": model.heads}
    found["feed_forward_length"] = model.intermediate
    found["attention.head_count_kv"] = model.cache_heads
    found["attention.key_length"] = model.head_dim
    if (e := model.experts) is not None:
        found |= {"expert_count": e.experts, "expert_used_count": e.top_k}
        found["expert_feed_forward_length"] = e.intermediate
    if arch in ("gpt-oss", "gemma3"):
        windows = [b.attention.window for b in model.kinds]
        found["attention.sliding_window"] = max(windows)
    if arch == "deepseek2":
        first = model.kinds[0].mlp
        found["feed_forward_length"] = first.intermediate
        found["leading_dense_block_count"] = model.pattern.count(0)
        found |= {"attention.key_length": 576, "attention.value_length": 512}
        found["attention.key_length_mla"] = a.nope_head_dim + a.rope_head_dim
        found["attention.value_length_mla"] = a.v_head_dim
        found["rope.dimension_count"] = a.rope_head_dim
        found["attention.q_lora_rank"] = a.q_lora_rank
        found["attention.kv_lora_rank"] = a.kv_lora_rank
        found["expert_shared_count"] = e.shared // e.intermediate
    return found


def written(path, model, arch, file, vocabulary=0, part=None, **other):
    """A file of this model and mixture, or one part of two, its numbers a hole."""
    writer = gguf.GGUFWriter(path, arch)
    for key, value in (_facts(model, arch) | other).items():
        writer.add_uint32(f"{arch}.{key}", value)
    if part is not None:
        writer.add_uint16("split.no", part)
        writer.add_uint16("split.count", 2)
    if vocabulary:
        writer.add_array("tokenizer.ggml.tokens", ["token"] * vocabulary)
        writer.add_array("tokenizer.ggml.scores", [0.5] * vocabulary)
    listed, seen = [], set()
    for t, row in types(model, file):
        name, shape = _name(t, row, seen), (t.many, t.outputs, t.inputs)
        seen.add(name)
        shape = shape[1:] if t.many == 1 else shape
        shape = shape[-1:] if t.part == "vectors" and t.many == 1 else shape
        listed.append((name, shape, row.ggml))
    return closed(path, writer, listed if part is None else listed[part::2])


def closed(path, writer, listed):
    """The file with these tensors: name, sizes (slowest first) and type."""
    for name, shape, ggml in listed:
        kind = gguf.GGMLQuantizationType(ggml)
        block, size = gguf.GGML_QUANT_SIZES[kind]
        wide = (*shape[:-1], shape[-1] // block * size)
        nbytes = math.prod(wide)
        writer.add_tensor_info(name, wide, numpy.uint8, nbytes, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.close()
    header = os.path.getsize(path)
    padded = sum(-(-n // 32) * 32 for n in (t.nbytes for t in _entries(path)))
    os.truncate(path, -(-header // 32) * 32 + padded)
    return path


def _entries(path):
    """The entries of a file that has no numbers yet: it is made long for a moment."""
    size = os.path.getsize(path)
    os.truncate(path, 1 << 42)
    found = read_header(path).tensors
    os.truncate(path, size)
    return found


@pytest.mark.rows(
    "name, arch, file",
    [
        ("llama-3-8b", "llama", "q4_k_m"),
        ("llama-3-70b", "llama", "q4_k_s"),
        ("mixtral-8x7b-v0.1", "llama", "q5_k_m"),
        ("qwen2.5-7b", "qwen2", "iq4_xs"),
        ("qwen3-8b", "qwen3", "q8_0"),
        ("qwen3-30b-a3b", "qwen3moe", "q4_k_m"),
        ("gpt-oss-20b", "gpt-oss", "mxfp4_moe"),
        ("deepseek-v3", "deepseek2", "q4_k_m"),
        ("gemma-3-1b", "gemma3", "q6_k"),
    ],
)
def test_a_gguf_has_the_sizes_and_bytes_of_its_model(name, arch, file, tmp_path):
    model = models.get(name)
    path = written(tmp_path / "it.gguf", model, arch, file)
    found = from_gguf(path)
    assert found.parameters.si == model.parameters.si
    assert found.active_parameters.si == model.active_parameters.si
    for batch in (1, 9):
        read = model.read_bytes(batch, file).si
        assert found.read_bytes(batch).si == pytest.approx(read, rel=1e-9)
    assert found.weight_bytes().si == pytest.approx(model.weight_bytes(file).si)
    shape = {"on": "b200", "tp": 4, "context": 1000}
    step = decode_step(found, batch=3.0, **shape)
    assert step.bytes == pytest.approx(
        decode_step(model, batch=3.0, dtype=file, kv_dtype="bf16", **shape).bytes
    )
    moved = models.operations(found, "decode", context=9, batch=2)
    total = sum(op.weight_bytes for op in moved)
    assert total == pytest.approx(found.read_bytes(2).si, rel=1e-9)


def test_forty_gigabytes_are_opened_at_once_and_never_read(tmp_path, capsys):
    model = models.get("llama-3-70b")
    path = written(tmp_path / "big.gguf", model, "llama", "q4_k_m", 256_000)
    assert path.stat().st_size > 42e9
    tracemalloc.start()
    begun = time.process_time()
    found = from_gguf(path)
    assert time.process_time() - begun < 1
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()
    assert found.weight_bytes().si == pytest.approx(42.51e9, rel=1e-3)
    assert main(["fit", str(path), "--on", "dgx-spark"]) == 0
    assert "42.51 GB weights" in capsys.readouterr().out
    assert main(["roofline", "dgx-spark", "--model", str(path)]) == 0
    assert "weights in big" in capsys.readouterr().out
    assert main(["models", str(path)]) == 0
    os.truncate(path, path.stat().st_size - 100_000)
    with pytest.raises(ConfigError, match=r"ends at byte .* the file is cut off"):
        from_gguf(path)
    assert main(["fit", str(path), "--on", "dgx-spark"]) == 2


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    model = models.get("gemma-3-1b")
    return written(tmp_path_factory.mktemp("gguf") / "s.gguf", model, "gemma3", "q8_0")


def test_a_split_file_is_opened_by_its_first_part(tmp_path):
    model = models.get("gemma-3-1b")
    one, two = (
        written(
            tmp_path / f"m-0000{n}-of-00002.gguf", model, "gemma3", "q8_0", 0, n - 1
        )
        for n in (1, 2)
    )
    for path in (one, tmp_path):
        assert from_file(path).weight_bytes().si == model.weight_bytes("q8_0").si
    with pytest.raises(ConfigError, match="name the first part"):
        from_gguf(two)
    two.unlink()
    with pytest.raises(ConfigError, match="00002-of-00002"):
        from_gguf(one)


@pytest.mark.rows(
    "fact, value, says",
    [
        ("block_count", 0, "block_count = 0"),
        ("attention.head_count_kv", 3, "head_count"),
        ("embedding_length", 2**31, "embedding_length = 2147483648"),
        ("block_count", 25, "block_count = 25"),  # one less than there are
        ("block_count", 27, "its tensors hold"),  # one more
    ],
)
def test_a_fact_that_makes_no_sense_is_named(fact, value, says, tmp_path):
    model = models.get("gemma-3-1b")
    path = written(tmp_path / "f.gguf", model, "gemma3", "q8_0", **{fact: value})
    with pytest.raises(ConfigError) as wrong:
        from_gguf(path)
    assert says in str(wrong.value) and str(path) in str(wrong.value)


def _head(version=3, tensors=0, facts=0, rest=b""):
    return b"GGUF" + struct.pack("<IQQ", version, tensors, facts) + rest


def _text(text):
    return struct.pack("<Q", len(text)) + text


@pytest.mark.rows(
    "data, says",
    [
        (b"", "does not begin with GGUF"),
        (b"PK\x03\x04" + bytes(99), "does not begin with GGUF"),
        (b"GGUF", "ends within the header"),
        (_head(version=7), "version 7"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "general.architecture = None"),
        (b"GGUF" + struct.pack(">IQQ", 2, 0, 0), "version 2 of big endian"),
        (_head(tensors=1 << 63), f"{1 << 63} tensors"),
        (_head(facts=1 << 63), f"{1 << 63} facts"),
        (_head(facts=1, rest=struct.pack("<Q", 1 << 63)), f"name of {1 << 63} bytes"),
        (_head(facts=1, rest=_text(b"k") + struct.pack("<IIQ", 9, 8, 1 << 62)), "'k'"),
        (_head(facts=1, rest=_text(b"k") + struct.pack("<I", 77)), "'k' has type 77"),
        (_head(), "general.architecture = None"),
        (
            b"GGUF" + struct.pack("<IIII", 1, 1, 0, 1 << 31),
            f"name of {1 << 31} bytes",
        ),
        (
            _head(3, 1, 0, _text(b"t") + struct.pack("<IQIQ", 1, 1 << 63, 0, 0)),
            "tensor 't' of shape",
        ),
        (
            _head(
                3, 1, 0, _text(b"t") + struct.pack("<IQIQ", 1, 64, 77, 0) + bytes(40)
            ),
            "tensor 't' has ggml type 77",
        ),
        (
            _head(3, 1, 0, _text(b"t") + struct.pack("<IQIQ", 1, 64, 0, 1 << 62)),
            "tensor 't' ends at byte",
        ),
        (_head(3, 1, 0, _text(b"t") + struct.pack("<I", 9)), "9 axes"),
    ],
)
def test_a_bad_header_is_refused_by_field(data, says, tmp_path):
    path = tmp_path / "bad.gguf"
    path.write_bytes(data)
    with pytest.raises(ConfigError) as wrong:
        from_gguf(path)
    assert says in str(wrong.value)
    assert main(["fit", str(path), "--on", "h100"]) == 2


@given(st.data())
@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_spoilt_header_raises_the_stated_error_or_is_read(small, tmp_path, data):
    with small.open("rb") as file:
        header = file.read(30_000)
    cut = data.draw(st.integers(0, len(header)))
    at = data.draw(st.lists(st.integers(0, 3000), max_size=4))
    spoilt = bytearray(header[:cut] if data.draw(st.booleans()) else header)
    for place in at:
        if place < len(spoilt):
            spoilt[place] = data.draw(st.sampled_from([0, 1, 127, 255]))
    path = tmp_path / "spoilt.gguf"
    path.write_bytes(spoilt)
    os.truncate(path, small.stat().st_size)
    tracemalloc.start()
    try:
        found = from_gguf(path)
    except ConfigError as wrong:
        assert str(path) in str(wrong) or "=" in str(wrong) or "lacks" in str(wrong)
        return
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 20e6
    assert 0 < fit_memory(found, on="h100", context=10).weights.si < 1e13


def test_an_architecture_that_nobody_knows_is_named(tmp_path):
    path = written(tmp_path / "a.gguf", models.get("qwen3-0.6b"), "rwkv7", "q8_0")
    with pytest.raises(ConfigError, match=r"general\.architecture = 'rwkv7'"):
        from_gguf(path)
    assert all(kind in models.SUPPORTED for kind, _, _ in ARCHITECTURES.values())
    theirs = {n.split(".")[-1] for n in gguf.TENSOR_NAMES.values()}
    assert {*_LAYER} <= theirs


# -- safetensors ---------------------------------------------------------------

TINY = {
    "model_type": "llama",
    "vocab_size": 1000,
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "tie_word_embeddings": False,
}
HF = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj"}
HF |= {"o": "self_attn.o_proj"} | {n: f"mlp.{n}_proj" for n in ("gate", "up", "down")}


def _listed(how):
    """Name, type and shape of the tensors of ``TINY`` in a release of that kind."""
    for t in tensors(models.from_hf_config(TINY)):
        if t.part in ("embedding", "head"):
            word = "model.embed_tokens" if t.part == "embedding" else "lm_head"
            yield f"{word}.weight", "BF16", [t.outputs, t.inputs]
        elif t.part == "vectors":
            word = f"layers.{t.layer}.norm" if t.layer >= 0 else "norm"
            yield f"model.{word}.weight", "BF16", [t.inputs]
        else:
            at = f"model.layers.{t.layer}.{HF[t.name]}."
            yield from ((at + n, k, s) for n, k, s in how(t.inputs, t.outputs))


RELEASES = {
    "bf16": lambda i, o: [("weight", "BF16", [o, i])],
    "fp8_128x128": lambda i, o: [
        ("weight", "F8_E4M3", [o, i]),
        ("weight_scale_inv", "F32", [-(-o // 128), -(-i // 128)]),
    ],
    "awq": lambda i, o: [
        ("qweight", "I32", [i, o // 8]),
        ("qzeros", "I32", [i // 128, o // 8]),
        ("scales", "F16", [i // 128, o]),
    ],
    "gptq": lambda i, o: [
        ("qweight", "I32", [i // 8, o]),
        ("qzeros", "I32", [i // 128, o // 8]),
        ("scales", "F16", [i // 128, o]),
        ("g_idx", "I32", [i]),
    ],
    "nvfp4": lambda i, o: [
        ("weight", "U8", [o, i // 2]),
        ("weight_scale", "F8_E4M3", [o, i // 16]),
        ("weight_scale_2", "F32", []),
    ],
}


def _shard(path, listed):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    wide = {"BF16": 2, "F16": 2, "F8_E4M3": 1, "U8": 1, "F32": 4, "I32": 4}
    for name, kind, shape in listed:
        size = wide[kind]
        for n in shape:
            size *= n
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text)
    os.truncate(path, 8 + len(text) + at)


@pytest.mark.rows("how", RELEASES)
def test_safetensors_have_the_bytes_that_the_name_says(how, tmp_path):
    folder = tmp_path / how
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(TINY))
    listed = [*_listed(RELEASES[how])]
    for number in (0, 1):
        part = listed[number::2]
        _shard(folder / f"model-{number}.safetensors", part)
    places = {n: f"model-{i % 2}.safetensors" for i, (n, _, _) in enumerate(listed)}
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": places}))
    named = models.from_hf_config(TINY).weight_bytes(how).si
    shutil.copy(index, folder / "places.json")  # told by what it holds
    for path in (folder, index, folder / "places.json"):
        found = from_file(path)
        assert found.weight_bytes().si == named
        moved = models.operations(found, "decode", context=0)
        assert sum(op.weight_bytes for op in moved) == found.read_bytes(1).si
    assert main(["fit", str(folder), "--on", "h100"]) == 0
    for batch in (1, 1.0):
        step = decode_step(str(folder / "config.json"), on="h100", batch=batch)
        assert float(getattr(step.bytes, "si", step.bytes)) > 0
    shard = folder / "model-1.safetensors"
    os.truncate(shard, shard.stat().st_size - 1)
    with pytest.raises(ConfigError, match="the file is cut off"):
        from_safetensors(index)
    shard.unlink()
    with pytest.raises(ConfigError, match=r"model-1\.safetensors"):
        from_safetensors(index)
    (folder / "model-0.safetensors").unlink()
    total = {"metadata": {"total_size": 2 * 1_000_000_000}, "weight_map": places}
    index.write_text(json.dumps(total))
    with pytest.raises(ConfigError, match="total_size = 2,000,000,000"):
        from_safetensors(index)


def test_experts_in_one_tensor_are_read_as_far_as_tokens_choose(tmp_path):
    config = {
        **TINY,
        "model_type": "gpt_oss",
        "num_local_experts": 4,
        "head_dim": 64,
        "num_experts_per_tok": 2,
        "quantization_config": {"quant_method": "mxfp4"},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    named = models.from_hf_config(config)
    listed = []
    for t in tensors(named):
        at = f"model.layers.{t.layer}."
        if t.part in ("embedding", "head"):
            word = "model.embed_tokens" if t.part == "embedding" else "lm_head"
            listed.append((f"{word}.weight", "BF16", [t.outputs, t.inputs]))
        elif t.name in HF:
            end = "bias" if t.part == "vectors" else "weight"
            shape = [t.inputs] if end == "bias" else [t.outputs, t.inputs]
            listed.append((f"{at}{HF[t.name]}.{end}", "BF16", shape))
        elif t.part == "vectors" and t.name != "expert gate":
            wide = 2 if t.name == "expert up" else 1
            word = {"expert up": "mlp.experts.gate_up_proj_bias"}
            word |= {"expert down": "mlp.experts.down_proj_bias"}
            word |= {"router": "mlp.router.bias"}
            name = (
                at + word.get(t.name, "norm.weight") if t.layer >= 0 else "norm.weight"
            )
            listed.append((name, "BF16", [t.many, wide * t.inputs]))
        elif t.name == "router":
            listed.append((f"{at}mlp.router.weight", "BF16", [t.outputs, t.inputs]))
        elif t.name in ("expert up", "expert down"):
            both = t.name == "expert up"
            word = f"{at}mlp.experts.{'gate_up' if both else 'down'}_proj_"
            rows = t.outputs * (1 + both)
            blocks = [t.many, rows, t.inputs // 32]
            listed.append((f"{word}blocks", "U8", [*blocks, 16]))
            listed.append((f"{word}scales", "U8", blocks))
    _shard(tmp_path / "model.safetensors", listed)
    found = from_file(tmp_path)
    assert found.weight_bytes().si == named.weight_bytes().si
    for batch in (1, 5):
        assert found.read_bytes(batch).si == pytest.approx(named.read_bytes(batch).si)
        moved = models.operations(found, "decode", context=0, batch=batch)
        total = sum(op.weight_bytes for op in moved)
        assert total == pytest.approx(found.read_bytes(batch).si)


@pytest.mark.rows(
    "data, says",
    [
        (b"", "a header of 0 bytes"),
        (struct.pack("<Q", 1 << 63), f"a header of {1 << 63} bytes"),
        (struct.pack("<Q", 9) + b'{"a": NaN', "not readable JSON"),
        (struct.pack("<Q", 2) + b"[]", "a JSON object is needed"),
        (struct.pack("<Q", 9) + b'{"t":{}} ', "tensor 't' has dtype None"),
        (struct.pack("<Q", 9) + b'{"t":NaN}', "tensor 't' has dtype None"),
    ],
)
def test_bad_safetensors_are_refused_by_field(data, says, tmp_path):
    path = tmp_path / "bad.safetensors"
    path.write_bytes(data)
    (tmp_path / "config.json").write_text(json.dumps(TINY))
    with pytest.raises(ConfigError) as wrong:
        from_file(path)
    assert says in str(wrong.value)


@given(st.binary(max_size=60), st.integers(0, 400), st.sampled_from(["cut", "spoil"]))
@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_spoilt_safetensors_raise_the_stated_error_or_are_read(tmp_path, junk, at, how):
    path = tmp_path / "model.safetensors"
    (tmp_path / "config.json").write_text(json.dumps(TINY))
    _shard(path, _listed(RELEASES["nvfp4"]))
    data = path.read_bytes()
    cut = data[:at] if how == "cut" else data[:at] + junk + data[at + len(junk) :]
    path.write_bytes(cut)
    try:
        assert from_file(path).weight_bytes().si > 0
    except ConfigError as wrong:
        assert str(path.parent) in str(wrong)
