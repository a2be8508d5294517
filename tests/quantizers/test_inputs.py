"""What may come in, in any order in memory, and what may be asked."""

import importlib
import os
import platform
import re
import subprocess
import sys
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from stacklib.quantizers import (
    Format,
    arrays,
    blocks,
    compiled,
    dequantize,
    hessian,
    pack,
    quantize,
    unpack,
)
from stacklib.quantizers.scheme import FREE


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(4).standard_normal(shape, "f4")


def test_tensors_of_torch_are_arrays():
    torch = pytest.importorskip("torch")
    x, form = numbers(6, 256), Format("e4m3fn")
    for kind in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        t = torch.from_numpy(x).to(kind)
        wide = t.double().numpy()
        for tensor in (t, torch.nn.Parameter(t), t.T.contiguous().T, t[:, ::2], t[1:3]):
            plain = tensor.detach().double().numpy()
            assert np.array_equal(form.encode(tensor), form.encode(plain))
            for scheme in ("mxfp8_e4m3", "q8_0", "nf4"):
                ours, theirs = quantize(tensor, scheme), quantize(plain, scheme)
                assert pack(ours) == pack(theirs)
        assert form.encode(t[0, 0]) == form.encode(float(wide[0, 0]))
    assert quantize(torch.arange(64), "int8_tensor").codes.max() == 127
    for bad in (torch.ones(4, dtype=torch.bool), torch.ones(4, dtype=torch.complex64)):
        with pytest.raises(TypeError, match="real numbers"):
            form.encode(bad)


def test_types_of_ml_dtypes_are_numbers_wherever_numbers_may_come():
    """All but two were no real numbers, and scales in bf16 an error of NumPy's."""
    torch = pytest.importorskip("torch")
    x = np.float32([[1, -2, 0.5, 0] * 32])
    kinds = [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float4_e2m1fn]
    for kind in (*kinds, ml_dtypes.float8_e5m2, ml_dtypes.int4):
        few = x.astype(kind)
        plain = few.astype(np.float32)
        assert (Format("e5m2").encode(few) == Format("e5m2").encode(plain)).all()
        assert pack(quantize(few, "q8_0")) == pack(quantize(plain, "q8_0"))
        assert (hessian(few) == hessian(plain)).all()
    half = torch.tensor(0.5, requires_grad=True)
    for scale in (half, half.bfloat16(), ml_dtypes.bfloat16(0.5), np.float16(0.5)):
        assert quantize(x, "int8_tensor", scale=scale).scales == 0.5
    for rounding in ("nearest", "zero"):  # a whole number beyond fp64
        code = [Format("e5m2").encode(n, False, rounding) for n in (-(10**400), -1e300)]
        assert code[0] == code[1]
    data = pack(quantize(x, "q8_0"))
    twice = memoryview(b"".join(bytes([byte, 0]) for byte in data))[::2]
    assert pack(unpack(twice, "q8_0", x.shape)) == data


def pairs():
    torch = pytest.importorskip("torch")
    return torch.zeros(4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)


HIDDEN = np.ma.array([1.0, 2.0], mask=[0, 1])


