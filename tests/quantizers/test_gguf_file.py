"""GGUF files: read by gguf, written by gguf, and cut at every byte."""

from concurrent.futures import ThreadPoolExecutor

import gguf
import numpy as np
import pytest
from gguf import GGMLQuantizationType
from ml_dtypes import bfloat16

from stacklib.hardware.host_spec import roofline_file, store_machine
from stacklib.quantizers import dequantize, quantize, read_gguf, write_gguf
from stacklib.quantizers.gguf_file import TYPES
from stacklib.tinylm.weights import read_quantized, write_quantized

from .gguf_crafted import sample

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
    # two that llama.cpp wants are added
    added = {"general.quantization_version": 2, "general.file_type": 0}
    assert found.metadata == FACTS | added
    assert [*found.metadata] == [*FACTS, *added]
    for name, tensor in tensors().items():
        if isinstance(tensor, np.ndarray):
            assert np.array_equal(found.tensors[name], tensor)
        else:
            assert found.tensors[name].scheme == tensor.scheme
            assert np.array_equal(dequantize(found.tensors[name]), dequantize(tensor))


def test_bad_tensors_and_facts_are_not_written(tmp_path):
    path, x = tmp_path / "m.gguf", np.ones((2, 48), np.float32)
    for name, tensor, told in (
        ("odd", quantize(x, "q4_0"), "rows that 32 divides"),
        ("turned", quantize(np.ones((32, 2)), "q4_0", axis=0), "axis -2"),
        ("mx", quantize(x, "mxfp8_e4m3"), "GGUF has no mxfp8_e4m3"),
        ("whole", np.arange(4), "int64"),
        ("n" * 64, x, "63 bytes"),
        ("five", np.ones((1, 1, 1, 1, 2)), "shape"),
    ):
        with pytest.raises(ValueError, match=f"tensor '{name}'.*{told}"):
            write_gguf(path, {name: tensor}, {})
    for bad in (None, [], [1, "a"], float("nan"), {"a": 1}, 1 << 64, "\ud800"):
        with pytest.raises(TypeError, match="fact"):
            write_gguf(path, {}, {"fact": bad})
    with pytest.raises(ValueError, match=r"'w\.scale' is given twice"):
        write_gguf(
            path, {"w.weight": quantize(np.ones((1, 64)), "nvfp4"), "w.scale": x}, {}
        )
    for align in (0, 3, -32, 32.0, True, [32], np.int32(32), 1 << 33):
        with pytest.raises(ValueError, match=r"general\.alignment = "):
            write_gguf(path, {}, {"general.alignment": align})
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize("writer", ["write_gguf", "write_quantized", "store_machine"])
def test_writers_of_one_path_do_not_meet(writer, tmp_path, monkeypatch):
    """Both wrote into one file beside it, and one of them found it gone."""
    measured = roofline_file().read_text()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("STACKLIB_THIS_MACHINE", raising=False)
    path, x = tmp_path / "m.gguf", np.arange(1 << 14, dtype=np.float32)
    q = quantize(x.reshape(128, 128), "nf4", axis=0, block=32)
    doors = {
        "write_gguf": lambda _: write_gguf(path, {"x": x}, {}),
        "write_quantized": lambda _: write_quantized(path, {"x": x, "q": q}),
        "store_machine": lambda _: store_machine(measured),
    }
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(doors[writer], range(64)))
    if writer == "store_machine":
        assert roofline_file().read_text() == measured
    elif writer == "write_gguf":
        assert np.array_equal(read_gguf(path).tensors["x"], x)
    else:  # with its axis and block, which were left out
        read = read_quantized(path)
        assert np.array_equal(read["x"], x)
        assert np.array_equal(dequantize(read["q"]), dequantize(q))
    assert not list(tmp_path.rglob("*.partial"))


def test_tensors_in_bf16_stay_so(tmp_path):
    torch, path = pytest.importorskip("torch"), tmp_path / "m.gguf"
    x = np.arange(64, dtype=np.float32).reshape(2, 32)
    plain = torch.from_numpy(x)
    bf16 = {"t": torch.nn.Parameter(plain.bfloat16()), "n": x.astype(bfloat16)}
    write_gguf(path, {**bf16, "p": torch.nn.Parameter(plain)}, {})
    found, theirs = read_gguf(path), gguf.GGUFReader(path)
    assert [t.tensor_type.name for t in theirs.tensors] == ["BF16", "BF16", "F32"]
    assert found.metadata["general.file_type"] == 32
    assert all(np.array_equal(found.tensors[name], x) for name in "tnp")


