"""GGUF files that nobody vouches for: read, or refused with ValueError, and small."""

import os
import random
import time
import tracemalloc

import numpy as np
import pytest

from stacklib.models.files.gguf_header import KINDS
from stacklib.quantizers import dequantize, quantize, read_gguf, write_gguf
from stacklib.quantizers.gguf_file import TYPES

from .gguf_crafted import CRAFTED, built, fact, listed, number, one, sample, text


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.gguf"


def refused(path, says=""):
    """The peak of memory while a file is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=says or None) as told:
            read_gguf(path)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert path.name in str(told.value) and len(str(told.value)) < 1500
    return peak


@pytest.mark.rows("name", [*CRAFTED])
def test_a_crafted_file_is_refused_by_name(name, path):
    data, says = CRAFTED[name]
    path.write_bytes(data)
    assert refused(path, says) < 200_000


def test_a_folder_a_device_and_a_file_that_is_not_there_are_refused(tmp_path):
    assert len(CRAFTED) == 48
    for path in (tmp_path, tmp_path / "none.gguf", "/dev/zero", "a\0b"):
        with pytest.raises(ValueError):
            read_gguf(path)


def test_a_sample_cut_at_every_byte_is_refused(path):
    whole = sample()
    path.write_bytes(whole)
    assert read_gguf(path).tensors["q"].shape == (2, 32)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        refused(path)


def test_what_is_large_on_paper_or_on_disk_costs_no_memory(path):
    """A text of 16 GB that is there, a long list, and one that a bad fact follows."""
    path.write_bytes(fact(8, text(b"", 1 << 34)))
    os.truncate(path, (1 << 34) + 1000)
    assert refused(path, "'k'") < 200_000
    many = 1 << 20
    lists = [(b"n", 9, listed(0, many, bytes(many)))]
    lists += [(b"t", 9, listed(8, many // 8, text(b"ab") * (many // 8)))]
    data = built([*lists, (b"bad", 99, b"")])
    path.write_bytes(data)
    assert refused(path, "'bad' has type 99") < len(data)
    path.write_bytes(built(lists))
    found = read_gguf(path).metadata
    assert len(found["n"]) == many and found["n"][-1] == 0
    assert found["t"][-3:] == ["ab"] * 3 and found["t"][5] == "ab"
    with pytest.raises(IndexError):
        found["t"][many]


def test_a_file_of_140_gb_is_looked_at_in_a_second(path):
    """As large as 70 billion numbers in 16 bits, with Llama 3's count of words."""
    words = [
        (b"tokenizer.ggml.tokens", 9, listed(8, 128_256, text(b"abcde") * 128_256))
    ]
    words += [(b"tokenizer.ggml.merges", 9, listed(8, 280_147, text(b"a b") * 280_147))]
    tensors = [
        (f"blk.{n}.ffn_up.weight".encode(), (8192, 28672), 1, n * 8192 * 28672 * 2)
        for n in range(298)
    ]
    head = built([(b"general.architecture", 8, text(b"llama")), *words], tensors)
    path.write_bytes(head)
    os.truncate(path, len(head) + 298 * 8192 * 28672 * 2)
    assert path.stat().st_size > 139e9
    tracemalloc.start()
    start = time.process_time()
    found = read_gguf(path)
    taken, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000 and taken < 5, taken  # .1 s, and tracing takes its own
    assert len(found.metadata["tokenizer.ggml.merges"]) == 280_147
    assert found.tensors["blk.297.ffn_up.weight"].shape == (28672, 8192)


def test_every_type_has_a_name_and_one_that_has_none_refuses_only_its_tensor(path):
    assert {*range(43)} == {*KINDS}
    rows = [(b"known", (8,), 0, 0), (b"new", (8,), 77, 32), (b"iq", (256,), 16, 64)]
    path.write_bytes(built([], rows, np.arange(64, dtype="<f4").tobytes()))
    found = read_gguf(path)
    assert [*found.tensors] == ["known", "new", "iq"]
    assert found.tensors["known"].tolist() == [*range(8)]
    for name, says in (("new", "ggml type 77; known.*nvfp4"), ("iq", "is in iq2_xxs")):
        with pytest.raises(ValueError, match=f"m.gguf: tensor '{name}'.* {says}"):
            found.tensors[name]
    path.write_bytes(one((), 0))
    assert read_gguf(path).tensors["t"].shape == ()
    rows = [(b"x.weight", (64,), 40, 0), (b"x.scale", (1,), 28, 64)]
    path.write_bytes(built([], rows, bytes(64) + np.float64(1e300).tobytes()))
    with pytest.raises(ValueError, match=r"'x.scale' = .*: no scale"):
        read_gguf(path).tensors["x.weight"]


