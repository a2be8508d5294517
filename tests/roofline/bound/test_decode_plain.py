"""The decode step in plain numbers: the same sum as the traced one, swept."""

import json
import math
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware, models
from stacklib.hardware import UnknownSpec
from stacklib.roofline import Infeasible, decode_step

CASES = Path(__file__).parents[2] / "models" / "transformers_counts.json"
LIBRARY = json.loads(CASES.read_text())
SMALL = [
    models.from_hf_config(case["config"])
    for kind in ("parameters", "windows")
    for case in LIBRARY[kind]
]
NAMES = [*models.names(), *SMALL]
# Without a bandwidth a step that does not fit says so; floats are refused at once.
DEVICES = [
    name
    for name in hardware.names()
    if hardware.get(name).fields["memory_bandwidth"] is not None
]
NUMBERS = ("operations", "bytes", "intensity")
SPEEDS = ("t_compute", "t_memory", "time", "busy", "idle", "tokens_per_s")
H100 = {"on": "h100-sxm", "tp": 8}


def same(plain, traced, names):
    """Both kinds of step agree in these fields."""
    for name in names:
        value = getattr(traced, name).si
        assert getattr(plain, name) == pytest.approx(value, rel=1e-11), name


@given(
    st.sampled_from(NAMES),
    st.sampled_from(DEVICES),
    st.sampled_from(["bf16", "e4m3fn", "fp4", "int8"]),
    st.sampled_from([1, 2, 8, 16]),
    st.sampled_from([None, "fp8"]),
    st.integers(1, 600),
    st.integers(0, 200_000),
)
@settings(max_examples=60, deadline=None)
def test_floats_give_the_numbers_of_the_quantities(
    model, on, dtype, tp, kv_dtype, batch, context
):
    shape = {"on": on, "dtype": dtype, "tp": tp, "kv_dtype": kv_dtype}
    try:
        traced = decode_step(model, **shape, batch=batch, context=context)
    except (UnknownSpec, ValueError) as refused:
        with pytest.raises(type(refused)):
            step = decode_step(model, **shape, batch=float(batch), context=context)
            step.time  # noqa: B018
        return
    plain = decode_step(model, **shape, batch=float(batch), context=float(context))
    same(plain, traced, NUMBERS)
    assert plain.need == pytest.approx(traced.fit.need.si, rel=1e-12)
    assert plain.fits is traced.fit.fits
    if not plain.fits:
        with pytest.raises(Infeasible, match="does not fit"):
            plain.time  # noqa: B018
        return
    same(plain, traced, SPEEDS)
    assert plain.bound == traced.bound


@pytest.mark.rows("model", ["llama-3-70b", "deepseek-v4-pro", "gemma-3-27b"])
def test_arrays_give_the_numbers_of_the_floats(model):
    batch = numpy.array([[1], [7], [64], [4096]])
    context = numpy.array([0, 1, 127, 4096, 131072])
    same = {"on": "b200", "dtype": "fp8", "tp": 16}
    sweep = decode_step(model, batch=batch, context=context, **same)
    assert sweep.time.shape == (4, 5) and not sweep.fits.all()
    for i, b in enumerate(batch.ravel()):
        for j, c in enumerate(context):
            one = decode_step(model, batch=float(b), context=c, **same)
            assert sweep.need[i, j] == pytest.approx(one.need)
            assert bool(sweep.fits[i, j]) is one.fits
            if one.fits:
                assert sweep.time[i, j] == pytest.approx(one.time)
                assert sweep.bound[i, j] == one.bound
            else:
                assert math.isnan(sweep.time[i, j]) and not sweep.bound[i, j]


@pytest.mark.rows(
    "bad",
    [
        {"batch": 1.5},
        {"batch": 0.0},
        {"batch": math.nan},
        {"batch": [1, 2]},
        {"batch": True},
        {"context": -1.0},
        {"context": math.inf},
        {"batch": 1.0, "tp": 3},
        {"batch": 1.0, "tp": True},
        {"batch": 1.0, "dtype": "bf61"},
        {"batch": 1.0, "kv_dtype": "x"},
        {"batch": 1.0, "on": "h10O"},
    ],
)
def test_bad_input_never_gives_a_plain_number(bad):
    with pytest.raises((ValueError, LookupError)):
        decode_step("llama-3-70b", **{**H100, **bad})


def test_a_bad_number_inside_an_array_is_refused():
    for value in (0.0, 2.5, math.nan, math.inf):
        with pytest.raises(ValueError, match="batch = array"):
            decode_step("llama-3-70b", **H100, batch=numpy.array([1, value]))
    with pytest.raises(ValueError, match="broadcast"):
        decode_step("llama-3-70b", **H100, batch=numpy.ones(3), context=numpy.ones(2))


def test_a_format_without_a_rate_is_refused_where_the_model_would_fit():
    step = decode_step("llama-3-70b", on="t4", tp=16, dtype="bf16", batch=1.0)
    with pytest.raises(UnknownSpec, match="publishes no bf16 rate"):
        step.time  # noqa: B018
    assert step.need > 0


def test_a_changed_device_of_the_same_name_is_not_taken_for_the_first():
    import dataclasses

    from stacklib.quantity import Quantity

    device = hardware.get("h100-sxm")
    fields = {**device.fields, "memory_bandwidth": Quantity(1, "TB/s")}
    slow = dataclasses.replace(device, fields=fields)
    fast = decode_step("llama-3-70b", on=device, tp=8, batch=1.0)
    other = decode_step("llama-3-70b", on=slow, tp=8, batch=1.0)
    assert other.t_memory == pytest.approx(fast.t_memory * 3.35)
