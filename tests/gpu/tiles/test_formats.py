"""Types NumPy lacks, and products in the arithmetic of a device's tensor cores."""

import numpy as np
import pytest

from stacklib import gpu
from stacklib.gpu import tiles as tl
from stacklib.gpu.tiles import formats, types
from stacklib.quantizers import Format

BF16 = Format("bf16")


def product(a, b, out, N: tl.constexpr, TIMES: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    total = tl.zeros((N, N), tl.float32)
    for _ in range(TIMES):
        total = tl.dot(tl.load(a + at), tl.load(b + at), total)
    tl.store(out + at, total)


def numbers(form, seed, n=32):
    values = np.random.default_rng(seed).normal(size=(n, n))
    return form.decode(form.encode(values)).astype(np.float32)


@pytest.mark.rows(
    ("name", "dtype"),
    [("bf16", tl.bfloat16), ("e4m3fn", tl.float8e4nv), ("e5m2", tl.float8e5)],
)
@pytest.mark.rows("device", ["h100-sxm", "b200-sxm"])
def test_products_are_the_tensor_cores(name, dtype, device):
    # the interpreter takes bf16 codes for whole numbers here, and says nothing
    form = Format(name)
    a, b = numbers(form, 0), numbers(form, 1)
    args = (tl.array(a, dtype), tl.array(b, dtype), gpu.empty((32, 32)))
    ran = gpu.launch_tiles(product, 1, *args, N=32, TIMES=1, device=device)
    generation = {"h100-sxm": "hopper", "b200-sxm": "blackwell"}[device]
    wanted = gpu.mma(a, b, dtype=name, generation=generation)
    assert (ran.results["out"] == wanted).all()
    assert (ran.results["a"] == a).all()


def test_float32_is_cut_to_tf32_unless_asked():
    def precise(a, b, out, HOW: tl.constexpr):
        at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
        tl.store(
            out + at, tl.dot(tl.load(a + at), tl.load(b + at), input_precision=HOW)
        )

    a, b = (np.random.default_rng(s).normal(size=(16, 16)) for s in (0, 1))
    a, b = a.astype(np.float32), b.astype(np.float32)
    apart = {}
    for how in ("tf32", "tf32x3", "ieee"):
        ran = gpu.launch_tiles(precise, 1, a, b, gpu.empty((16, 16)), HOW=how)
        exact = a.astype(float) @ b.astype(float)
        apart[how] = np.abs(ran.results["out"] - exact).max()
    assert apart["tf32"] > 1e-4 > 1e-5 > apart["tf32x3"]
    assert apart["ieee"] < 1e-5


def test_sums_in_float16_and_promoted_ones():
    def half(a, b, out, TYPE: tl.constexpr, EVERY: tl.constexpr):
        at = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
        x, y = tl.load(a + at), tl.load(b + at)
        found = tl.dot(x, y, out_dtype=TYPE, max_num_imprecise_acc=EVERY)
        tl.store(out + at, found.to(tl.float32))

    form = Format("fp16")
    a, b = (
        numbers(form, 0, 64).astype(np.float16),
        numbers(form, 1, 64).astype(np.float16),
    )
    out = gpu.empty((64, 64))
    ran = gpu.launch_tiles(half, 1, a, b, out, TYPE=tl.float16, EVERY=None)
    assert (ran.results["out"] == gpu.mma(a, b, dtype="fp16", accumulate="fp16")).all()
    f8 = Format("e4m3fn")
    a, b = numbers(f8, 0, 64), numbers(f8, 1, 64)
    pair = (tl.array(a, tl.float8e4nv), tl.array(b, tl.float8e4nv))
    ran = gpu.launch_tiles(half, 1, *pair, out, TYPE=tl.float32, EVERY=32)
    from stacklib.gpu.tensor.tensor_core import promoted

    assert (ran.results["out"] == promoted(a, b, every=32)).all()


def test_nan_and_infinity_go_through_a_product():
    a = np.ones((16, 16), np.float16)
    a[0, 0], a[1, 1] = np.nan, np.inf
    ran = gpu.launch_tiles(product, 1, a, a, gpu.empty((16, 16)), N=16, TIMES=1)
    out = ran.results["out"]
    assert np.isnan(out[0]).all() and np.isinf(out[1, 1:]).all()
    assert np.isnan(out[1, 0]) and np.isfinite(out[2, 2:]).all()


def test_matrix_instructions_by_device():
    a = np.ones((64, 64), np.float16)
    found = {}
    for device in ("h100-sxm", "a100-80gb-sxm", "b200-sxm"):
        ran = gpu.launch_tiles(
            product, 1, a, a, gpu.empty((64, 64)), N=64, TIMES=3, device=device
        )
        found[device] = ran.report.tensor
    assert found["h100-sxm"] == {"wgmma.mma_async m64n64k16 fp16": 12}
    assert found["a100-80gb-sxm"] == {"mma.sync m16n8k16 fp16": 3 * 4 * 8 * 4}
    assert found["b200-sxm"] == {"tcgen05.mma m64n64k16 fp16": 12}


def converts(x, out, TYPE: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(x + at).to(TYPE))


@pytest.mark.rows(
    ("name", "dtype"),
    [("bf16", tl.bfloat16), ("e4m3fn", tl.float8e4nv), ("e5m2", tl.float8e5)],
)
def test_conversions_round_to_nearest_and_end_at_the_largest(name, dtype):
    form = Format(name)
    rng = np.random.default_rng(0)
    x = (rng.normal(size=1024) * 10.0 ** rng.integers(-6, 4, 1024)).astype(np.float32)
    out = gpu.launch_tiles(converts, 1, x, tl.empty(1024, dtype), TYPE=dtype, N=1024)
    wanted = form.decode(form.encode(np.clip(x, -form.largest, form.largest)))
    assert (out.results["out"] == wanted).all()


def test_every_code_is_read_and_written():
    for dtype, count in (
        (tl.bfloat16, 65536),
        (tl.float8e4nv, 256),
        (tl.float8e5, 256),
    ):
        codes = np.arange(count, dtype=dtype.stored)
        values = formats.decoded(codes, dtype)
        good = np.isfinite(values)
        assert (formats.codes(values, dtype)[good] == codes[good]).all()
        assert np.isnan(formats.decoded(formats.codes(values, dtype), dtype)).sum() == (
            np.isnan(values).sum()
        )


def test_float64_is_rounded_once():
    largest = float(np.finfo(np.float32).max)
    assert types.of_number(largest) is types.float32
    assert types.of_number(2 * largest) is types.float64
    # halfway between two bf16 numbers, and a little more than float32 can hold
    x = np.array([1 + 2**-8 + 2**-40, 1 + 2**-8 - 2**-40])
    got = formats.converted(x, types.float64, types.bfloat16)
    assert got.tolist() == [1 + 2**-7, 1.0]


def test_a_fused_product_and_sum_rounds_once():
    def fused(x, y, z, out, N: tl.constexpr):
        at = tl.arange(0, N)
        value = tl.fma(tl.load(x + at), tl.load(y + at), tl.load(z + at))
        tl.store(out + at, value)

    from fractions import Fraction

    for dtype in (np.float32, np.float64):
        rng = np.random.default_rng(0)
        x, y = (rng.normal(size=256).astype(dtype) for _ in range(2))
        z = (-x * y * (1 + rng.normal(size=256) * 1e-7)).astype(dtype)
        ran = gpu.launch_tiles(fused, 1, x, y, z, gpu.empty(256, dtype), N=256)
        exact = [
            Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
            for a, b, c in zip(x, y, z, strict=True)
        ]
        near = ran.results["out"]
        step = np.spacing(np.abs(near))
        for value, wanted, gap in zip(near, exact, step, strict=True):
            assert abs(Fraction(float(value)) - wanted) <= Fraction(float(gap)) / 2


def test_unsigned_numbers_wrap_and_bits_are_seen_anew():
    def bits(x, out, N: tl.constexpr):
        at = tl.arange(0, N)
        whole = tl.load(x + at).to(tl.uint32, bitcast=True)
        tl.store(out + at, (whole * 2654435761) >> 16)

    x = np.random.default_rng(0).normal(size=64).astype(np.float32)
    out = gpu.launch_tiles(bits, 1, x, gpu.empty(64, np.uint32), N=64).results["out"]
    assert (out == (x.view(np.uint32) * np.uint32(2654435761)) >> 16).all()
