"""Numbers of chapter 1: one decode step of Llama-3-70B, and where it waits."""

from __future__ import annotations

from functools import cache

from stacklib import hardware, models, roofline
from stacklib.quantity import Quantity, bytes_per_element
from stacklib.roofline import DecodeStep, HostRoofline

from .. import ledger as claims
from .. import results, runs
from .registry import number

MODEL, DEVICE, DTYPE = "llama-3-70b", "h100-sxm", "bf16"
HOST_GEMV = "gemv-fp32-8192x8192"


@cache
def case(batch: int = 1, tp: int = 2) -> DecodeStep:
    """The running case: Llama-3-70B in bf16, 4,096 tokens cached."""
    return roofline.decode_step(MODEL, on=DEVICE, dtype=DTYPE, tp=tp, batch=batch)


@number("model.params", evidence="spec")
def model_params() -> Quantity:
    """Parameters of Llama-3-70B, counted from its shape."""
    return models.get(MODEL).parameters


@number("model.weights", evidence="spec")
def model_weights() -> Quantity:
    """Bytes of all weights of Llama-3-70B in bf16."""
    return models.get(MODEL).weight_bytes(DTYPE)


@number("model.kv_per_token", evidence="spec")
def model_kv() -> Quantity:
    """Keys and values that one token of Llama-3-70B leaves in the cache, in bf16."""
    return models.get(MODEL).kv_bytes_per_token(DTYPE)


@number("h100.capacity", evidence="spec")
def h100_capacity() -> Quantity:
    """Memory of one H100."""
    return hardware.get(DEVICE).memory_capacity


@number("h100.peak", evidence="spec")
def h100_peak() -> Quantity:
    """Dense bf16 arithmetic rate of one H100."""
    return hardware.get(DEVICE).peak(DTYPE)


@number("h100.bandwidth", evidence="spec")
def h100_bandwidth() -> Quantity:
    """Memory bandwidth of one H100."""
    return hardware.get(DEVICE).memory_bandwidth


@number("h100.l2", evidence="spec")
def h100_l2() -> Quantity:
    """Last-level cache of one H100."""
    return hardware.get(DEVICE).l2_capacity


@number("h100.ridge", evidence="spec")
def h100_ridge() -> Quantity:
    """Intensity at which one H100 is limited by both memory and bf16 arithmetic."""
    return roofline.ridge(DEVICE, DTYPE)


@number("decode.l2_share", digits=2, evidence="spec")
def l2_share() -> Quantity:
    """How many times a chip's half of the weights is larger than its cache."""
    half = (models.get(MODEL).weight_bytes(DTYPE) / 2).named("half of the weights")
    return half / hardware.get(DEVICE).l2_capacity


@number("decode.flop", family="E_decode")
def flop() -> Quantity:
    """Arithmetic of one decode step at batch one, 4,096 tokens cached."""
    return case().operations


@number("decode.bytes", family="E_decode")
def moved() -> Quantity:
    """Bytes moved by one decode step at batch one, 4,096 tokens cached."""
    return case().bytes


@number("decode.t_compute", family="E_decode")
def t_compute() -> Quantity:
    """Time the arithmetic of the step takes on two H100s at their peak."""
    return case().t_compute


@number("decode.t_mem", unit="ms", family="E_decode")
def t_mem() -> Quantity:
    """Least time of the step on two H100s: the bytes at full bandwidth."""
    return case().t_memory


@number("decode.busy", unit="%", digits=2, family="E_decode")
def busy() -> Quantity:
    """Share of the step in which the arithmetic units have work."""
    return case().busy


@number("decode.waits", digits=2, family="E_decode")
def waits() -> Quantity:
    """Time to move the bytes over time to compute."""
    return case().t_memory / case().t_compute


@number("decode.intensity", family="E_decode")
def intensity() -> Quantity:
    """Arithmetic intensity of the step at batch one."""
    return case().intensity


@number("decode.second_user", unit="%", digits=2, family="E_decode")
def second_user() -> Quantity:
    """What a second sequence adds to the time of the step."""
    return case(batch=2).time / case().time - 1