DOORS = {
    "masked": lambda: Format("e5m2").encode(HIDDEN),
    "the masked number": lambda: Format("e5m2").encode(np.ma.masked),
    "masked, quantized": lambda: quantize(HIDDEN, "q8_0"),
    "masked codes": lambda: Format("e5m2").decode(HIDDEN.astype(int)),
    "masked weights": lambda: hessian(HIDDEN.reshape(1, 2)),
    "bytes": lambda: Format("e5m2").encode(b"12"),
    "a truth of NumPy": lambda: Format("e5m2").encode(np.True_),
    "a truth in an array": lambda: Format("e5m2").encode(np.array(True)),
    "an imaginary part": lambda: Format("e5m2").encode(np.complex64(1 + 2j)),
    "a code with a half": lambda: Format("e5m2").decode(np.float32(3.5)),
    "such a code in an array": lambda: Format("e5m2").decode(np.array(3.5)),
    "a fraction as a code": lambda: Format("e5m2").decode(Fraction(7, 2)),
    "a truth as a code": lambda: Format("e5m2").decode(np.True_),
    "bytes as a code": lambda: Format("e5m2").decode(b"12"),
    "a hidden scale": lambda: quantize(np.ones(2), "int8_tensor", scale=HIDDEN[1]),
    "two numbers in one": lambda: quantize(pairs(), "q8_0"),
    "a span of time": lambda: Format("e4m3fn").encode(np.timedelta64(3)),
    "a truth": lambda: Format("e4m3fn").encode(True),
    "a text": lambda: Format("e4m3fn").encode("1"),
    "complex numbers": lambda: Format("e4m3fn").encode(np.array([1j])),
    "a whole number with a point": lambda: Format("e4m3fn").decode(1.0),
    "such codes": lambda: Format("e4m3fn").decode(np.array([1.0])),
}


@pytest.mark.rows("door", DOORS)
def test_what_hides_or_loses_a_part_is_refused(door):
    """Each was a number before: what a mask hides, a text read, a half cut off."""
    with pytest.raises(TypeError):
        DOORS[door]()


def test_tensors_without_plain_numbers_are_refused_and_a_pending_sign_is_kept():
    torch = pytest.importorskip("torch")
    form, ones = Format("e4m3fn"), torch.ones(2, 2)
    turned = torch.complex(ones, ones).conj().imag  # torch has not turned it yet
    assert (form.encode(turned) == form.encode(-1.0)).all()
    for bad in (ones.to("meta"), ones.to_sparse()):
        for door in (form.encode, lambda t: quantize(t, "q8_0")):
            with pytest.raises(TypeError, match="plain numbers"):
                door(bad)
    for bad in (torch.tensor(True), torch.tensor(1j)):
        with pytest.raises(TypeError):
            form.encode(bad)
    with pytest.raises(TypeError, match="whole numbers"):
        form.decode(torch.tensor(3.5))


ORDERS = [
    lambda x: x.T,
    lambda x: x[::-1, ::2],
    lambda x: x.reshape(4, 8, -1).transpose(1, 2, 0),
    lambda x: np.broadcast_to(x[0], x.shape),
    lambda x: x[:0],
    lambda x: x.astype(">f4"),
    lambda x: x.astype(ml_dtypes.bfloat16).T,
    lambda x: x.astype(np.float16)[:, 3:],
    lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view("f4"),
]


@pytest.mark.parametrize("worth", [0, 1 << 62])
def test_any_order_in_memory_gives_the_same_codes(worth, monkeypatch):
    monkeypatch.setattr(compiled, "WORTH", worth)
    for name in ("e5m2", "bf16", "fp16", "e8m0", "e2m1"):
        form = Format(name)
        for order in ORDERS:
            x = order(numbers(32, 64))
            plain = np.array(x, np.float32, order="C")
            codes = form.encode(x)
            want = form.encode(plain)
            assert codes.shape == x.shape and np.array_equal(codes, want)
            found = form.decode(codes)
            assert np.array_equal(found, form.decode(want), equal_nan=True)
            out, back = np.empty(x.shape, codes.dtype), np.empty(x.shape, np.float32)
            assert form.encode(x, out=out) is out and np.array_equal(out, want)
            assert form.decode(codes, out=back) is back
            assert np.array_equal(back, found, equal_nan=True)
    # into the memory of the numbers themselves
    x = numbers(1 << 12)
    want = Format("fp16").encode(x)
    assert np.array_equal(Format("fp16").encode(x, out=x.view(np.uint16)[1::2]), want)


