"""GGUF files: read by gguf, written by gguf, and cut at every byte."""

import gguf
import numpy as np
import pytest
from gguf import GGMLQuantizationType

from stacklib.quantizers import dequantize, quantize, read_gguf, write_gguf
from stacklib.quantizers.gguf_file import TYPES

FACTS = {
    "general.architecture": "llama",
    "llama.context_length": 512,
    "llama.rope.freq_base": 10000.0,
    "tokenizer.ggml.add_bos_token": False,
    "tokenizer.ggml.tokens": ["a", "bé", ""],
    "tokenizer.ggml.token_type": [1, 1, 3],
    "x.signed": -5,
    "x.long": 1 << 40,
    "x.byte": np.uint8(7),
    "x.double": np.float64(0.1),
}


def tensors():
    x = np.random.default_rng(0).standard_normal((3, 512)).astype(np.float32)
    found = {f"blk.{i}.weight": quantize(x, name) for i, name in enumerate(TYPES)}
    return found | {"plain": x, "half": x.astype(np.float16), "line": x[0]}


def test_gguf_reads_what_we_write(tmp_path):
    path = tmp_path / "m.gguf"
    write_gguf(path, tensors(), FACTS)
    theirs = gguf.GGUFReader(path)
    for key, value in FACTS.items():
        found = theirs.fields[key].contents()
        if isinstance(value, float):
            assert found == pytest.approx(value, rel=1e-7)
        else:
            assert found == value, key
    by_name = {t.name: t for t in theirs.tensors}
    for name, tensor in tensors().items():
        their = by_name[name]
        raw = gguf.quants.dequantize(their.data, their.tensor_type)
        if name in ("plain", "half", "line"):
            assert np.array_equal(raw, np.asarray(tensor, np.float32))
            continue
        if tensor.scheme == "nvfp4":
            raw = raw * by_name[name.removesuffix(".weight") + ".scale"].data[0]
        assert their.tensor_type == GGMLQuantizationType[tensor.scheme.upper()]
        assert np.array_equal(raw, dequantize(tensor))


def test_we_read_what_gguf_writes(tmp_path):
    path = tmp_path / "m.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint32("a.number", 3)
    writer.add_array("a.list", [1.5, 2.5])
    writer.add_array("a.words", ["x", "yz"])
    writer.add_bool("a.truth", True)
    x = np.random.default_rng(1).standard_normal((4, 64)).astype(np.float32)
    writer.add_tensor("f", x)
    kind = GGMLQuantizationType.Q8_0
    writer.add_tensor("q", gguf.quants.quantize(x, kind), raw_dtype=kind)
    writer.add_tensor(
        "b", gguf.quants.quantize(x, GGMLQuantizationType.BF16), raw_dtype=30
    )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    found = read_gguf(path)
    assert found.metadata["a.number"] == 3 and found.metadata["a.list"] == [1.5, 2.5]
    assert (
        found.metadata["a.words"] == ["x", "yz"] and found.metadata["a.truth"] is True
    )
    assert np.array_equal(found.tensors["f"], x)
    assert np.array_equal(
        dequantize(found.tensors["q"]), dequantize(quantize(x, "q8_0"))
    )
    assert np.abs(found.tensors["b"] - x).max() < 0.02


def test_there_and_back(tmp_path):
    path = tmp_path / "m.gguf"
    write_gguf(path, tensors(), FACTS)
    found = read_gguf(path)
    assert list(found.metadata) == list(FACTS)
    for name, tensor in tensors().items():
        if isinstance(tensor, np.ndarray):
            assert np.array_equal(found.tensors[name], tensor)
        else:
            assert found.tensors[name].scheme == tensor.scheme
            assert np.array_equal(dequantize(found.tensors[name]), dequantize(tensor))


def test_a_file_cut_anywhere_is_refused(tmp_path):
    path, cut = tmp_path / "m.gguf", tmp_path / "cut.gguf"
    x = np.ones((2, 32), np.float32)
    write_gguf(path, {"first": quantize(x, "q8_0"), "last": x}, {"a": "text"})
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        cut.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"cut\.gguf: (it|tensor)") as told:
            read_gguf(cut)
    assert "tensor 'last'" in str(told.value)
    cut.write_bytes(whole)
    assert list(read_gguf(cut).tensors) == ["first", "last"]


def test_foreign_files_and_bad_tensors(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(b"PK\x03\x04" * 20)
    with pytest.raises(ValueError, match="does not begin with GGUF"):
        read_gguf(path)
    x = np.ones((2, 48), np.float32)
    write_gguf(path, {"w": np.ones((2, 32), np.float32)}, {"a": 1})
    raw = bytearray(path.read_bytes())
    at = raw.index(b"w") + 1 + 4 + 16  # behind the name, the count of axes, the sizes
    for kind, told in ((99, "ggml type 99"), (12, "256 does not divide")):
        raw[at] = kind
        path.write_bytes(raw)
        with pytest.raises(ValueError, match=f"tensor 'w' .*{told}"):
            read_gguf(path)
    raw[4] = 9
    path.write_bytes(raw)
    with pytest.raises(ValueError, match="version 9"):
        read_gguf(path)
    for name, tensor, told in (
        ("odd", quantize(x, "q4_0"), "rows that 32 divides"),
        ("turned", quantize(np.ones((32, 2)), "q4_0", axis=0), "axis -2"),
        ("mx", quantize(x, "mxfp8_e4m3"), "GGUF has no mxfp8_e4m3"),
        ("whole", np.arange(4), "int64"),
    ):
        with pytest.raises(ValueError, match=f"tensor '{name}'.*{told}"):
            write_gguf(path, {name: tensor}, {})
    for bad in (None, [], [1, "a"], float("nan"), {"a": 1}):
        with pytest.raises(TypeError, match="fact"):
            write_gguf(path, {}, {"fact": bad})
    assert not list(tmp_path.glob("*.partial"))
