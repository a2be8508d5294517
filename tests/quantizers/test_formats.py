"""Formats against ml_dtypes and torch, and against the definition of rounding."""

import hashlib
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.quantity import UnknownName
from stacklib.quantizers import FORMATS, Format

VECTORS = json.loads((Path(__file__).parent / "ml_dtypes.json").read_text())
NARROW = [name for name in FORMATS if Format(name).bits <= 16]
FLOATS = [name for name in NARROW if name != "e8m0"]


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or (
        a == b and math.copysign(1, a) == math.copysign(1, b)
    )


def whole(x: float) -> int:
    """An fp32 number in units of the smallest one, so that gaps are exact."""
    exact = Fraction(x) * 2**149
    assert exact.denominator == 1
    return exact.numerator


def patterns(count: int = 1 << 20) -> np.ndarray:
    """Bit patterns of fp32 that any machine makes alike."""
    steps = np.arange(count, dtype=np.uint64) * np.uint64(2654435761)
    return (steps % np.uint64(2**32)).astype(np.uint32).view(np.float32)


def corners(form: Format) -> np.ndarray:
    """Numbers of a format, all half ways between them, and their neighbours."""
    values = form.decode(np.arange(1 << form.bits))
    sizes = np.unique(np.abs(values[np.isfinite(values)])).astype(np.float64)
    half = ((sizes[1:] + sizes[:-1]) / 2).astype(np.float32)
    exact = np.concatenate([sizes.astype(np.float32), half])
    beyond = sizes[-1] + (sizes[-1] - sizes[-2]) * np.array([0.5, 1, 2])
    with np.errstate(over="ignore"):
        exact = np.append(exact, beyond.astype(np.float32))
        near = [np.nextafter(exact, np.float32(to)) for to in (np.inf, 0)]
    x = np.concatenate([exact, *near])
    return np.concatenate([x, -x, np.array([np.inf, -np.inf, np.nan], np.float32)])


@pytest.mark.parametrize("name", [n for n in VECTORS if n != "version"])
def test_codes_are_those_of_ml_dtypes(name: str):
    form, known = Format(name), VECTORS[name]
    x = np.array(known["bits"], np.uint32).view(np.float32)
    assert [form.encode(float(v)) for v in x] == known["codes"]
    with np.errstate(over="ignore"):
        codes = form.encode(patterns()).astype(f"<u{form.encode(x).itemsize}")
    assert hashlib.sha256(codes.tobytes()).hexdigest() == known["sha256"]


