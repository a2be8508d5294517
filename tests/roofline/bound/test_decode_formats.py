"""Weights, cache and arithmetic in three formats."""

import json

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware, models
from stacklib.cli import main
from stacklib.hardware import UnknownSpec
from stacklib.models.weights.mixtures import NAMES
from stacklib.quantity import Quantity
from stacklib.roofline import count_decode, decode_step, fit_memory

MODEL = models.get("llama-3-8b")


def _gb(read, cache=0.0, context=0):
    """Bytes of a step, by hand: what is read, and the cache of ``context`` tokens."""
    return 1e9 * read + cache * (context + 1)


# Issue 36: each was refused, or answered under another format's name.
@pytest.mark.rows(
    "model, device, dtype, read, run",
    [
        ("llama-3-8b", "h100", "int4", 7504924672 / 2, "bf16"),
        ("llama-3-8b", "b200", "int4", 7504924672 / 2, "bf16"),
        ("llama-3-8b", "rtx-5090", "int4", 7504924672 / 2, "bf16"),
        ("llama-3-8b", "mi300x", "int4", 7504924672 / 2, "bf16"),
        ("llama-3-8b", "m4-max", "int4", 7504924672 / 2, "fp16"),
        ("llama-3-8b", "a100", "int4", 7504924672 / 2, "int4"),
        ("llama-3-8b", "dgx-spark", "int4", 7504924672 / 2, "fp32"),
        # ModelOpt: the head in bf16
        ("llama-3-70b", "dgx-spark", "nvfp4", 68451041280 * 0.5625 + 2103984128, "fp4"),
        ("llama-3-70b", "h100", "nvfp4", 68451041280 * 0.5625 + 2103984128, "bf16"),
    ],
)
def test_a_step_in_the_formats_that_people_run(model, device, dtype, read, run):
    kwargs = {"on": device, "dtype": dtype, "kv_dtype": "bf16", "context": 0}
    step = decode_step(model, **kwargs)
    numbers = models.get(model).kv_bytes_per_token("bf16").si
    assert step.bytes.si == pytest.approx(read + numbers, rel=1e-5)
    assert step.work.dtype == run and f"products in {run}" in step.formats
    assert ("widening" in step.formats) is (run not in dtype and run != "fp4")
    assert ("no 16-bit rate" in step.formats) is (run == "fp32" != dtype)


@pytest.mark.rows(
    "model, dtype, read, measured",
    [
        ("llama-3-70b", "nvfp4", 40.6, (4.0, 4.2)),  # issue 36: Llama 3.3 70B
        ("qwen2.5-7b", "q4_k_m", 4.37, (43, 46)),
        # both parties ran llama.cpp's file: all but the experts in q8_0
        ("gpt-oss-120b", "mxfp4_moe", 3.59, (59.5, 59.5)),
    ],
)
def test_a_bound_on_a_spark_is_above_what_was_measured(model, dtype, read, measured):
    step = decode_step(model, on="dgx-spark", dtype=dtype, context=0)
    assert step.bytes.si / 1e9 == pytest.approx(read, rel=2e-3)
    assert max(measured) < step.tokens_per_s.value < 1.8 * min(measured)


@given(
    st.sampled_from(NAMES),
    st.sampled_from(["llama-3-8b", "gemma-3-4b", "gpt-oss-20b", "deepseek-v2"]),
    st.sampled_from(["h100", "t4", "m4-max", "dgx-spark", "mi355x", "rtx-4090"]),
    st.sampled_from([1, 5, 64]),
    st.sampled_from([None, "q8_0", "fp8"]),
)
@settings(max_examples=80, deadline=None)
def test_quantities_floats_and_operations_add_up_to_the_same(
    dtype, model, device, batch, kv
):
    shape = {"on": device, "dtype": dtype, "kv_dtype": kv, "tp": 8, "context": 100}
    try:
        traced = decode_step(model, batch=batch, **shape)
    except UnknownSpec as none:  # 16 bits and more are not widened
        assert "rate" in str(none)
        return
    plain = decode_step(model, batch=float(batch), **shape)
    many = decode_step(model, batch=numpy.array([1.0, batch]), **shape)
    assert traced.bytes.si == pytest.approx(plain.bytes, rel=1e-9)
    assert many.bytes[1] == pytest.approx(plain.bytes, rel=1e-12)
    assert traced.operations.si == pytest.approx(plain.operations)
    assert traced.fit.need.si == pytest.approx(plain.need) or shape["tp"] > 1
    if traced.fit.fits:
        assert traced.time.si == pytest.approx(plain.time)
    found = models.operations(
        models.get(model), "decode", context=100, batch=batch, dtype=dtype, kv_dtype=kv
    )
    weights = sum(op.weight_bytes for op in found)
    read = models.get(model).read_bytes(batch, dtype).si
    assert weights == pytest.approx(read, rel=1e-9)