def test_big_endian_is_read_as_little_endian(path, tmp_path):
    """Every type, its 16-bit numbers turned round as ggml's converter turns them."""
    x = np.random.default_rng(3).standard_normal((2, 256)).astype(np.float32)
    write_gguf(path, {name: quantize(x, name) for name in TYPES} | {"plain": x}, {})
    little, big = read_gguf(path).tensors, tmp_path / "big.gguf"
    halves = {"q2_k": (80, 84), "q3_k": (108, 110), "q6_k": (208, 210)}
    halves |= dict.fromkeys(("q4_1", "q5_1", "q4_k", "q5_k"), (0, 4))
    halves |= dict.fromkeys(("q4_0", "q5_0", "q8_0", "iq4_nl"), (0, 2))
    for name in (*TYPES, "plain"):
        entry = little.entries[name]
        raw = little.stored(entry).copy()
        if name == "plain":
            raw = raw.view("<f4").byteswap().view(np.uint8)
        elif name in halves:
            part = raw.reshape(-1, entry.row.row_bytes)[:, slice(*halves[name])]
            part[:] = np.ascontiguousarray(part).view("<u2").byteswap().view(np.uint8)
        size = entry.shape[::-1]
        facts = [(b"n", 5, (-7).to_bytes(4, "big", signed=True))]
        rows = [(b"t", size, entry.kind, 0)]
        big.write_bytes(built(facts, rows, raw.tobytes(), order=">"))
        found = read_gguf(big)
        assert found.metadata["n"] == -7
        if name == "plain":
            assert np.array_equal(found.tensors["t"], x)
        else:
            ours, theirs = dequantize(found.tensors["t"]), dequantize(little[name])
            scale = little[name].levels.get("tensor", 1) if name == "nvfp4" else 1
            assert np.allclose(ours * scale, theirs, rtol=1e-6), name


def test_versions_1_and_2_say_the_same(path):
    for version in (1, 2):
        data = built(
            [(b"n", 4, number("I", 3))],
            [(b"t", (4, 2), 0, 0)],
            np.arange(8, dtype="<f4").tobytes(),
            version=version,
        )
        path.write_bytes(data)
        found = read_gguf(path)
        assert found.metadata == {"n": 3} and found.tensors["t"][1, 3] == 7


def spoilt(whole: bytes, draw: random.Random) -> bytes:
    """A file with some bytes, words or stretches of it changed."""
    data = bytearray(whole)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at, how = draw.randrange(len(data) or 1), draw.randrange(6)
        if not data:
            break
        if how == 0:
            data[at] = draw.choice((0, 1, 2, 127, 128, 255, draw.randrange(256)))
        elif how == 1:
            data[at] ^= 1 << draw.randrange(8)
        elif how == 2:
            wide = draw.choice((4, 8))
            many = draw.choice(
                (0, 1, 33, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1)
            )
            data[at : at + wide] = (many % (1 << 8 * wide)).to_bytes(wide, "little")
        elif how == 3:
            del data[at : at + draw.randrange(1, 16)]
        elif how == 4:
            data[at:at] = data[draw.randrange(len(data)) :][: draw.randrange(1, 40)]
        else:
            del data[max(at, 1) :]
    return bytes(data)


def fuzzed(path, tries: int, seed: int) -> tuple[int, int]:
    """How many of so many mutations were read, and how many refused."""
    draw, read, whole = random.Random(seed), 0, sample()
    slowest = 0.0
    for _ in range(tries):
        data = spoilt(whole, draw)
        path.write_bytes(data)
        start = time.process_time()
        try:
            found = read_gguf(path)
            for value in found.metadata.values():
                repr(value), value == value
            for name in found.tensors:
                try:
                    found.tensors[name]
                except ValueError as wrong:
                    assert "tensor" in str(wrong)
            read += 1
        except ValueError as wrong:
            assert path.name in str(wrong) and len(str(wrong)) < 3000
        slowest = max(slowest, time.process_time() - start)
    assert slowest < 5, slowest  # a hang, not a slow machine
    return read, tries - read


def test_a_mutation_is_read_or_refused(path):
    read, refused = fuzzed(path, 10_000, 1)
    assert read > 500 and refused > 500


@pytest.mark.slow
def test_a_hundred_thousand_mutations_are_read_or_refused(path):
    read, refused = fuzzed(path, 100_000, 2)
    assert read + refused == 100_000
