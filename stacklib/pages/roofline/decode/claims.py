"""Claims on one decode step: how long, and how long the tensor cores wait.

Document 001 works one out: a 70B model in FP8 on what it calls an H200, in the time
of an H100. Each check names the chip it computes on; 000's are of 16 bits on H100s.
"""

from stacklib import hardware, models, roofline
from stacklib.evidence import Finding, claim
from stacklib.evidence.ledger import get
from stacklib.quantity import Quantity, chosen, maximum

MODEL = "llama-3-70b"
NAMED, DIVIDED_BY = "h200_sxm", "h100_sxm"  # what 001 says, and what it uses
SERVING_BATCH = 64  # the batch of 001's own cost table
CONTEXT = 4096  # 001 gives none
CHIPS, MANY, BRIEF = 8, 512, 256  # a node, with many short sequences


def _step(
    on: str, batch: int = 1, dtype: str = "e4m3fn", tp: int = 1
) -> roofline.DecodeStep:
    return roofline.decode_step(
        MODEL, on=on, dtype=dtype, tp=tp, batch=batch, context=CONTEXT
    )


def _in_16_bits(batch: int = 1, tp: int = 2) -> roofline.DecodeStep:
    return _step(DIVIDED_BY, batch, "bf16", tp)


def _work() -> roofline.Work:
    return roofline.decode_work(models.get(MODEL), dtype="e4m3fn", context=CONTEXT)


def _flops() -> Quantity:
    return _work().operations


@claim("decode-wait-share")
def decode_wait_share() -> Finding:
    """Idle share of a batch-one FP8 step on the chip the text names."""
    named, used = _step(NAMED), _step(DIVIDED_BY)
    crowd = _step(NAMED, SERVING_BATCH)
    return Finding(
        named.idle,
        why=f"Close in the share, wrong about the chip. The share is "
        f"{named.idle:.4 %} on the H200 it names and {used.idle:.4 %} on an H100; "
        f"the time it divides by, {get('decode-memory-time').claimed}, is that of "
        f"an H100 at {hardware.get(DIVIDED_BY).memory_bandwidth}. An H200 has "
        f"{hardware.get(NAMED).memory_bandwidth} and reads the weights in "
        f"{named.t_memory:ms}. A share near one forgives much: the busy rest is "
        f"{named.busy:.2 %}. Batch one only: with "
        f"{SERVING_BATCH} sequences of {CONTEXT:,} tokens it waits "
        f"{crowd.idle:.2 %} of the step.",
    )


@claim("decode-memory-time")
def decode_memory_time() -> Finding:
    """Time to read weights and KV cache once at the bandwidth the sentence gives."""
    return Finding(
        _step(DIVIDED_BY).t_memory,
        why="The bandwidth in the sentence is an H100's; the text around it names an "
        f"H200, which needs {_step(NAMED).t_memory:ms}.",
    )


@claim("decode-compute-time")
def decode_compute_time() -> Finding:
    """Arithmetic of the step at the 16-bit peak the text divides by."""
    chip = hardware.get(NAMED)
    at_16_bit = _flops() / chip.peak("bf16")
    return Finding(
        at_16_bit,
        why=f"{get('decode-step-flops').claimed} is low for a dense 70B: counted from "
        f"the config it is {_flops():GFLOP}. In FP8, the format the text names, "
        f"the peak is {chip.peak('fp8'):TFLOP/s} and the time "
        f"{_step(NAMED).t_compute:ms}.",
    )


@claim("decode-step-flops")
def decode_step_flops() -> Finding:
    """Work of one token: two operations a parameter, and attention."""
    model = models.get(MODEL)
    return Finding(
        _flops(),
        why=f"Two operations for each of {model.streamed_parameters.si / 1e9:.3g} "
        "billion parameters a token passes through are the floor; attention "
        "comes on top.",
    )


