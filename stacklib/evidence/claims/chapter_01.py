"""Chapter 1: the ridge, and the decode step that waits.

Document 001 works out one step of a 70B model in FP8 on what it calls an H200.
Its time is that of an H100; each check below names the chip it computes on.
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


def _flops() -> Quantity:
    work = roofline.decode_work(models.get(MODEL), dtype="fp8", context=CONTEXT)
    return work.operations


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


@check("h100-ridge-295")
def h100_ridge() -> Finding:
    """Dense BF16 peak over memory bandwidth."""
    chip = hardware.get("h100_sxm")
    return Finding(
        roofline.ridge(chip, "bf16"),
        why=f"{chip.peak('bf16'):.4 TFLOP/s} in dense BF16 over "
        f"{chip.memory_bandwidth}.",
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


@check("matmul-ai-1365")
def square_matmul_intensity() -> Finding:
    """Each of three matrices moved once."""
    work = roofline.matmul(m=4096, n=4096, k=4096, dtype="fp16")
    return Finding(work.intensity, why="With perfect reuse: each matrix moved once.")


@check("decode-util-0p34")
def decode_utilisation() -> Finding:
    """Busy share of a batch-one BF16 step; two chips, because one cannot hold it."""
    step = roofline.decode_step(MODEL, on="h100_sxm", dtype="bf16", tp=2)
    return Finding(step.busy, why="BF16 weights on H100, batch one only.")