@pytest.mark.rows(
    "device, dtype, cache",
    [
        ("a100", "int4", "int4"),
        ("h100", "int4", "bf16"),
        ("h100", "e4m3fn", "e4m3fn"),
        ("a100", "fp8", "bf16"),
        ("b200", "fp4", "fp4"),
        ("m4-max", "fp32", "fp32"),
        ("b200", "nvfp4", "bf16"),
        ("h100", "fp8_128x128", "bf16"),
    ],
)
def test_a_cache_is_in_16_bits_beside_weights_that_are_widened(device, dtype, cache):
    step = decode_step(MODEL, on=device, dtype=dtype)
    assert f"cache in {cache}," in step.formats and step.fit.cache == cache


def test_a_mixture_is_no_format_of_a_cache_and_that_is_said():
    step = decode_step(MODEL, on="h100", dtype="awq", kv_dtype="Q4-K-M")
    assert "cache in bf16," in step.formats
    assert decode_step(MODEL, on="h100", kv_dtype="Q4_K").fit.cache == "q4_k"


def test_bits_of_a_number_are_a_format_too():
    bits = Quantity(4.5, "bit", label="bits of a number")
    step = decode_step(MODEL, on="h100", kv_dtype=bits)
    wide = decode_step(MODEL, on="h100")
    less = MODEL.kv_bytes_per_token("bf16").si * 4097 * (1 - 4.5 / 16)
    assert wide.bytes.si - step.bytes.si == pytest.approx(less)
    assert "cache in 4.5 bits" in step.formats
    small = decode_step(MODEL, on="h100", dtype=bits, batch=1.0)
    assert small.bytes == pytest.approx(7504924672 * 4.5 / 8 + 131072 * 4097)
    with pytest.raises(ValueError, match="dtype = "):
        fit_memory(MODEL, on="h100", dtype=Quantity(0, "bit"))


@pytest.mark.rows("name", NAMES)
def test_every_format_answers_on_every_kind_of_device(name):
    for device in ("h100", "b200", "rtx-5090", "mi300x", "m4-max", "t4", "tpu-v5e"):
        fit = fit_memory(MODEL, on=device, dtype=name)
        assert 1e9 < fit.weights.si < 65e9
        if fit.fits and fit.way.name not in ("bf16", "fp16", "fp32", "tf32", "fp64"):
            assert decode_step(MODEL, on=device, dtype=name).tokens_per_s.si > 0


def test_the_command_says_which_format_does_what(capsys):
    argv = ["fit", "llama-3-8b", "--on", "rtx-4090", "--dtype"]
    assert main([*argv, "Q4_K_M"]) == 0
    out = capsys.readouterr().out
    assert "3.66 GB q4_k + 1.26 GB q6_k" in out and "cache in bf16" in out
    for name in ("awq", "nvfp4", "mxfp4", "q6_k", "iq2_xxs", "gptq-g32"):
        assert main([*argv, name]) == 0 and name[:4] in capsys.readouterr().out
    assert main(["formats", "fp8"]) == 0
    assert "e4m3fn, e5m2" in capsys.readouterr().out
    assert main(["formats", "q4_k_m"]) == 0
    assert "llama.cpp's rule" in capsys.readouterr().out


@pytest.mark.rows("dtype", ["fp8", "FP8", "e4m3fn", "nvfp4"])
def test_calls_and_commands_mean_one_thing_by_a_name(dtype, capsys):
    """By hand: codes of a byte, a scale for 128 x 128 of them, the rest in 16 bits."""
    argv = ["--dtype", dtype, "--json"]
    assert main(["fit", "llama-3-8b", "--on", "h100", *argv]) == 0
    told = json.loads(capsys.readouterr().out)
    fit = fit_memory(MODEL, on="h100", dtype=dtype)
    assert told["weights_bytes"] == fit.weights.si
    assert told["kv_bytes"] == fit.kv.si
    assert main(["roofline", "h100", "--model", "llama-3-8b", *argv]) == 0
    told = json.loads(capsys.readouterr().out)
    step = decode_step(MODEL, on="h100", dtype=dtype)
    assert told["time_s"] == step.time.si
    plain = decode_step(MODEL, on="h100", dtype=dtype, batch=1.0)
    assert plain.time == pytest.approx(step.time.si)
    whole = MODEL.parameters.si
    inside = whole - (2 * MODEL.vocab + 2 * 32 + 1) * MODEL.hidden
    due = {"e4m3fn": whole, "fp8": inside * (1 + 4 / 128**2) + 2 * (whole - inside)}
    assert fit.weights.si == pytest.approx(due.get(dtype.lower(), fit.weights.si))
    if dtype == "fp8":
        with pytest.raises(ValueError, match="several formats"):
            count_decode(MODEL, dtype=dtype, context=1)


def test_a_device_without_any_rate_is_named():
    bare = next(d for d in map(hardware.get, hardware.names()) if not d.formats)
    with pytest.raises((UnknownSpec, ValueError)):
        decode_step("qwen3-0.6b", on=bare, dtype="q4_k_m")