@claim("decode-step-bytes")
def decode_step_bytes() -> Finding:
    """Weights once, and the keys and values of one sequence."""
    model = models.get(MODEL)
    return Finding(
        _work().bytes,
        why=f"One byte for each of {model.streamed_parameters:.3} parameters, and "
        f"{CONTEXT:,} cached tokens at {model.kv_bytes_per_token('fp8'):.3 kB} "
        "each. The text gives no context; a few thousand tokens more or less move "
        "the sum by a percent.",
    )


@claim(
    "decode-ridge-fraction",
    right_if="the arithmetic runs at the 16-bit peak the text divides by",
)
def decode_ridge_fraction() -> Finding:
    """How far the step's intensity is below the ridge, in the format of the text."""
    intensity = _work().intensity
    in_fp8 = roofline.ridge(NAMED, "fp8") / intensity
    in_bf16 = roofline.ridge(NAMED, "bf16") / intensity
    return Finding(
        in_fp8.named("ridge over intensity"),
        why=f"In FP8, the format of its example, it is one part in {in_fp8:.3}. "
        f"Two slips of the text cancel: its ridge of {get('h200-ridge').claimed} "
        f"is too low, and so is its intensity of "
        f"{get('decode-intensity-1p6').claimed}.",
        then=in_bf16.named("ridge over intensity"),
    )


@claim("decode-idle-typical-batch", right_if="the batch is one")
def decode_idle_typical_batch() -> Finding:
    """The idle share at the batch the document's own cost table uses."""
    alone, crowd = _step(NAMED), _step(NAMED, SERVING_BATCH)
    return Finding(
        crowd.idle,
        why=f"The text names no batch and speaks of serving. At the {SERVING_BATCH} "
        f"sequences of its cost table, {CONTEXT:,} tokens each, the tensor cores "
        f"wait {crowd.idle:.3 %} of the step on an H200 in FP8 and work "
        f"{crowd.busy:.2 %}; at batch one they work {alone.busy:.2 %}.",
        then=alone.idle,
    )


@claim("decode-tensor-waste")
@claim("tensor-idle-97")
def idle_share() -> Finding:
    """The idle share of a batch-one step."""
    crowd = _in_16_bits(SERVING_BATCH, tp=4)
    return Finding(
        _in_16_bits().idle,
        why=f"In BF16 on H100s at batch one. With {SERVING_BATCH} sequences of "
        f"{CONTEXT:,} tokens it is {crowd.idle:.3 %}: it is no property of decode.",
    )


@claim("decode-util-0p34")
def decode_utilisation() -> Finding:
    """Busy share of a batch-one BF16 step; two chips, because one cannot hold it."""
    return Finding(_in_16_bits().busy, why="BF16 weights on H100, batch one only.")


def gain_of_double_peak(batch: int, context: int) -> Quantity:
    """How much faster a step gets when the arithmetic peak doubles."""
    step = roofline.decode_step(
        MODEL, on=DIVIDED_BY, dtype="bf16", tp=CHIPS, batch=batch, context=context
    )
    half = step.t_compute / chosen(2, label="twice the tensor cores")
    faster = maximum(half, step.t_memory).named("time with twice the tensor cores")
    return (step.time / faster - 1).named("gain")


@claim("decode-adding-flops")
def decode_adding_flops() -> Finding:
    """The gain from doubling the peak, where decode is most likely to feel it."""
    many = gain_of_double_peak(MANY, BRIEF)
    longest = roofline.memory_bound_context(MODEL, on=DIVIDED_BY, dtype="bf16")
    return Finding.depends(
        "the batch is small, or the sequences are long",
        computed=many,
        why=f"Doubling the peak of {CHIPS} H100s gains "
        f"{gain_of_double_peak(1, CONTEXT):%} for one sequence, "
        f"{gain_of_double_peak(SERVING_BATCH, CONTEXT):%} for {SERVING_BATCH} of "
        f"{CONTEXT:,} tokens, and "
        f"{many:.2 %} for {MANY} sequences of {BRIEF} tokens. Beyond "
        f"{longest:.3} tokens a sequence no batch gains anything: each brings "
        "more cache to read than arithmetic to do.",
    )
