"""Formats against ml_dtypes and torch, and against the definition of rounding."""

import json
import math
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.quantity import UnknownName
from stacklib.quantity.told import told
from stacklib.quantizers import FORMATS, Format
from stacklib.quantizers.scheme import fact

THEIRS = {
    "bf16": ml_dtypes.bfloat16,
    "fp16": np.float16,
    "e5m2": ml_dtypes.float8_e5m2,
    "e4m3fn": ml_dtypes.float8_e4m3fn,
    "e4m3": ml_dtypes.float8_e4m3,
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "e3m4": ml_dtypes.float8_e3m4,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "e8m0": ml_dtypes.float8_e8m0fnu,
}
KINDS = {name: Format(name).row.special for name in FORMATS}
INTEGERS = [name for name in FORMATS if KINDS[name] == "integer"]
TABLES = [name for name in FORMATS if KINDS[name] == "table"]
NARROW = [n for n in FORMATS if Format(n).bits <= 16 and n not in INTEGERS + TABLES]
FLOATS = [name for name in NARROW if name != "e8m0"]
BYTES = [name for name in FORMATS if Format(name).bits <= 8]


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


def shared_bits(name: str, x: np.ndarray) -> np.ndarray:
    """What ml_dtypes makes of an array, as codes."""
    with np.errstate(all="ignore"):
        theirs = x.astype(THEIRS[name])
    return theirs.view(np.uint16 if Format(name).bits == 16 else np.uint8)


def test_every_format_of_few_bits_has_an_oracle():
    """A new row is here, or in a test of its own kind."""
    assert set(FLOATS) | {"e8m0"} == set(THEIRS) | {"e3m0"}


@pytest.mark.rows("name", THEIRS)
def test_codes_are_those_of_ml_dtypes(name: str):
    form = Format(name)
    with np.errstate(over="ignore"):
        x = np.concatenate([patterns(), corners(form)])
    # random patterns seldom have the short significands that fall half way
    x = np.concatenate([x, (x.view(np.uint32) & 0xFFF80000).view(np.float32)])
    ours, theirs = form.encode(x), shared_bits(name, x)
    known = ~np.isnan(x) if name == "fp16" else np.ones(x.shape, bool)
    assert np.array_equal(ours[known], theirs[known])
    assert np.isnan(form.decode(ours[~known])).all()  # NumPy keeps bits of the NaN
    minus = x[np.isnan(x) & np.signbit(x)]
    assert len({*form.encode(minus)}) == 1


@pytest.mark.rows("name", THEIRS)
def test_all_numbers_are_those_of_ml_dtypes(name: str):
    form = Format(name)
    codes = np.arange(1 << form.bits, dtype=np.uint16 if form.bits > 8 else np.uint8)
    theirs = codes.view(THEIRS[name]).astype(np.float32)
    assert np.array_equal(form.decode(codes), theirs, equal_nan=True)


@pytest.mark.rows("shape", [(0,), (1,), (16384,), (16385,), (3, 16385), (2, 0)])
def test_chunks_end_anywhere(shape: tuple[int, ...]):
    x = np.resize(patterns(1 << 16), shape)
    assert np.array_equal(Format("e5m2").encode(x), shared_bits("e5m2", x))
    turned = Format("e2m1").encode(x.T)
    assert np.array_equal(turned, shared_bits("e2m1", x.T))


@pytest.mark.rows("name", NARROW)
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


@pytest.mark.rows("name", [n for n in FLOATS if Format(n).bits <= 8])
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
        if not form.row.significand and best[0]:  # IEEE 754-2019, 4.3.1
            even = best[-1]
        want = (even if len(best) > 1 else best[0]) | (x < 0) << form.bits - 1
        if want == form.nan and form.row.special == "fnuz":
            want = 0
        assert form.encode(x) == want, x


@pytest.mark.rows("name", ["e4m3fn", "e5m2", "e8m0", "bf16", "fp16"])
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


