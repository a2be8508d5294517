"""Setup of section 1.1 Why does one token take so long?"""

from __future__ import annotations

from functools import cache

from stacklib import hardware, models, roofline
from stacklib.evidence import runs
from stacklib.pages.roofline.roofline.five_operations import ceilings
from stacklib.quantity import Quantity, bytes_per_element, constants, one_of
from stacklib.roofline import DecodeStep

MODEL, DEVICE, DTYPE = "llama-3-70b", "h100-sxm", "bf16"
CONTEXT = constants.case("context")  # tokens cached, as decode_step supposes


HOST_GEMV = "gemv-fp32-8192x8192"


@cache
def case(batch: int = 1, tp: int = 2) -> DecodeStep:
    """The running case: Llama-3-70B in bf16, 4,096 tokens cached."""
    return roofline.decode_step(MODEL, on=DEVICE, dtype=DTYPE, tp=tp, batch=batch)


def l2_share() -> Quantity:
    """How many times a chip's half of the weights is larger than its cache."""
    half = (models.get(MODEL).weight_bytes(DTYPE) / 2).named("half of the weights")
    return half / hardware.get(DEVICE).l2_capacity


def streamed() -> dict[str, tuple[Quantity, str] | tuple[Quantity, str, str, int]]:
    """Stored, streamed and cached bytes of the step, which add up to those it moves."""
    model = models.get(MODEL)
    weight = bytes_per_element(DTYPE)
    stored = model.weight_bytes(DTYPE)
    table = (model.embedding_parameters * weight).named("embedding table")
    read = (stored - table).named("weights streamed")
    tokens = CONTEXT + 1  # the new one looks at itself too
    cached = model.kv_read_bytes(tokens, DTYPE).named("keys and values")
    return {
        "stored": (stored, "Bytes of all weights as they are stored", "GB", 4),
        "embedding": (table, "Bytes of the embedding table", "GB", 3),
        "streamed": (read, "Bytes of the weights that every step reads", "GB", 4),
        "cached": (cached, "Bytes of keys and values that the step reads", "GB", 3),
    }


def weights_only_batch() -> Quantity:
    """Batch at which the step would be compute-bound if only weights were read."""
    per_weight = (2 * one_of("FLOP")).named("FLOP per weight and sequence")
    return roofline.ridge(DEVICE, DTYPE) * bytes_per_element(DTYPE) / per_weight


def gemv() -> runs.Run:
    """The matrix-vector product whose matrix is far larger than any cache."""
    return runs.get("host_gemv_gemm", HOST_GEMV)


def host_thin() -> Quantity:
    """Predicted over measured time of a product with four rows on the large matrix."""
    thin = runs.get("host_gemv_gemm", "gemm-fp32-m4-n8192-k8192")
    return thin.predicted / thin.measured


def host_read() -> Quantity:
    """Rate at which this machine read an array as large as that matrix, beforehand."""
    return ceilings().bandwidth_at(gemv().bytes, "read")