@pytest.mark.parametrize("block", [32, 64, 128, 256])
def test_groups_of_other_sizes(block: int):
    x = numbers(3, 200)
    for name in FREE:
        q = quantize(x, name, block=block)
        assert q.scales.shape == (3, -(-200 // block))
        data = pack(q)
        assert len(data) == q.nbytes
        back = unpack(data, name, x.shape, block=block)
        assert np.array_equal(dequantize(back), dequantize(q))
        # a group alone is what it is among others
        alone = dequantize(quantize(x[:, :block], name, block=block))
        assert name == "nf4_dq" or np.array_equal(
            alone, dequantize(q)[:, : min(block, 200)]
        )
    for name in ("mxfp4", "q4_0", "int8_channel"):
        with pytest.raises(ValueError, match=f"block=48: {name}"):
            quantize(x, name, block=48)
    with pytest.raises(ValueError, match="power of two"):
        quantize(x, "nf4", block=48)


def test_a_scale_that_is_known():
    x = numbers(4, 256)
    for name in (
        "int8_tensor",
        "int8_channel",
        "int4_g128",
        "fp8_1x128",
        "fp8_128x128",
    ):
        found = quantize(x, name)
        again = quantize(x, name, scale=found.scales)
        assert pack(again) == pack(found)
        one = quantize(x, name, scale=0.25)
        assert (one.scales == 0.25).all()
    assert np.array_equal(
        dequantize(quantize(x, "int8_tensor", scale=0.25)), np.rint(x * 4) / 4
    )
    q = quantize(x, "nvfp4")
    assert pack(quantize(x, "nvfp4", scale=q.levels["tensor"])) == pack(q)
    for bad in (0.0, -1.0, np.nan, np.inf, 1e39, 1e-50):  # the last are none in fp32
        with pytest.raises(ValueError, match="above zero"):
            quantize(x, "int8_tensor", scale=bad)
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        quantize(x, "int8_channel", scale=np.ones(3))
    with pytest.raises(ValueError, match="nf4 finds its scales itself"):
        quantize(x, "nf4", scale=1.0)


DRAWN = ("int8_channel", "int4_g128", "fp8_1x128", "mxint8", "mxfp4", "nvfp4")


@pytest.mark.rows("name", DRAWN)
def test_stochastic_rounding_is_right_in_the_mean(name: str):
    """256 draws of numbers that no grid cuts off: means within five standard errors."""
    row = np.clip(numbers(64), -0.7, 0.7)
    row[0] = 1.0  # the same scale in every block
    x = np.broadcast_to(np.tile(row, 2), (256, 128))
    q = quantize(x, name, rounding="stochastic", seed=5)
    found = dequantize(q).astype(np.float64)
    spread = found.std(0) / 16
    near = dequantize(quantize(x, name))
    assert (np.abs(found.mean(0) - x[0]) <= 5 * spread + 1e-6)[np.abs(x[0]) < 0.8].all()
    assert np.abs(found.mean(0) - x[0]).mean() < np.abs(near[0] - x[0]).mean() / 2
    again = quantize(x, name, rounding="stochastic", seed=5)
    assert np.array_equal(again.codes, q.codes)
    other = quantize(x, name, rounding="stochastic", seed=6)
    assert not np.array_equal(other.codes, q.codes)


def test_what_cannot_be_drawn_or_held_is_refused():
    x = numbers(2, 256)
    with pytest.raises(ValueError, match="q4_0 takes the nearest"):
        quantize(x, "q4_0", rounding="stochastic")
    with pytest.raises(ValueError, match="seed=3"):
        quantize(x, "mxfp4", seed=3)
    form = Format("e4m3fn")
    for draw in (form.encode, lambda x, **how: quantize(x, "mxfp4", **how)):
        for one in (1.1, x):
            draw(one, rounding="stochastic", seed=np.int64(3))
            for bad in (-1, 1.5, "a", True):
                with pytest.raises(ValueError, match=r"seed = .*: a whole number"):
                    draw(one, rounding="stochastic", seed=bad)
    frozen = np.empty(x.shape, np.uint8)
    frozen.flags.writeable = False
    for bad in (np.empty(3, np.uint8), np.empty(x.shape, np.int8), frozen, [0]):
        with pytest.raises(ValueError, match="writable array of uint8"):
            form.encode(x, out=bad)
    with pytest.raises(ValueError, match="one number"):
        form.encode(1.0, out=frozen)
    with pytest.raises(ValueError, match="float32"):
        dequantize(quantize(x, "nf4"), out=np.empty((2, 256)))
    out = np.empty((2, 256), np.float32)
    assert dequantize(quantize(x, "nf4"), out=out) is out and out.any()


@pytest.mark.parametrize(
    ("named", "has"),
    [
        ({"NUMBA_CPU_NAME": "nehalem", "NUMBA_CPU_FEATURES": ""}, "False False"),
        (
            {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+f16c"},
            "True True",
        ),
    ],
)
def test_a_processor_without_fp16_is_asked_for_no_instruction_of_it(named, has):
    """Planted: asked of the host, a loop for such a one ended the interpreter."""
    code = "from stacklib.quantizers import _numba_loops as m\n"
    code += "print(m.AT_ONCE, m.IN_REGISTERS)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **named},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == has


@pytest.mark.skipif(platform.machine() != "x86_64", reason="its instructions")
def test_loops_to_eight_bits_hold_no_number_in_64():
    """The shift by an unknown count was one: e5m2 took 2.5 times as long."""
    numba = pytest.importorskip("numba")
    made = importlib.import_module("stacklib.quantizers._numba_loops")
    for loop in (made._biased, made._unsigned_zero):
        flat = numba.njit(loop.py_func)
        numbers = arrays.plan("e5m2", False).numbers
        flat(np.zeros(8, np.int32), np.zeros(8, np.uint8), numbers)
        text = flat.inspect_asm(flat.signatures[0])
        assert re.search("v?addps", text)
        assert not re.findall(r"pmov[sz]xdq|psra[vq]?q|pmovqd", text)


@pytest.mark.parametrize("scheme", ["nf4", "bnb_fp4", "mxfp4", "nvfp4"])
def test_four_bits_are_the_same_from_registers_and_one_by_one(monkeypatch, scheme):
    x = numbers(5, 4096) * 3
    x[1], x[2, :70] = 0, -0.0
    q = quantize(x, scheme)
    first = q.scales.reshape(-1)
    first[: min(256, len(first))] = np.arange(min(256, len(first)))
    monkeypatch.setattr(compiled, "_worked", [compiled.WORTH])
    found = dequantize(q)
    monkeypatch.setattr(blocks, "loops", lambda count: None)
    assert found.tobytes() == dequantize(q).tobytes()


def test_what_passes_the_caches_is_what_stays_in_them():
    """Stores past the caches begin at a line, wherever the numbers do."""
    many = arrays.FAR + 37
    bits = np.random.default_rng(0).integers(0, 1 << 32, many, np.uint32)
    with np.errstate(invalid="ignore"):  # NaN among them
        wide = np.nextafter(bits.view("f4").astype("f8"), 0)
    for name in ("bf16", "fp16"):
        for x in (bits.view("f4"), wide, wide[3:]):
            want = [Format(name).encode(part) for part in np.split(x, [5, 999])]
            assert (Format(name).encode(x) == np.concatenate(want)).all()
    for name in ("bf16", "fp16", "e8m0"):
        form, kind = Format(name), arrays.plan(name, False).kind
        codes = np.random.default_rng(1).integers(0, 1 << form.bits, many, kind)
        want = np.concatenate([form.decode(part) for part in np.split(codes, [5, 999])])
        for first in (0, 3):
            out = np.zeros(first + many, np.float32)[first:]
            form.decode(codes, out=out)
            few = form.decode(codes[: 1 << 16]).tobytes()
            assert out.tobytes() == want.tobytes() and out[: 1 << 16].tobytes() == few
    x = np.tile(numbers(1 << 16), (1 + many // (1 << 16), 1))
    found = dequantize(quantize(x, "nf4"))
    assert (found == dequantize(quantize(x[0], "nf4"))).all()
