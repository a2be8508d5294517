"""The decode step: closed form against counting, three number types, infeasible."""

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware, models, roofline
from stacklib.quantity import Quantity
from stacklib.roofline import Infeasible, decode_step, fit_memory
from stacklib.roofline.bound.decode import decode_bytes, decode_operations

MODEL = models.get("llama-3-70b")


QWEN = models.from_hf_config(  # tied, with norms on queries and keys
    {
        "model_type": "qwen3",
        "vocab_size": 151936,
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 40960,
        "tie_word_embeddings": True,
    }
)
QWEN2 = models.from_hf_config(  # biases on query, key and value; ragged sizes
    {
        "model_type": "qwen2",
        "vocab_size": 1021,
        "hidden_size": 84,
        "intermediate_size": 97,
        "num_hidden_layers": 3,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "max_position_embeddings": 128,
        "tie_word_embeddings": False,
    }
)


@given(
    st.sampled_from([MODEL, QWEN, QWEN2]),
    st.integers(1, 64),
    st.integers(0, 9000),
    st.sampled_from(["bf16", "e4m3fn", "fp4", "fp32"]),
)
@settings(max_examples=40, deadline=None)
def test_closed_form_equals_the_count_matrix_by_matrix(model, batch, context, dtype):
    work = roofline.decode_work(model, dtype=dtype, batch=batch, context=context)
    operations, moved = roofline.count_decode(
        model, dtype=dtype, batch=batch, context=context
    )
    assert work.operations.si == pytest.approx(operations, rel=1e-12)
    assert work.bytes.si == pytest.approx(moved, rel=1e-12)


@pytest.mark.rows(
    "bad", [{"batch": 0}, {"context": -1}, {"dtype": "bf61"}, {"model": "llama-9"}]
)
def test_count_refuses_what_the_closed_form_refuses(bad):
    with pytest.raises((ValueError, LookupError)):
        roofline.count_decode(**{"model": MODEL, "context": 1, **bad})


def test_time_is_bytes_over_bandwidth_at_batch_one():
    step = decode_step(MODEL, on="h100", tp=2, batch=1, context=4096)
    assert step.bound == "memory"
    assert step.time.si == pytest.approx(step.bytes.si / (2 * 3.35e12))


def test_more_arithmetic_does_not_help_a_memory_bound_step():
    h100 = decode_step(MODEL, on="h100", tp=2)
    assert (h100.t_compute / h100.time).si < 0.01


@given(st.integers(1, 512), st.integers(1, 8192))
@settings(max_examples=30, deadline=None)
def test_step_never_beats_either_bound_and_grows_with_batch(batch, context):
    step = decode_step(MODEL, on="b200", tp=8, batch=batch, context=context)
    if not step.fit.fits:
        return
    assert step.time >= step.t_memory and step.time >= step.t_compute
    assert 0 < step.busy.si <= 1
    if step.fit.fits and batch > 1:
        smaller = decode_step(MODEL, on="b200", tp=8, batch=batch - 1, context=context)
        assert step.time >= smaller.time


def test_infeasible_has_a_sum_and_no_speed():
    step = decode_step(MODEL, on="rtx-4090")
    assert not step.fit.fits
    for name in ("time", "tokens_per_s", "busy", "idle", "bound", "t_memory"):
        with pytest.raises(Infeasible, match=r"142\.4 GB > 24 GB on RTX 4090"):
            getattr(step, name)


@pytest.mark.rows(
    "kwargs, fits",
    [
        ({"tp": 1}, False),
        ({"tp": 2}, True),
        ({"tp": 2, "batch": 64}, False),
        ({"tp": 1, "dtype": "e4m3fn", "context": 0}, True),
        ({"tp": 2, "reserve": Quantity(10, "GB")}, False),
        ({"tp": 1, "dtype": "int4"}, True),
        ({"tp": 2, "batch": 16, "kv_dtype": "fp8"}, True),
        ({"tp": 2, "batch": 16}, False),
    ],
)
def test_fit_on_h100(kwargs, fits):
    fit = fit_memory(MODEL, on="h100-sxm", **kwargs)
    assert fit.fits is fits
    assert ("does not fit" in fit.explanation) is not fits


@given(st.sampled_from([1, 2, 4, 8, 16]), st.integers(1, 200), st.integers(0, 9000))
@settings(max_examples=40, deadline=None)
def test_fit_is_the_promised_sum(tp, batch, context):
    fit = fit_memory(MODEL, on="h200", tp=tp, batch=batch, context=context)
    need = (70553706496 * 2 + batch * context * 327680) / tp
    assert fit.need.si == pytest.approx(need)
    assert fit.fits is (need <= 141e9)