def inside(form: Format, count: int) -> np.ndarray:
    """Numbers between the ends of a format, over all its binades."""
    top, low = math.log2(form.largest), math.log2(form.smallest) - 1
    x = 2 ** np.linspace(low, min(top, 40), count)
    x[1::2] *= -1 if form.name != "e8m0" else 1
    return np.clip(x, *Format(form.name).values[:: len(form.values) - 1])


@pytest.mark.rows("name", BYTES)
def test_toward_zero_is_the_last_number_on_the_way(name: str):
    form = Format(name)
    values = np.array(form.values)
    x = np.concatenate([inside(form, 500), values, 4 * values[np.abs(values) < 1e30]])
    if name == "e8m0":  # nothing lies between its first number and zero
        x = x[x >= form.smallest]
    found = form.decode(form.encode(x, rounding="zero"))
    for a, b in zip(x.tolist(), found.tolist(), strict=True):
        near = values[(np.abs(values) <= abs(a)) & (values * a >= 0)]
        assert abs(b) == np.abs(near).max() and b * a >= 0
        assert form.encode(a, rounding="zero") == form.encode(b), a
    assert form.decode(form.encode(3e38, rounding="zero")) == min(
        form.largest, 2.0**127
    )


@pytest.mark.rows("name", BYTES)
def test_stochastic_rounding_is_right_in_the_mean(name: str):
    """10,000 draws at 100 numbers, each mean within four standard errors."""
    form = Format(name)
    x, draws = inside(form, 100), 10_000
    many = np.broadcast_to(x, (draws, 100))
    found = form.decode(form.encode(many, rounding="stochastic", seed=7))
    values = np.array(form.values)
    above = np.clip(np.searchsorted(values, x, side="right"), 1, len(values) - 1)
    low, high = values[above - 1], values[above]
    assert ((found == low) | (found == high)).all()
    error = (high - low) * np.maximum(1 / (2 * math.sqrt(draws)), 1 / draws)
    mean = found.mean(0, dtype=np.float64)
    if name == "e8m0":  # nothing lies below its first number
        x = np.maximum(x, form.smallest)
    assert (np.abs(mean - x) <= 4 * error).all()
    again = form.encode(many[:50], rounding="stochastic", seed=7)
    assert np.array_equal(again, form.encode(many[:50], rounding="stochastic", seed=7))
    other = form.encode(many[:50], rounding="stochastic", seed=8)
    assert not np.array_equal(again, other)
    # the nearest of both is seen to be wrong in the mean
    near = form.decode(form.encode(x)).astype(np.float64)
    assert (np.abs(near - x) > 4 * error).any()


@pytest.mark.rows("name", ["e4m3fn", "e3m0", "bf16", "int4", "nf4", "e8m0"])
def test_one_number_drawn(name: str):
    """The draws of plain Python: both neighbours, each as often as it must be."""
    form = Format(name)
    x = 0.6 * form.least_normal + 0.4 * form.decode(form.encode(form.least_normal) + 1)
    codes = [form.encode(x, rounding="stochastic", seed=s) for s in range(2000)]
    first, share = form.encode(form.least_normal), 0.4
    assert set(codes) == {first, first + 1}
    up = sum(code != first for code in codes) / len(codes)
    assert abs(up - share) < 4 * math.sqrt(share * (1 - share) / len(codes))
    assert codes[:9] == [
        form.encode(x, rounding="stochastic", seed=s) for s in range(9)
    ]


