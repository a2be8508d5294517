"""Schemes against gguf, torchao and bitsandbytes, and against what scales promise."""

import hashlib
import json
import math
from pathlib import Path

import gguf
import numpy as np
import pytest
from gguf import GGMLQuantizationType
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stacklib.quantity import UnknownName
from stacklib.quantizers import (
    SCHEMES,
    Format,
    compiled,
    dequantize,
    pack,
    quantize,
    schemes,
    unpack,
)
from stacklib.quantizers.layouts import BLOCKS
from stacklib.quantizers.tables import dynamic_map

PEERS = json.loads((Path(__file__).parent / "peers.json").read_text())
RULED = [key.split() for key in PEERS["mx"]]
LIVE = ("q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "mxfp4")  # gguf encodes these
# RMSE of ggml 0.25's own encoders on the same numbers (libggml of llama.cpp)
GGML_RMSE = {
    "q2_k": 0.29661,
    "q3_k": 0.15093,
    "q4_k": 0.07138,
    "q5_k": 0.03613,
    "q6_k": 0.01774,
    "iq4_nl": 0.07620,
}


def shared_numbers(rows: int = 96, row: int = 512) -> np.ndarray:
    """Numbers any machine makes alike: bell-shaped, each row with its own size."""
    steps = np.arange(4 * rows * row, dtype=np.uint64) * np.uint64(2654435761)
    even = (steps % np.uint64(2**32)).astype(np.float64) / 2**32 - 0.5
    mixed = even.reshape(4, -1)[:, np.argsort(steps[: rows * row] % np.uint64(99991))]
    x = mixed.sum(0).reshape(rows, row)
    x = np.ldexp(x, (np.arange(rows) % 25 - 12)[:, None])
    x[1::8] = np.rint(x[1::8] * 2.0**12) / 2.0**12  # exact half ways
    x[2::16, 32:96] = 0
    x[3::16, ::37] *= 40  # outliers
    return x.astype(np.float32)


def sha(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def normal(rows: int = 64, row: int = 1024) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((rows, row)).astype(np.float32)


def by_gguf(q) -> np.ndarray:
    """What gguf makes of our bytes."""
    raw = np.frombuffer(pack(q), np.uint8)
    kind = GGMLQuantizationType[q.scheme.upper()]
    tensor = 1
    if q.scheme == "nvfp4":
        raw, tensor = raw[:-4], raw[-4:].view("<f4")
    found = gguf.quants.dequantize(raw.reshape(q.codes.shape[0], -1), kind)
    return found * np.float32(tensor)


@pytest.mark.rows("name", BLOCKS)
def test_gguf_opens_our_bytes(name: str):
    for x in (shared_numbers(), normal()):
        q = quantize(x, name)
        assert np.array_equal(by_gguf(q), dequantize(q))
    kind = GGMLQuantizationType[name.upper()]
    assert gguf.GGML_QUANT_SIZES[kind] == BLOCKS[name]
    # turned over, one nibble is another number
    raw = bytearray(pack(q))
    raw[-6] ^= 0xFF
    other = unpack(bytes(raw), name, x.shape)
    assert not np.array_equal(dequantize(other), dequantize(q))


@pytest.mark.rows("name", LIVE)
def test_our_bytes_are_those_of_gguf(name: str):
    x = np.ldexp(normal(), (np.arange(64) % 20 - 10)[:, None])
    x[5] = 0
    theirs = gguf.quants.quantize(x, GGMLQuantizationType[name.upper()])
    assert pack(quantize(x, name)) == theirs.tobytes()


@pytest.mark.rows("name", LIVE)
@pytest.mark.rows("columns", [1, 31, 33, 97])
def test_a_row_that_fills_no_block_is_filled_with_zeros(name: str, columns: int):
    """Of positive numbers too, where a least number that is stored would tell."""
    for x in (normal(5, columns), np.abs(normal(5, columns)) + 1):
        full = np.pad(x, [(0, 0), (0, -columns % 32)])
        theirs = gguf.quants.quantize(full, GGMLQuantizationType[name.upper()])
        assert pack(quantize(x, name)) == theirs.tobytes()


@pytest.mark.rows("name", BLOCKS)
def test_foreign_bytes_are_read_as_gguf_reads_them(name: str):
    """Every field of a block, not only those our encoder fills."""
    count, size = BLOCKS[name]
    raw = np.random.default_rng(3).integers(0, 256, (40, size), dtype=np.uint8)
    scale = {"q2_k": 80, "q3_k": 108, "q6_k": 208}.get(name, 0)
    if name in ("mxfp4", "nvfp4"):
        raw[:, :4] = raw[:, :4] % 120 + 1  # finite, and no NaN
    else:
        for at in range(scale, scale + 4, 2):
            if at + 1 < size:
                raw[:, at + 1] = raw[:, at + 1] % 64 + 16
    kind = GGMLQuantizationType[name.upper()]
    data = raw.tobytes() + np.float32(1).tobytes() * (name == "nvfp4")
    ours = dequantize(unpack(data, name, (40, count)))
    assert np.array_equal(ours, gguf.quants.dequantize(raw, kind).reshape(40, -1))
    assert pack(unpack(data, name, (40, count))) == data


@pytest.mark.rows(("name", "rule"), RULED)
def test_mx_codes_and_scales_are_those_of_torchao(name: str, rule: str):
    x, known = shared_numbers(), PEERS["mx"][f"{name} {rule}"]
    assert sha(x) == PEERS["input"]
    q = quantize(x, name, rule=rule)
    # torchao divides a block of zeros too, and gives it the scale of its rule
    assert sha(q.scales.reshape(-1)) == known["scales"]
    codes = q.codes.reshape(-1)
    if name == "mxfp4":  # torchao keeps the sign of a zero, ggml does not
        codes = np.where((codes == 0) & np.signbit(x.reshape(-1)), np.uint8(8), codes)
    assert sha(codes) == known["codes"]


@pytest.mark.parametrize("name", ["mxfp8_e4m3", "mxfp8_e5m2", "mxfp4"])
def test_the_compiled_loop_gives_the_same(name: str, monkeypatch):
    numba = pytest.importorskip("numba")
    x = shared_numbers()
    x[7] *= np.float32(2.0**-120)  # subnormal numbers among them
    x[9] *= np.float32(2.0**100)
    plain = quantize(x, name)
    monkeypatch.setattr(compiled, "WORTH", 0)
    fast = quantize(x, name)
    assert numba and np.array_equal(fast.codes, plain.codes)
    assert np.array_equal(fast.scales, plain.scales)
    for bad in (math.nan, -math.inf):
        x[4, 5] = bad
        with pytest.raises(ValueError, match=r"at index \(4, 5\)"):
            quantize(x, name)


def test_nvfp4_is_that_of_torchao():
    x, known = shared_numbers(), PEERS["nvfp4"]
    q = quantize(x, "nvfp4")
    assert float(q.levels["tensor"]) == known["tensor"]
    assert sha(q.codes.reshape(-1)) == known["codes"]
    # torchao gives a block of zeros its least normal scale, we give it none
    scales = np.where(q.scales == 0, Format("e4m3fn").encode(2.0**-6), q.scales)
    assert sha(scales.astype(np.uint8).reshape(-1)) == known["scales_sha"]


@pytest.mark.parametrize("name", ["nf4", "bnb_fp4"])
def test_tables_are_those_of_bitsandbytes(name: str):
    x = shared_numbers()
    q = quantize(x, name)
    assert sha(np.frombuffer(pack(q), np.uint8)[: x.size // 2]) == PEERS[name]["bytes"]
    assert sha(dequantize(q).reshape(-1)) == PEERS[name]["decoded"]


def test_double_quantization_is_that_of_bitsandbytes():
    """All but some scales: its kernel for CPUs takes a neighbour now and then."""
    known, q = PEERS["nf4_dq"], quantize(shared_numbers(), "nf4_dq")
    assert (
        sha(q.codes.reshape(-1)[::2] << 4 | q.codes.reshape(-1)[1::2])
        == (known["bytes"])
    )
    assert (
        sha(dynamic_map()) == known["map"]
        and sha(q.levels["second"]) == (known["second"])
    )
    assert float(q.levels["mean"]) == known["mean"]
    apart = q.scales.reshape(-1).astype(int) - np.array(known["scales"])
    assert np.abs(apart).max() <= 1 and (apart != 0).mean() < 0.005


def test_int4_scales_are_those_of_torchao():
    q = quantize(shared_numbers(), "int4_g128")
    assert sha(q.scales.reshape(-1)) == PEERS["int4"]["scales"]


@pytest.mark.rows("name", GGML_RMSE)
def test_searched_scales_are_no_worse_than_those_of_ggml(name: str):
    x = np.random.default_rng(0).standard_normal((256, 4096)).astype(np.float32)
    error = dequantize(quantize(x, name)) - x
    assert math.sqrt(np.square(error).mean()) < GGML_RMSE[name]


NAMES = [row.name for row in schemes()]


@pytest.mark.rows("name", NAMES)
@pytest.mark.rows(
    ("shape", "axis"),
    [((), -1), ((1,), 0), ((77,), -1), ((3, 5, 70), 0), ((130, 300), 1), ((2, 300), 0)],
)
def test_any_shape_comes_back_from_its_bytes(name: str, shape, axis: int):
    x = np.asarray(np.random.default_rng(1).standard_normal(shape), np.float32)
    q = quantize(x, name, axis=axis)
    found, data = dequantize(q), pack(q)
    assert found.shape == x.shape and found.dtype == np.float32
    assert len(data) == q.nbytes and q.bits == 8 * q.nbytes / max(x.size, 1)
    back = unpack(data, name, shape, axis=axis)
    assert np.array_equal(back.codes, q.codes) and back.codes.dtype == q.codes.dtype
    assert np.array_equal(back.scales, q.scales) and back.scales.dtype == (
        q.scales.dtype
    )
    assert np.array_equal(dequantize(back), found) and pack(back) == data
    # along another axis the same numbers share scales when they are moved there
    moved = dequantize(quantize(np.moveaxis(x, axis, -1) if shape else x, name))
    assert np.array_equal(np.moveaxis(moved, -1, axis) if shape else moved, found)


@pytest.mark.rows("name", NAMES)
def test_zeros_stay_zeros_and_bits_are_as_listed(name: str):
    zeros = np.zeros((3, 512), np.float32)
    q = quantize(zeros, name)
    assert not dequantize(q).any() and not np.isnan(dequantize(q)).any()
    if SCHEMES[name].family in ("mx", "nvfp4"):
        assert not q.scales.any()
    long = quantize(np.ones((128, 4096), np.float32), name)
    assert long.bits == pytest.approx(SCHEMES[name].bits, rel=2e-3)
    assert name in repr(long) and SCHEMES[name].source and SCHEMES[name].layout


STEP = {  # largest error over the largest magnitude, by what the grid leaves between
    "int8_tensor": 0.5 / 127,
    "int8_channel": 0.5 / 127,
    "int4_g128": 0.51 / 7.5,
    "fp8_128x128": 2**-4 / 1.75,
    "fp8_1x128": 2**-4 / 1.75,
    "nf4": 0.1521,
    "mxint8": 1 / 64,
    "mxfp8_e4m3": 1 / 7,
    "mxfp8_e5m2": 1 / 8,
    "mxfp6_e2m3": 1 / 15,
    "mxfp6_e3m2": 1 / 8,
    "mxfp4": 1 / 4,
    "nvfp4": 1 / 6 + 0.04,
    "q4_0": 0.126,
    "q8_0": 0.5 / 127 + 2**-11,
}
rows = hnp.arrays(
    np.float32,
    st.integers(1, 200),
    elements=st.floats(-1e4, 1e4, width=32).filter(lambda x: x == 0 or abs(x) > 1e-3),
)


@pytest.mark.rows("name", STEP)
@settings(max_examples=12, deadline=None)
@given(x=rows)
def test_no_error_is_larger_than_the_grid_leaves(name: str, x: np.ndarray):
    error = np.abs(dequantize(quantize(x, name)) - x)
    largest = np.abs(x).max()
    assert error.max() <= STEP[name] * largest * 1.001 + 2e-7 * 8


@pytest.mark.filterwarnings("ignore:.*scale of their block")
def test_subnormal_numbers_give_numbers():
    x = (np.arange(-256, 256) * 2.0**-149).astype(np.float32).reshape(1, -1)
    for name in NAMES:
        found = dequantize(quantize(x, name))
        assert np.isfinite(found).all() and np.abs(found).max() <= 2.0**-126
    for name in ("int8_tensor", "fp8_1x128", "nf4"):  # fp32 scales reach down there
        assert np.abs(dequantize(quantize(x, name))).max() > 2.0**-145


def test_four_bits_clipped_lose_less():
    x = np.random.default_rng(2).standard_t(3, (8, 1024)).astype(np.float32)
    for name in ("int4_g128", "int4_g128_asym", "int8_channel"):
        whole, best = (
            np.square(dequantize(quantize(x, name, clip=clip)) - x).sum()
            for clip in (None, "mse")
        )
        assert best < whole or (best == whole and name == "int8_channel")


def test_a_row_or_all_numbers_share_a_scale():
    x = normal(4, 256)
    x[2] *= 100
    tensor, channel = quantize(x, "int8_tensor"), quantize(x, "int8_channel")
    assert tensor.scales.shape == (1,) and channel.scales.shape == (4, 1)
    assert np.abs(dequantize(tensor)[0] - x[0]).max() > 50 * (
        np.abs(dequantize(channel)[0] - x[0]).max()
    )
    tiles = quantize(np.ones((256, 384), np.float32), "fp8_128x128")
    assert tiles.scales.shape == (1, 2, 3)


def test_bad_arrays_are_refused():
    ones = np.ones((2, 3), np.float32)
    for bad in (math.nan, math.inf, -math.inf):
        x = ones.copy()
        x[1, 2] = bad
        with pytest.raises(ValueError, match=r"at index \(1, 2\)"):
            quantize(x, "mxfp4")
    with pytest.raises(ValueError, match="empty"):
        quantize(np.zeros((0, 4)), "nf4")
    for bad_type in (ones.astype(complex), np.array([None]), np.array(["1"]), ones > 0):
        with pytest.raises(TypeError, match="real numbers"):
            quantize(bad_type, "nf4")
    with pytest.raises(ValueError, match="axis=2"):
        quantize(ones, "nf4", axis=2)
    with pytest.raises(TypeError, match=r"axis=1\.0"):
        quantize(ones, "nf4", axis=1.0)
    with pytest.raises(UnknownName, match="mxfp4"):
        quantize(ones, "mxfp5")
    with pytest.raises(UnknownName, match="floor"):
        quantize(ones, "mxfp4", rule="flor")
    with pytest.raises(ValueError, match="no power of two"):
        quantize(ones, "nf4", rule="even")
    with pytest.raises(ValueError, match="only integers are clipped"):
        quantize(ones, "nf4", clip="mse")
    with pytest.raises(ValueError, match="more than fp16 holds"):
        quantize(ones * 1e9, "q4_0")
    with pytest.raises(ValueError, match="inf at index"):
        quantize(np.array([1e39]), "nf4")  # finite, but not in fp32
    with pytest.raises(TypeError, match="what quantize gave"):
        dequantize(ones)
    with pytest.raises(TypeError, match="what quantize gave"):
        pack(ones)


def test_bad_bytes_are_refused():
    data = pack(quantize(np.ones((2, 32), np.float32), "q4_0"))
    with pytest.raises(ValueError, match=r"36 bytes: shape \(3, 32\) in q4_0 has 54"):
        unpack(data, "q4_0", (3, 32))
    with pytest.raises(ValueError, match="35 bytes"):
        unpack(data[:-1], "q4_0", (2, 32))
    words = memoryview(np.frombuffer(data, "<u2"))  # half as many of twice the size
    assert pack(unpack(words, "q4_0", (2, 32))) == data
    with pytest.raises(TypeError, match="bytes are needed"):
        unpack("text", "q4_0", (2, 32))
    with pytest.raises(TypeError, match="whole numbers"):
        unpack(data, "q4_0", (2.0, 32))
    with pytest.raises(ValueError, match="holds nothing"):
        unpack(data, "q4_0", (0, 32))


@pytest.mark.parametrize("name", ["mxint8", "mxfp4", "mxfp8_e5m2", "mxfp6_e2m3"])
def test_a_code_is_its_element_times_two_to_its_scale(name: str):
    """OCP MX v1.0, section 6.2, number by number; an MXINT8 code is in 64ths."""
    q, row = quantize(normal(3, 64), name), SCHEMES[name]
    form = None if row.element == "int8" else Format(row.element)
    for at in np.ndindex(q.codes.shape):
        code = int(q.codes[at])
        number = code / 64 if form is None else float(form.decode(code))
        scale = 2.0 ** (int(q.scales[at[0], at[1] // 32]) - 127)
        assert dequantize(q)[at] == number * scale


def test_nvfp4_multiplies_three_numbers():
    q = quantize(normal(2, 64), "nvfp4")
    element, scale = Format("e2m1"), Format("e4m3fn")
    for at in np.ndindex(q.codes.shape):
        whole = (
            element.decode(int(q.codes[at])),
            scale.decode(int(q.scales[at[0], at[1] // 16])),
        )
        expected = float(whole[0]) * float(whole[1]) * float(q.levels["tensor"])
        assert dequantize(q)[at] == np.float32(expected)
