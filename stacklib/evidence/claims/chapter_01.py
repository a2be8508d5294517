"""Chapter 1: one decode step, as document 001 works it out.

A 70B model in FP8 on what the text calls an H200. Its time is that of an H100;
each check below names the chip it computes on.
"""

from __future__ import annotations

from stacklib import hardware, models, roofline
from stacklib.quantity import Quantity

from .judge import Finding, check
from .ledger import get

MODEL = "llama-3-70b"
NAMED, DIVIDED_BY = "h200_sxm", "h100_sxm"  # what 001 says, and what it uses
SERVING_BATCH = 64  # the batch of 001's own cost table
CONTEXT = 4096  # 001 gives none


def _step(on: str, batch: int = 1) -> roofline.DecodeStep:
    return roofline.decode_step(MODEL, on=on, dtype="fp8", batch=batch, context=CONTEXT)


def _work() -> roofline.Work:
    return roofline.decode_work(models.get(MODEL), dtype="fp8", context=CONTEXT)


def _flops() -> Quantity:
    return _work().operations


@check("decode-wait-share")
def decode_wait_share() -> Finding:
    """Idle share of a batch-one FP8 step on the chip the text names."""
    named, used = _step(NAMED), _step(DIVIDED_BY)
    claimed_busy = 1 - get("decode-wait-share").quantity()
    crowd = _step(NAMED, SERVING_BATCH)
    return Finding(
        named.idle,
        why=(
            f"Right about the share, wrong about the chip. The share is "
            f"{named.idle:.4 %} on the H200 it names and {used.idle:.4 %} on an H100; "
            f"the time it divides by, {get('decode-memory-time').claimed}, is that of "
            f"an H100 at {hardware.get(DIVIDED_BY).memory_bandwidth}. An H200 has "
            f"{hardware.get(NAMED).memory_bandwidth} and reads the weights in "
            f"{named.t_memory:ms}. A share near one forgives much: the busy rest is "
            f"{named.busy:.2 %}, not {claimed_busy:.2 %}. Batch one only: with "
            f"{SERVING_BATCH} sequences of {CONTEXT:,} tokens it waits "
            f"{crowd.idle:.2 %} of the step."
        ),
    )


@check("decode-memory-time")
def decode_memory_time() -> Finding:
    """Time to read weights and KV cache once on the chip the text names."""
    named, used = _step(NAMED).t_memory, _step(DIVIDED_BY).t_memory
    return Finding(
        named,
        why=f"H100 needs {used:ms}; the H200 the text names needs {named:ms}.",
        condition="the chip is an H100, whose bandwidth the sum uses",
        then=used,
    )


@check("decode-compute-time")
def decode_compute_time() -> Finding:
    """Arithmetic of the step at the 16-bit peak the text divides by."""
    chip = hardware.get(NAMED)
    at_16_bit = _flops() / chip.peak("bf16")
    return Finding(
        at_16_bit,
        why=(
            f"{get('decode-step-flops').claimed} is low for a dense 70B: counted from "
            f"the config it is {_flops():GFLOP}. In FP8, the format the text names, "
            f"the peak is {chip.peak('fp8'):TFLOP/s} and the time "
            f"{_step(NAMED).t_compute:ms}."
        ),
    )


@check("decode-step-flops")
def decode_step_flops() -> Finding:
    """Work of one token: two operations a parameter, and attention."""
    model = models.get(MODEL)
    return Finding(
        _flops(),
        why=(
            f"Two operations for each of {model.streamed_parameters.si / 1e9:.3g} "
            "billion parameters a token passes through are the floor; attention "
            "comes on top."
        ),
    )


@check("decode-step-bytes")
def decode_step_bytes() -> Finding:
    """Weights once, and the keys and values of one sequence."""
    model = models.get(MODEL)
    return Finding(
        _work().bytes,
        why=(
            f"One byte for each of {model.streamed_parameters:.3} parameters, and "
            f"{CONTEXT:,} cached tokens at {model.kv_bytes_per_token('fp8'):.3 kB} "
            "each. The text gives no context; a few thousand tokens more or less move "
            "the sum by a percent."
        ),
    )


@check("decode-intensity-1p6")
def decode_intensity_fp8() -> Finding:
    """Operations over bytes of the same step."""
    return Finding(
        _work().intensity,
        why=(
            f"Two operations a parameter and one byte: 2, and attention adds a little. "
            f"The text divides its own low {get('decode-step-flops').claimed} by "
            f"{get('decode-step-bytes').claimed}. Batch one, FP8 weights."
        ),
    )


@check("h200-ridge")
def h200_ridge() -> Finding:
    """The lowest ridge of the chip in a tensor format: the reading kindest to it."""
    chip = hardware.get(NAMED)
    own = chip.peak("bf16") / hardware.get(DIVIDED_BY).memory_bandwidth
    return Finding(
        roofline.ridge(chip, "bf16"),
        why=(
            f"In BF16 it is {roofline.ridge(chip, 'bf16')}, in the FP8 of the text's "
            f"own example {roofline.ridge(chip, 'fp8')}; the peak and bandwidth it "
            f"prints give {own}. "
            f"{get('h200-ridge').claimed} is the TF32 ridge of an H100 "
            f"({roofline.ridge(DIVIDED_BY, 'tf32')})."
        ),
    )


@check("decode-ridge-fraction")
def decode_ridge_fraction() -> Finding:
    """How far the step's intensity is below the ridge, in the format of the text."""
    intensity = _work().intensity
    in_fp8 = roofline.ridge(NAMED, "fp8") / intensity
    in_bf16 = roofline.ridge(NAMED, "bf16") / intensity
    return Finding(
        in_fp8.named("ridge over intensity"),
        why=(
            f"In FP8, the format of its example, it is one part in {in_fp8:.3}. "
            f"Two slips of the text cancel: its ridge of {get('h200-ridge').claimed} "
            f"is too low, and so is its intensity of "
            f"{get('decode-intensity-1p6').claimed}."
        ),
        condition="the arithmetic runs at the 16-bit peak the text divides by",
        then=in_bf16.named("ridge over intensity"),
    )


@check("decode-idle-typical-batch")
def decode_idle_typical_batch() -> Finding:
    """The idle share at the batch the document's own cost table uses."""
    alone, crowd = _step(NAMED), _step(NAMED, SERVING_BATCH)
    return Finding(
        crowd.idle,
        why=(
            f"The text names no batch and speaks of serving. At the {SERVING_BATCH} "
            f"sequences of its cost table, {CONTEXT:,} tokens each, the tensor cores "
            f"wait {crowd.idle:.3 %} of the step on an H200 in FP8 and work "
            f"{crowd.busy:.2 %}; at batch one they work {alone.busy:.2 %}."
        ),
        condition="the batch is one",
        then=alone.idle,
    )