@number("decode.idle64", unit="%", digits=2, family="E_decode")
def idle64() -> Quantity:
    """Share of the step in which the arithmetic waits at batch 64, on eight H100s."""
    return case(batch=64, tp=8).idle


@number("decode.weights_only_batch", digits=2)
def weights_only_batch() -> Quantity:
    """Batch at which the step would be compute-bound if only weights were read."""
    per_weight = Quantity(2, "FLOP", label="FLOP per weight and sequence")
    return roofline.ridge(DEVICE, DTYPE) * bytes_per_element(DTYPE) / per_weight


@number("decode.context_limit", digits=2)
def context_limit() -> Quantity:
    """Tokens cached above which no batch makes the step compute-bound on H100."""
    return roofline.memory_bound_context(MODEL, on=DEVICE, dtype=DTYPE)


@number("decode.t_h200", unit="ms", family="E_decode")
def t_h200() -> Quantity:
    """Least time of the same step on two H200s."""
    return roofline.decode_step(MODEL, on="h200-sxm", dtype=DTYPE, tp=2).time


@number("decode.t_b200_fp8", unit="ms", family="E_decode")
def t_b200_fp8() -> Quantity:
    """Least time of the step on one B200 with weights and cache in fp8."""
    return roofline.decode_step(MODEL, on="b200-sxm", dtype="fp8").time


@number("claim.decode_wait", unit="%", evidence="claimed")
def claimed_wait() -> Quantity:
    """Share of the step in which the GPU waits, as document 001 states it."""
    return claims.get("decode-wait-share").quantity()


# -- this machine: the one the book was last measured on ------------------------


def _gemv() -> runs.Run:
    """The matrix-vector product whose matrix is far larger than any cache."""
    return runs.get("host_gemv_gemm", HOST_GEMV)


@number("host.bandwidth", evidence="measured")
def host_bandwidth() -> Quantity:
    """Memory bandwidth of this machine, triad on all cores."""
    return hardware.get(hardware.THIS_MACHINE).memory_bandwidth


@number("host.peak", evidence="measured")
def host_peak() -> Quantity:
    """Fastest fp32 matrix product of this machine."""
    return hardware.get(hardware.THIS_MACHINE).peak("fp32")


@number("host.ridge", digits=2, evidence="measured")
def host_ridge() -> Quantity:
    """Ridge point of this machine in fp32."""
    return roofline.ridge(hardware.THIS_MACHINE, "fp32")


@number("host.gemv_bytes", evidence="predicted")
def host_gemv_bytes() -> Quantity:
    """Bytes one matrix-vector product moves: the matrix, once."""
    return _gemv().bytes


@number("host.gemv_predicted", unit="ms", evidence="predicted")
def host_gemv_predicted() -> Quantity:
    """Predicted time of that product, committed before it ran."""
    return _gemv().predicted


@number("host.gemv_measured", unit="ms", evidence="measured")
def host_gemv_measured() -> Quantity:
    """Measured median time of that product."""
    return _gemv().measured


@number("host.median_error", unit="%", digits=2, evidence="measured")
def host_median_error() -> Quantity:
    """Median error of all matrix products predicted for this machine."""
    return runs.median_error(runs.load("host_gemv_gemm"))


@number("host.thin", unit="%", digits=2, evidence="measured")
def host_thin() -> Quantity:
    """Predicted over measured time of a product with four rows on the large matrix."""
    thin = runs.get("host_gemv_gemm", "gemm-fp32-m4-n8192-k8192")
    return thin.predicted / thin.measured


@number("host.gemv_again", unit="ms", evidence="measured")
def host_gemv_again() -> Quantity:
    """Measured median time of the same product as the first of the sweep over rows."""
    return runs.get("host_gemv_gemm", "gemm-fp32-m1-n8192-k8192").measured


@number("host.read", digits=2, evidence="measured")
def host_read() -> Quantity:
    """Rate at which this machine read an array as large as that matrix, beforehand."""
    path = results.root() / "benchmarks" / "results" / "host_roofline.json"
    return HostRoofline.load(path).bandwidth_at(_gemv().bytes, "read")
