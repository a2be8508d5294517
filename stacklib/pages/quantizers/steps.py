"""The one decode step that every page of chapter 7 reads, its formats told."""

from __future__ import annotations

from stacklib import serving
from stacklib.quantity import Quantity, bytes_per_element
from stacklib.quantity.constants import case
from stacklib.roofline import DecodeStep, decode_step
from stacklib.serving.token.lines import Line

MODEL, CHIP, CHIPS, CONTEXT = "llama-3-70b", "h100_sxm", case("chips"), case("context")
LAYERS, CACHE, HEAD = (  # lines of its account
    "products with the weights",
    "attention over the cache",
    "output matrix",
)


def step(
    dtype: str | Quantity = "bf16",
    kv_dtype: str | Quantity = "bf16",
    *,
    batch: int = 1,
    context: int = CONTEXT,
    device: str = CHIP,
) -> DecodeStep:
    """The decode step of Llama-3-70B on eight chips.

    - ``dtype``: of the weights, as files have them. One with scales (``int8_channel``,
      ``nvfp4``, ``int4_g128``) is that of the matrices of the layers, and the output
      head stays in bf16; a name of llama.cpp's (``q4_k_m``) is the file of that name;
      bits of a number are those of every weight.
    - ``kv_dtype``: of the cache, bf16 whatever the weights are in.
    """
    case = {"tp": CHIPS, "batch": batch, "context": context}
    return decode_step(MODEL, on=device, dtype=dtype, kv_dtype=kv_dtype, **case)


def line(
    name: str,
    dtype: str = "bf16",
    kv_dtype: str | Quantity = "bf16",
    context: int = CONTEXT,
) -> Line:
    """A line of that step's account: ``LAYERS``, ``CACHE`` or ``HEAD``."""
    found = serving.account(
        MODEL, CHIP, dtype, CHIPS, context=context, kv_dtype=kv_dtype
    )
    return found[name]


def bits(dtype: str) -> Quantity:
    """Bits of a weight of the layers in a format, scales counted."""
    return bytes_per_element(dtype).to("bit").named(f"bits of a weight, {dtype}")
