"""Weight files: exact, small, and a fault in one names its tensor."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.tinylm import weights as w
from stacklib.tinylm.weights import CorruptWeights, from_bf16, read_weights, to_bf16

WANTED = {"a.weight": (2, 3), "b.weight": (4,)}
VALUES = {
    "a.weight": np.arange(6, dtype=np.float32).reshape(2, 3) / 3,
    "b.weight": np.array([1, -2, 0.5, 1e-30], dtype=np.float32),
}


@pytest.fixture
def folder(tmp_path):
    """A folder with two tensors."""
    w.write_weights(tmp_path / "m", VALUES)
    return tmp_path / "m"


def test_weights_come_back_as_the_nearest_bf16(folder):
    found = read_weights(folder, WANTED)
    for name, values in VALUES.items():
        assert found[name].dtype == np.float32
        assert np.array_equal(found[name], from_bf16(to_bf16(values)))
        assert np.allclose(found[name], values, rtol=2**-8)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
@settings(deadline=None)
def test_rounding_is_to_nearest_even(value):
    import torch

    theirs = torch.tensor([value], dtype=torch.float32).to(torch.bfloat16)
    ours = to_bf16(np.array([value], dtype=np.float32))
    assert ours[0] == theirs.view(torch.uint16).item()


def test_what_is_not_finite_is_no_weight(tmp_path):
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="not finite"):
            w.write_weights(tmp_path / "x", {"a": np.array([bad], np.float32)})


def test_nothing_is_overwritten(folder):
    with pytest.raises(FileExistsError, match="choose another folder"):
        w.write_weights(folder, VALUES)


def header_of(raw: bytes) -> tuple[dict, bytes]:
    """A file's header and its data."""
    size = struct.unpack("<Q", raw[:8])[0]
    return json.loads(raw[8 : 8 + size]), raw[8 + size :]


def rebuilt(header: dict, data: bytes) -> bytes:
    """A file from header and data."""
    head = json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + data


def planted(raw: bytes, fault: str) -> bytes:
    """The file with one fault."""
    header, data = header_of(raw)
    entry = header["b.weight"]
    if fault == "bit":
        flipped = bytearray(raw)
        flipped[-1] ^= 1
        return bytes(flipped)
    if fault == "short":
        return raw[:-3]
    if fault == "shape":
        entry["shape"] = [2, 2]
    if fault == "dtype":
        entry["dtype"] = "F32"
    if fault == "range":
        entry["data_offsets"] = [0, 4]
    if fault == "negative":
        entry["data_offsets"] = [-8, 0]
    if fault == "entry":
        header["b.weight"] = None
    if fault == "missing":
        del header["b.weight"]
    if fault == "extra":
        header["c.weight"] = entry
    if fault == "swapped":
        header["b.weight"]["data_offsets"] = [0, 8]
    return rebuilt(header, data)


FAULTS = {
    "bit": "b.weight: its bytes are not those that were written",
    "short": "b.weight: the file ends 3 B before it does",
    "shape": r"b.weight: BF16 \(2, 2\), not BF16 \(4,\)",
    "dtype": "b.weight: F32",
    "range": "b.weight: bytes 0 to 4, not 8 of them",
    "negative": "b.weight: bytes -8 to 0",
    "entry": "b.weight: its header entry is None",
    "missing": "b.weight: missing from the file",
    "extra": "c.weight: in the file, but the config has no such tensor",
    "swapped": "b.weight: its bytes are not those that were written",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_names_its_tensor(folder, fault):
    path = folder / w.WEIGHTS
    path.write_bytes(planted(path.read_bytes(), fault))
    with pytest.raises(CorruptWeights, match=FAULTS[fault]):
        read_weights(folder, WANTED)


def test_every_byte_of_the_data_is_checked(folder):
    path = folder / w.WEIGHTS
    raw = path.read_bytes()
    start = len(raw) - 2 * (6 + 4)
    for at in range(start, len(raw)):
        changed = bytearray(raw)
        changed[at] ^= 0x40
        path.write_bytes(changed)
        name = "a.weight" if at < start + 12 else "b.weight"
        with pytest.raises(CorruptWeights, match=name):
            read_weights(folder, WANTED)


NO_FILES = [
    b"",
    b"abc",
    b"\xff" * 40,
    struct.pack("<Q", 4) + b"{x}}",
    struct.pack("<Q", 2) + b"[]",
]


@pytest.mark.parametrize("raw", NO_FILES)
def test_what_is_no_such_file_is_refused(folder, raw):
    (folder / w.WEIGHTS).write_bytes(raw)
    with pytest.raises(CorruptWeights, match="header"):
        read_weights(folder, WANTED)


def test_a_model_of_another_config_is_refused(folder):
    with pytest.raises(CorruptWeights, match=r"d\.weight: missing"):
        read_weights(folder, {**WANTED, "d.weight": (1,)})


@pytest.mark.parametrize(
    "text", ["{", "[]", "7", '{"a.weight": 3}', '{"a.weight": {}}']
)
def test_a_broken_manifest_is_named(folder, text):
    (folder / w.MANIFEST).write_text(text)
    with pytest.raises(CorruptWeights, match=r"weights\.json"):
        read_weights(folder, WANTED)
