"""One array is many numbers: every rounding, the ends of fp32 and fp16, and threads."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from stacklib import sweep
from stacklib.quantizers import (
    FORMATS,
    Format,
    compiled,
    dequantize,
    pack,
    quantize,
    schemes,
    unpack,
)

NAMES = [row.name for row in schemes()]
CODED = {name: Format(name) for name in FORMATS}
WITHOUT_NAN = ("integer", "table")


def corners(form: Format) -> np.ndarray:
    """Numbers, half ways, their neighbours in fp64, zeros and what ends fp64."""
    codes = np.arange(1 << form.bits) if form.bits <= 8 else np.arange(0, 1 << 16, 97)
    if form.bits > 16:
        codes = codes.astype(np.uint64) * 65551 % (1 << form.bits)
    values = form.decode(codes.astype(np.uint32)).astype(np.float64)
    size = np.unique(np.abs(values[np.isfinite(values)]))
    half = (size[1:] + size[:-1]) / 2
    ends = [0.0, form.largest * 1.25, form.largest * 1.5, form.largest * 2]
    tiny = [form.smallest / 2, form.smallest / 4, 2.0**-149, 2.0**-150, 5e-324]
    some = np.concatenate([size, half, ends, tiny, [2.0**128, np.finfo("f8").max]])
    with np.errstate(over="ignore"):
        near = [np.nextafter(some, np.inf), np.nextafter(some, 0)]
    x = np.concatenate([some, *near, [np.inf]])
    x = np.concatenate([x, -x])
    return x if form.row.special in WITHOUT_NAN else np.append(x, [np.nan, -np.nan])


@pytest.fixture(params=["NumPy", "numba"])
def way(request, monkeypatch):
    """Both ways through the loops."""
    if request.param == "numba":
        pytest.importorskip("numba")
    monkeypatch.setattr(compiled, "WORTH", 0 if request.param == "numba" else 1 << 62)
    return request.param


def test_an_array_is_its_numbers(way):
    """Every format, rounding and rule of overflow, from every type of number."""
    kinds = [np.float64, np.float32, np.float16] if way == "numba" else [np.float64]
    for name, form in CODED.items():
        for kind in kinds:
            with np.errstate(over="ignore"):
                x = corners(form).astype(kind)
            for saturate in (False, True):
                for rounding in ("nearest", "zero")[: 2 if way == "NumPy" else 1]:
                    one = [form.encode(v, saturate, rounding) for v in x.tolist()]
                    many = form.encode(x, saturate, rounding).tolist()
                    apart = [v for v, a, b in zip(x, many, one, strict=True) if a != b]
                    assert not apart, (name, kind, saturate, rounding)


@pytest.mark.rows("name", FORMATS)
def test_what_stochastic_rounding_may_give_is_the_same(name: str):
    """Both neighbours, or the only code there is: of an array, and of one number."""
    form = CODED[name]
    x = corners(form)
    for saturate in (False, True):
        down = form.encode(x, saturate, "zero").astype(np.int64)
        many = [form.encode(x, saturate, "stochastic", seed) for seed in range(3)]
        one = [form.encode(v, saturate, "stochastic", 3) for v in x.tolist()]
        for codes in (*many, np.array(one)):
            same = np.isclose(np.abs(x), np.abs(form.decode(down)), rtol=0, atol=0)
            same |= x == 0
            assert (codes == down)[same].all(), name


def test_two_threads_have_codes_of_their_own(way):
    form = Format("e4m3fn")
    given = [np.random.default_rng(s).standard_normal(1 << 17, "f4") for s in (0, 1)]
    alone = [form.encode(x) for x in given]
    with ThreadPoolExecutor(4) as pool:
        for at, codes in enumerate(pool.map(form.encode, given * 8)):
            assert np.array_equal(codes, alone[at % 2])


def error(scheme: str, seed: int) -> float:
    x = np.random.default_rng(seed).standard_normal((64, 512), "f4")
    return float(np.square(dequantize(quantize(x, scheme)) - x).sum())


def test_a_sweep_in_threads_is_the_sweep_alone(way):
    joblib = pytest.importorskip("joblib")
    cases = list(sweep.grid(scheme=NAMES[:16], seed=range(3)))
    with joblib.parallel_config(backend="threading"):
        assert sweep.run(error, cases, workers=4) == [error(**case) for case in cases]


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("mx")])
def test_a_scale_of_all_ones_is_nan(name: str, way):
    """OCP MX v1.0, section 5.4."""
    q = quantize(np.ones((2, 32)), name)
    scales = q.scales.copy()
    scales[1] = 255
    data = bytearray(pack(q))
    at = len(data) // 2 if name == "mxfp4" else len(data) - 1
    data[at] = 255
    found = dequantize(unpack(bytes(data), name, (2, 32)))
    assert np.isnan(found[1]).all() and (found[0] == 1).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.rows("name", NAMES)
def test_what_is_finite_stays_finite(name: str):
    """Up to the end of fp32, or the number that no scale in fp16 holds is named."""
    for size in (3e37, 1e38, np.finfo("f4").max):
        x = np.full((1, 1024), size, np.float32)
        x[0, 1::3] /= -7
        try:
            found = dequantize(quantize(x, name))
        except ValueError as error:
            assert f"{size:.4g} at index (0, 0): a scale of" in str(error)
            assert name in HALVES and "divide the array" in str(error)
        else:
            assert np.isfinite(found).all(), (name, size)
            assert found.max() > size / 2


HALVES = [n for n in NAMES if n[0] in "qi" and not n.startswith("int8")]


@pytest.mark.rows("name", HALVES)
def test_numbers_lost_to_a_scale_in_fp16_are_counted(name: str):
    x = np.full((4, 1024), 1.0, np.float32)
    x[2] = np.linspace(0, 1e-9, 1024)
    kept = " or the least of" if name in ("q4_1", "q5_1", "q4_k", "q5_k") else ""
    says = rf"1023 of 4096 numbers become zero{kept}.*\(2, 1023\)"
    with pytest.warns(RuntimeWarning, match=says):
        quantize(x, name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x[2] = 0
        quantize(x, name)  # zeros are no loss


@pytest.mark.filterwarnings("error")
def test_a_block_with_no_reciprocal_is_told_and_nothing_else():
    """Times the ends of the table it was infinity, and times zero NaN as a place."""
    x = np.zeros(64, np.float32)
    for size in (1e-36, 1e-38, 1e-39):
        x[0] = size
        with pytest.warns(RuntimeWarning, match="1 of 64") as told:
            q = quantize(x, "iq4_nl")
        assert len(told) == 1 and (q.codes == 8).all()


def test_nvfp4_tells_that_all_became_zero():
    """An array of 1e-34 came back as zeros, in silence."""
    x = np.full((2, 64), 1e-34, np.float32)
    x[1, 3] = -2e-34
    with pytest.warns(RuntimeWarning, match=r"128 of 128.*\(1, 3\).*NVFP4"):
        q = quantize(x, "nvfp4")
    assert not dequantize(q).any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for silent in (np.zeros(64, np.float32), np.float32([2688.0, 1e-9] * 32)):
            quantize(silent, "nvfp4")


@pytest.mark.rows("name", NAMES)
def test_what_a_scale_at_its_end_loses_is_told_and_nothing_else(name: str):
    """q2_k at 1e-6 lost most of its blocks in silence; MX told zeros that were none.

    NF4 at 1e-44 and a tile at 1e-42 lost a third of a block's digits untold.
    """
    x = np.random.default_rng(5).standard_normal((2, 256)).astype(np.float32)
    x[1] *= 2.0**-3
    shared = {"nf4": 64, "nf4_dq": 64, "bnb_fp4": 64, "fp8_128x128": 512}.get(name, 256)
    for power in (-12, -15, -18, -21, -24, -100, -118, -128, -136, -140, -146, -147):
        small = np.ldexp(x, power)
        whole = np.ldexp(small, -power)  # what is left of it, where fp32 has digits
        own = np.square(dequantize(quantize(whole, name)) - whole)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = dequantize(quantize(small, name)).astype(np.float64)
        parts = [e.reshape(-1, shared).sum(1) for e in (np.square(found - small), own)]
        worse = (np.ldexp(parts[0], -2 * power) / np.maximum(parts[1], 1e-30)).max()
        assert told if worse > 1.3 else (worse > 1.02 or not told), (power, worse)


ENDED = ["mxfp8_e4m3", "mxfp6_e2m3", "mxfp4", "mxint8", "nvfp4"]


@pytest.mark.parametrize("name", ENDED)
def test_blocks_under_the_least_scale_of_their_tensor_are_told(name: str):
    x = np.ones((2, 64), np.float32)
    x[1, 32:] = 1e-42
    x[0, :32] = 0  # no loss
    with pytest.warns(RuntimeWarning, match=r"32 of 128.*\(1, 32\).*(E8M0|NVFP4)"):
        quantize(x, name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quantize(x[0], name)