@pytest.mark.parametrize("name", NARROW)
def test_one_number_and_an_array_agree(name: str):
    form = Format(name)
    x = corners(form)[:: max(1, form.bits // 8 * form.bits - 7)]
    for saturate in (False, True):
        many = form.encode(x, saturate)
        assert many.tolist() == [form.encode(float(v), saturate) for v in x]
        assert np.array_equal(many, form.encode(x.astype(np.float64), saturate))


@pytest.mark.parametrize("name", NARROW)
def test_every_code_comes_back(name: str):
    form = Format(name)
    codes = np.arange(1 << form.bits)
    values = form.decode(codes)
    for code in codes[:: 1 if form.bits <= 8 else 37].tolist():
        assert same(form.decode(code), float(values[code]))
    number = ~np.isnan(values)
    assert np.array_equal(form.encode(values[number]), codes[number])
    # fp32's own numbers between are rounded; what lies behind the last is not ours
    assert form.decode(form.top) == form.largest


@pytest.mark.parametrize("name", [n for n in FLOATS if Format(n).bits <= 8])
def test_rounding_is_to_the_nearest_and_ties_to_even(name: str):
    """Every half way and its neighbours, by searching all numbers of the format."""
    form = Format(name)
    values = [whole(form.decode(code)) for code in range(form.top + 1)]
    for x in corners(form).tolist():
        if not 0 < abs(x) <= form.largest:
            continue
        gaps = [abs(whole(abs(x)) - v) for v in values]
        least = min(gaps)
        best = [code for code, gap in enumerate(gaps) if gap == least]
        even = next((c for c in best if c % 2 == 0), best[0])
        want = (even if len(best) > 1 else best[0]) | (x < 0) << form.bits - 1
        assert form.encode(x) == want, x


@pytest.mark.parametrize("name", ["e4m3fn", "e5m2", "e8m0", "bf16", "fp16"])
def test_saturated_codes_are_those_of_torch(name: str):
    torch = pytest.importorskip("torch")
    kinds = {
        "e4m3fn": "float8_e4m3fn",
        "e5m2": "float8_e5m2",
        "bf16": "bfloat16",
        "e8m0": "float8_e8m0fnu",
        "fp16": "float16",
    }
    form = Format(name)
    x = np.concatenate([patterns(1 << 18), corners(form)])
    kind = torch.uint8 if form.bits == 8 else torch.int16
    theirs = torch.from_numpy(x).to(getattr(torch, kinds[name])).view(kind).numpy()
    theirs = theirs.astype(np.int64) & (1 << form.bits) - 1
    ours = form.encode(x, saturate=True).astype(np.int64)
    known = ~np.isnan(x)
    assert np.array_equal(ours[known], theirs[known])
    # which of its NaNs a NaN becomes is each library's own
    assert np.isnan(form.decode(ours[~known])).all()
    assert np.isnan(form.decode(theirs[~known])).all()


@given(st.floats(width=32))
def test_wide_formats_keep_an_fp32_or_cut_it(x: float):
    form = Format("fp32")
    assert same(form.decode(form.encode(x)), x)
    array = np.array([x], np.float32)
    assert form.encode(array)[0] == form.encode(x)
    tf32 = Format("tf32")
    assert tf32.encode(array)[0] == tf32.encode(x)
    assert same(float(tf32.decode(tf32.encode(array))[0]), tf32.decode(tf32.encode(x)))


@given(st.floats(allow_nan=False), st.sampled_from(FLOATS))
def test_a_double_is_rounded_once(x: float, name: str):
    form = Format(name)
    with np.errstate(over="ignore"):
        assert form.encode(np.array([x]))[0] == form.encode(x)
    # one plus half a step plus a hair: twice rounded it would fall back to even
    step = 2.0**-form.row.significand
    hair = 1 + step / 2 + 2.0**-40
    assert form.decode(form.encode(hair)) == 1 + step


def test_overflow_in_both_modes():
    e4m3, e5m2, e2m1 = (Format(n) for n in ("e4m3fn", "e5m2", "e2m1"))
    assert math.isnan(e4m3.decode(e4m3.encode(465.0)))
    assert e4m3.decode(e4m3.encode(464.0)) == 448
    assert e4m3.decode(e4m3.encode(-math.inf, saturate=True)) == -448
    assert math.isinf(e5m2.decode(e5m2.encode(1e6, saturate=True)))
    assert e2m1.decode(e2m1.encode(math.inf)) == 6
    assert [e2m1.decode(c) for c in range(8)] == [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def test_a_fault_is_caught():
    """Rounding that cuts instead would be seen at every half way."""
    form = Format("e4m3fn")
    cut = [int(Fraction(x) * 8) for x in (1.0625, 1.1875)]
    ours = [form.encode(x) & 7 for x in (1.0625, 1.1875)]
    assert ours == [0, 2] and [c - 8 for c in cut] != ours


@pytest.mark.parametrize(
    "call",
    [
        lambda: Format("e4m3fn").encode(True),
        lambda: Format("e4m3fn").encode("1"),
        lambda: Format("e4m3fn").encode(np.array([1j])),
        lambda: Format("e4m3fn").decode(1.0),
        lambda: Format("e4m3fn").decode(np.array([1.0])),
    ],
)
def test_what_is_no_number_is_refused(call):
    with pytest.raises(TypeError):
        call()


def test_codes_outside_and_unknown_names():
    with pytest.raises(ValueError, match="code 256: e4m3fn has 8 bits"):
        Format("e4m3fn").decode(256)
    with pytest.raises(ValueError, match="code -1"):
        Format("e2m1").decode(np.array([3, -1]))
    with pytest.raises(UnknownName, match="e4m3fn"):
        Format("e4m3x")
    assert Format("E4M3").name == "e4m3fn"