@pytest.mark.rows(
    "bad, message",
    [
        ({"batch": 0}, "batch = 0"),
        ({"batch": -1}, "batch = -1"),
        ({"batch": 1.5}, r"batch = 1\.5"),
        ({"batch": float("nan")}, "batch = nan"),
        ({"batch": True}, "batch = True"),
        ({"context": -1}, "context = -1"),
        ({"tp": 3}, "tp = 3 does not divide the 64 heads"),
        ({"tp": 0}, "tp = 0"),
        ({"dtype": "bf61"}, "unknown number format 'bf61'"),
        ({"on": "t4", "model": "qwen3-0.6b"}, "publishes no bf16 rate"),
        ({"on": "h10O"}, "unknown device"),
        ({"model": "llama-3-70c"}, "unknown model"),
        ({"kv_dtype": "x"}, "unknown number format 'x'"),
    ],
)
def test_bad_input_never_gives_a_number(bad, message):
    good = {"model": "llama-3-70b", "on": "h100", "tp": 2}
    with pytest.raises((ValueError, LookupError), match=message):
        decode_step(**{**good, **bad})


def test_reserve_without_unit_raises():
    with pytest.raises(ValueError, match="give it a unit"):
        fit_memory(MODEL, on="h100", reserve=2)


def test_scalar_models_run_on_floats_quantities_and_arrays():
    device = hardware.get("h100")
    weights, kv = MODEL.weight_bytes("bf16"), MODEL.kv_bytes_per_token("bf16")
    peak, bandwidth = device.peak("bf16"), device.memory_bandwidth
    parameters = MODEL.streamed_parameters
    each = MODEL.attention_flops_per_token_pair
    batches = [1, 7, 64, 500]

    def run(weights, kv, parameters, two, each, peak, bandwidth, batch):
        moved = decode_bytes(weights, kv, batch, 4096)
        work = decode_operations(parameters, two, each, batch, 4096)
        rate = roofline.attainable(work / moved, peak, bandwidth)
        ridge = roofline.ridge_point(peak, bandwidth)
        return roofline.bound_time(work, moved, peak, bandwidth), rate, ridge

    traced = [
        run(weights, kv, parameters, Quantity(2, "FLOP"), each, peak, bandwidth, b)
        for b in batches
    ]
    plain = [weights, kv, parameters, Quantity(2), each, peak, bandwidth]
    floats = [run(*(q.si for q in plain), b) for b in batches]
    swept = run(*(q.si for q in plain), numpy.array(batches, float))
    for i in range(3):
        one = [t[i].si for t in traced]
        assert one == pytest.approx([f[i] for f in floats], rel=1e-12)
        assert one == pytest.approx(
            list(numpy.broadcast_to(swept[i], len(batches))), rel=1e-12
        )


@pytest.mark.rows("device", ["h100", "h200", "b200", "tpu-v5p"])
def test_beyond_its_context_no_batch_is_compute_bound_and_before_it_one_is(device):
    limit = roofline.memory_bound_context(MODEL, on=device).si
    chip = hardware.get(device)

    def bound_at(context):
        work = roofline.decode_work(MODEL, dtype="bf16", batch=10**6, context=context)
        return roofline.bound_on(work, chip).bound

    assert bound_at(int(limit * 1.02) + 2) == "memory"
    assert bound_at(int(limit * 0.98) - 2) == "compute"


def test_memory_bound_context_refuses_where_arithmetic_is_always_slower():
    with pytest.raises(ValueError, match="never takes longer"):
        roofline.memory_bound_context(
            models.from_hf_config(
                {
                    "model_type": "llama",
                    "vocab_size": 10,
                    "hidden_size": 6400,
                    "intermediate_size": 10,
                    "num_hidden_layers": 1,
                    "num_attention_heads": 6400,
                    "num_key_value_heads": 1,
                    "max_position_embeddings": 10,
                }
            ),
            on="h100",
        )


def test_devices_are_compared_with_the_fewest_chips_that_hold_the_model():
    rows = roofline.compare_devices(MODEL, ["h100", "h200", "rtx-4090", "b200"])
    assert [(r.device.key, r.chips) for r in rows] == [
        ("h100_sxm", 2),
        ("h200_sxm", 2),
        ("rtx_4090", 8),
        ("b200_sxm", 1),
    ]
    small = roofline.compare_devices(MODEL, ["rtx-4090"], most_chips=4)[0]
    assert not small.fits and small.time is None and small.chips == 4


def test_copies_of_kv_heads_must_fit_too_before_there_is_a_speed():
    sizes = {"on": "b200", "dtype": "fp4", "tp": 64, "batch": 1000, "context": 100_000}
    assert fit_memory(MODEL, **sizes).fits  # the even share, as promised
    step = decode_step(MODEL, **sizes)
    assert step.fit.need.si == pytest.approx(
        (70553706496 / 2 + 8 * 1000 * 100_000 * 81920) / 64
    )
    with pytest.raises(Infeasible, match="65,540 GB KV"):
        _ = step.time
    assert decode_step(MODEL, **{**sizes, "batch": 10}).time.si > 0