@pytest.mark.rows("name", INTEGERS)
def test_integers_are_twos_complement(name: str):
    form = Format(name)
    end = 1 << form.bits - 1
    codes = np.arange(1 << form.bits)
    values = form.decode(codes)
    assert sorted(values) == list(range(-end, end)) == list(form.values)
    want = codes.astype(np.uint8).view(np.int8) if name == "int8" else values
    assert np.array_equal(values, want)
    x = np.linspace(-2 * end, 2 * end, 8 * end * 4 + 1)
    nearest = form.decode(form.encode(x))
    assert np.array_equal(nearest, np.clip(np.rint(x), -end, end - 1))
    assert form.encode(x).tolist() == [form.encode(v) for v in x.tolist()]
    if name != "int8":  # ml_dtypes cuts what a cast of C cuts
        kept = x[(np.trunc(x) >= -end) & (np.trunc(x) < end)]
        theirs = kept.astype(getattr(ml_dtypes, name)).astype(np.float32)
        assert np.array_equal(form.decode(form.encode(kept, rounding="zero")), theirs)
    assert form.decode(form.encode(math.inf)) == end - 1


# the half ways of both tables and their neighbours, by bitsandbytes 0.50.2 on a CPU
BITSANDBYTES = json.loads((Path(__file__).parent / "bitsandbytes.json").read_text())


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_those_of_bitsandbytes(name: str):
    form, known = Format(name), BITSANDBYTES[name]
    x = np.array(known["bits"], np.uint32).view(np.float32)
    assert form.encode(x).tolist() == known["codes"]
    assert [form.encode(float(v)) for v in x] == known["codes"]
    assert form.decode(np.arange(16)).tolist() == known["table"]
    assert form.values == tuple(sorted(set(known["table"])))


def test_codes_outside_and_unknown_names():
    with pytest.raises(ValueError, match="code 256: e4m3fn has 8 bits"):
        Format("e4m3fn").decode(256)
    with pytest.raises(ValueError, match="code -1"):
        Format("e2m1").decode(np.array([3, -1]))
    with pytest.raises(UnknownName, match="e4m3fn"):
        Format("e4m3x")
    assert Format("E4M3").name == "e4m3" and Format("e4m3fn").largest == 448
    with pytest.raises(UnknownName, match="nearest"):
        Format("e4m3fn").encode(1.0, rounding="up")
    with pytest.raises(ValueError, match="seed=3"):
        Format("e4m3fn").encode(1.0, seed=3)
    for name in ("int4", "nf4"):
        with pytest.raises(ValueError, match="NaN has no code"):
            Format(name).encode(math.nan)
        with pytest.raises(ValueError, match=r"NaN at \(1, 0\)"):
            Format(name).encode(np.array([[1.0], [math.nan]]))
        with pytest.raises(ValueError, match="no code for NaN"):
            _ = Format(name).nan
    with pytest.raises(ValueError, match="16 bits: too many"):
        _ = Format("bf16").values


@pytest.mark.parametrize("name", [n for n in FLOATS if n in THEIRS])
def test_a_fact_is_what_the_library_says(name: str):
    """Fields of a format against ml_dtypes, which has them by another route."""
    theirs = ml_dtypes.finfo(THEIRS[name])
    found = {f: fact(name, f).si for f in ("bits", "exponent", "significand")}
    ours = theirs.bits, theirs.nexp, theirs.nmant
    assert tuple(found.values()) == ours and told(fact(name, "bits")) == "exact"
    for field, end in (("largest", theirs.max), ("least_normal", theirs.tiny)):
        assert fact(name, field).si == float(end)
    assert float(theirs.max) < fact(name, "octave").si <= 2 * float(theirs.max)


def test_facts_of_schemes_are_those_of_their_documents():
    """OCP MX v1.0 table 1, ggml-common.h, QLoRA section 3; what is no number fails."""
    said = {
        ("mxfp4", "block"): 32,
        ("mxfp4", "scale_bits"): 8,
        ("nvfp4", "block"): 16,
        ("q4_k", "row"): 256,
        ("q4_k", "row_bytes"): 144,
        ("nf4_dq", "block"): 64,
        ("nf4_dq", "scale_bits"): 8 + 32 / 256,
    }
    assert {key: fact(*key).si for key in said} == said
    with pytest.raises(UnknownName, match="mxfp4"):
        fact("mxfp44", "block")
    for field in ("digits", "layout", "floating"):
        with pytest.raises(ValueError, match="e2m1"):
            fact("e2m1", field)
