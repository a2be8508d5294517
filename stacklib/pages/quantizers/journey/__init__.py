"""Section 7.10: What is each byte worth to the token?"""

from __future__ import annotations

from typing import Any

from stacklib import models, serving
from stacklib.pages.quantizers import kv, quality, steps
from stacklib.pages.quantizers.quality import ladders
from stacklib.quantity import Quantity, bytes_per_element, chosen
from stacklib.roofline import DecodeStep
from stacklib.serving import Account

MODEL, CONTEXT, CHIPS = steps.MODEL, steps.CONTEXT, steps.CHIPS
DEVICES = (steps.CHIP, "b200_sxm")
# stations of the token: format of the weights, bits of a code of the cache
STATIONS = {
    "BF16": ("bf16", 16),
    "INT8 weights": ("int8_channel", 16),
    "FP8 weights": ("fp8_128x128", 16),
    "NVFP4 weights": ("nvfp4", 16),
    "INT4 weights": ("int4_g128", 16),
    "INT4, and its cache": ("int4_g128", 4),
}
HERE = "07-quantizers/journey"
LADDER = "llama.cpp, Llama-3-70B"
# files of that model whose perplexity is published, and the row that has it
FILES = {
    "Q8_0": "G-0068",
    "Q6_K": "G-0067",
    "Q5_K_S": "G-0065",
    "Q4_K_S": "G-0063",
    "Q3_K_S": "G-0056",
    "Q2_K": "G-0053",
}
SCHEMES = (  # of the small model
    *("int8_channel", "fp8_128x128", "q4_k", "nvfp4", "int4_g128", "q2_k"),
)


def step(station: str, device: str = steps.CHIP) -> DecodeStep:
    """The step of one sequence at a station, or with the weights of a file."""
    dtype, cache = STATIONS.get(station, (station.lower(), 16))
    return steps.step(dtype, kv.stored_bits(cache), device=device)


def accounts(model: str, device: str, **asked: Any) -> tuple[Account, Account]:
    """A token by data sheets, its attention in pieces, and as kernels make it."""
    limit, kernels = (
        serving.account(model, device, mode=mode, **asked)
        for mode in ("limit", "calibrated")
    )
    return limit.with_(kernels[steps.CACHE]), kernels


def account(
    dtype: str, cache: int = 16, software: str = "engine", *, kernels: bool = False
) -> Account:
    """A token on H100s with pauses and exchanges, by data sheets or by ``kernels``."""
    asked = {"context": CONTEXT, "tp": CHIPS, "dtype": dtype, "software": software}
    found = accounts(MODEL, DEVICES[0], kv_dtype=kv.stored_bits(cache), **asked)
    return found[kernels]


def whole(dtype: str, software: str) -> Quantity:
    """Its time."""
    found: Quantity = account(dtype, software=software).total()
    return found.named(f"a token in {dtype}, exchanges by the {software}")


def sooner(software: str) -> Quantity:
    """How many times as long a token takes in bf16 as in NVFP4, by kernels."""
    wide, narrow = (
        account(dtype, software=software, kernels=True).total()
        for dtype in ("bf16", "nvfp4")
    )
    return (wide / narrow).named(f"BF16 over NVFP4, exchanges by the {software}")


def smaller() -> Quantity:
    """How many times as large the weights are in bf16 as in NVFP4."""
    shape = models.get(MODEL)
    ratio = shape.weight_bytes("bf16") / shape.weight_bytes("nvfp4")
    return ratio.named("weights in BF16 over NVFP4")


def saved(first: str, then: str) -> Quantity:
    """Time that the way from one station or file to another saves, on H100s."""
    return (step(first).time - step(then).time).named(f"time saved, {first} to {then}")


def rise(file: str) -> Quantity:
    """Share by which the file's published perplexity exceeds that in FP16."""
    return ladders.rise(FILES[file], LADDER).named(f"rise of perplexity, {file}")


def price(first: str, then: str) -> Quantity:
    """Rise of perplexity for each millisecond that the way saves."""
    millisecond = chosen(1, "ms", label="a millisecond")
    more = rise(then) - rise(first)
    return (more * (millisecond / saved(first, then))).named("rise for a millisecond")


# -- the book's own model --------------------------------------------------------------


def tiny_bytes(scheme: str) -> Quantity:
    """Bytes of its weights in a scheme, as they were packed."""
    from stacklib.tinylm.config import architecture

    count = architecture("tiny").parameters
    width = bytes_per_element("fp32") if scheme == "fp32" else quality.bits(scheme)
    return (count * width).to("B").named(f"the book's model in {scheme}")


def loss(scheme: str) -> Quantity:
    """Bits a byte of text that it loses in a scheme."""
    return quality.of(scheme)