@pytest.mark.rows(
    "name, numbers, key, says",
    [
        ("t", np.array([1.0, -1e300]), "k", "'t': -1e.300 is more than fp32 holds"),
        ("t", np.ma.array([1.0, 2.0], mask=[0, 1]), "k", "'t' with masked entries"),
        ("a\0b", np.ones(2), "k", "takes a name"),
        (3, np.ones(2), "k", "tensor 3: ggml takes a name"),
        ("\ud800", np.ones(2), "k", "takes a name"),
        ("t", np.ones(2), "\ud800", "its key is a text"),
        ("t", np.ones(2), "k" * (1 << 16), "its key is a text of 1 to 65535 bytes"),
    ],
)
def test_what_no_reader_would_find_again_is_not_written(
    name, numbers, key, says, tmp_path_factory
):
    path = tmp_path_factory.mktemp("gguf") / "m.gguf"
    with pytest.raises((TypeError, ValueError), match=says):
        write_gguf(path, {name: numbers}, {key: 1})
    assert not [*path.parent.iterdir()]


@pytest.mark.rows("align", [1, 8, 64, 4096, np.uint32(128)])
def test_an_alignment_is_kept(align, tmp_path):
    """ggml wants every tensor, and the end of the last, at a multiple of it."""
    path = tmp_path / "m.gguf"
    write_gguf(path, tensors(), {"general.alignment": align, "a": "text"})
    theirs = gguf.GGUFReader(path)
    assert theirs.alignment == align
    assert all(t.data_offset % align == 0 for t in theirs.tensors)
    assert (path.stat().st_size - theirs.data_offset) % align == 0
    found = read_gguf(path)
    assert np.array_equal(found.tensors["plain"], tensors()["plain"])
    assert np.array_equal(theirs.tensors[-3].data, tensors()["plain"])


def test_a_file_says_what_its_tensors_are(tmp_path):
    """gguf's names of files, for one in each type, and nothing for none."""
    path = tmp_path / "m.gguf"
    x = np.ones((2, 256), np.float32)
    layouts = "general.quantization_version"
    made = {name.upper(): quantize(x, name) for name in TYPES}
    for name, tensor in {**made, "F32": x, "F16": x.astype(np.float16)}.items():
        write_gguf(path, {"w": tensor}, {})
        found = read_gguf(path).metadata
        assert name in gguf.LlamaFileType(found["general.file_type"]).name
        assert found.get(layouts) == (2 if name in made else None)
    assert gguf.GGML_QUANT_VERSION == 2
    write_gguf(path, {"w": quantize(x, "q4_k")}, {"general.file_type": 15})
    assert read_gguf(path).metadata == {"general.file_type": 15, layouts: 2}
    write_gguf(path, {}, {"a": 1})
    assert read_gguf(path).metadata == {"a": 1}


def foreign(path, seed):
    """A vocabulary alone as gguf writes it, facts of every type in any order."""
    draw = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(path, "bert")
    kinds = [*gguf.GGUFValueType]
    numbers = [k for k in kinds if k.name not in ("STRING", "ARRAY", "BOOL")]
    for n in draw.permutation(24):
        kind = numbers[n % len(numbers)]
        dtype = np.dtype(kind.name.lower())
        raw = draw.integers(0, 256, 8 * dtype.itemsize, np.uint8).view(dtype)
        many = raw[: draw.integers(1, 9)].tolist()
        if n % 3:
            writer.add_key_value(f"k.{n}", many, gguf.GGUFValueType.ARRAY, kind)
        else:
            writer.add_key_value(f"k.{n}", many[0], kind)
    texts = ["", "a", "é€😀", "\u2581the"][: draw.integers(1, 5)]
    writer.add_array("tokenizer.ggml.tokens", texts)
    writer.add_array("truths", [True, False])
    writer.add_uint32("general.alignment", 64)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def test_a_vocabulary_alone_is_written_back_byte_by_byte(tmp_path):
    path, again = tmp_path / "v.gguf", tmp_path / "w.gguf"
    for seed in range(40):
        foreign(path, seed)
        raw = path.read_bytes()
        found = read_gguf(path)
        for tensors, facts in (
            (found.tensors, found.metadata),
            ({}, {**found.metadata}),
        ):
            write_gguf(again, tensors, facts)
            assert again.read_bytes() == raw
    old = raw[:4] + b"\2" + raw[5:] + bytes(-len(raw) % 64)  # version 2, filled up
    path.write_bytes(old)
    write_gguf(path, read_gguf(path).tensors, read_gguf(path).metadata)
    assert path.read_bytes() == old
    path.write_bytes(sample())  # empty lists, texts, tensors, one in bf16
    write_gguf(path, read_gguf(path).tensors, read_gguf(path).metadata)
    back = read_gguf(path)
    assert back.metadata.pop("general.quantization_version") == 2
    path.write_bytes(sample())
    first = read_gguf(path)
    assert back.metadata.pop("general.file_type", 0) == 0
    assert back.metadata == first.metadata
