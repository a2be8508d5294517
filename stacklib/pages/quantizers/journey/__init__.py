"""Section 7.10: What is each byte worth to the token?"""

from __future__ import annotations

from stacklib import hardware, models, serving
from stacklib.pages.quantizers import decode, kv, quality
from stacklib.quantity import Quantity, bytes_per_element, chosen
from stacklib.quantizers import SCHEMES

MODEL, CONTEXT = decode.MODEL, 4096
DEVICES = ("h100_sxm", "b200_sxm")
# stations of the token: scheme of the weights, bits of a code of the cache
STATIONS = {
    "BF16": ("bf16", 16),
    "INT8 weights": ("int8_channel", 16),
    "NVFP4 weights": ("nvfp4", 16),
    "INT4 weights": ("int4_g128", 16),
    "INT4, and its cache": ("int4_g128", 4),
    "Q2_K weights": ("q2_k", 16),
}


def bits(station: str) -> Quantity:
    """Bits of a weight, scales counted."""
    scheme = STATIONS[station][0]
    width = 16.0 if scheme == "bf16" else SCHEMES[scheme].bits
    return chosen(width, "bit", label=f"bits of a weight at {station}")


def moved(station: str) -> Quantity:
    """Bytes of a step of one sequence; the output head stays in bf16."""
    layers = (decode.numbers_of("matrices") * bits(station)).to("B")
    head = (decode.numbers_of("head") * bytes_per_element("bf16")).to("B")
    cache = kv.cached(CONTEXT, STATIONS[station][1])
    return (layers + head + cache).named(f"bytes, {station}")


def time(station: str, device: str) -> Quantity:
    """Time in which eight chips read them."""
    chips = chosen(decode.CHIPS, label="chips of the journey")
    rate = hardware.get(device).memory_bandwidth * chips
    return (moved(station) / rate).named(f"time, {station}, {device}")


def whole(dtype: str, software: str) -> Quantity:
    """A token on H100s with its pauses, attention in pieces and exchanges."""
    limit, kernels = (
        serving.account(
            MODEL,
            DEVICES[0],
            dtype,
            decode.CHIPS,
            context=CONTEXT,
            software=software,
            mode=mode,
        )
        for mode in ("limit", "calibrated")
    )
    found: Quantity = limit.with_(kernels["attention over the cache"]).total()
    return found.named(f"a token in {dtype}, exchanges by the {software}")


def sooner(software: str) -> Quantity:
    """How many times as long a token takes in bf16 as in NVFP4."""
    ratio = whole("bf16", software) / whole("nvfp4", software)
    return ratio.named(f"BF16 over NVFP4, exchanges by the {software}")


def smaller() -> Quantity:
    """How many times as large the weights are in bf16 as in NVFP4."""
    shape = models.get(MODEL)
    ratio = shape.weight_bytes("bf16") / shape.weight_bytes("nvfp4")
    return ratio.named("weights in BF16 over NVFP4")


def part(name: str, station: str = "NVFP4 weights") -> Quantity:
    """Bytes of a part of a step: ``layers``, ``head`` or ``cache``."""
    if name == "cache":
        return kv.cached(CONTEXT, STATIONS[station][1])
    of_head = name == "head"
    width = chosen(16, "bit", label="bits of bf16") if of_head else bits(station)
    count = decode.numbers_of("head" if of_head else "matrices")
    return (count * width).to("B").named(f"bytes of {name}, {station}")


def saved(first: str, then: str) -> Quantity:
    """Time that the way from one station to another saves, on H100s."""
    return (time(first, DEVICES[0]) - time(then, DEVICES[0])).named("time saved")


def price(first: str, then: str) -> Quantity:
    """Loss for each millisecond that the way saves."""
    lost = loss(then) if first == "BF16" else loss(then) - loss(first)
    millisecond = chosen(1, "ms", label="a millisecond")
    return (lost * (millisecond / saved(first, then))).named("loss of a millisecond")


def loss(station: str) -> Quantity:
    """Bits a byte that the book's own model loses by such weights, and such a cache.

    Both were measured by themselves; together they are taken to add up.
    """
    scheme, cache = STATIONS[station]
    found = quality.difference(scheme)
    if cache == 4:
        found = found + kv.loss(4, next(iter(kv.WAYS)))
    return found.named(f"loss, {station}")


def tiny_bytes(scheme: str) -> Quantity:
    """Bytes of the book's own model, every weight in a scheme."""
    from stacklib.tinylm.config import architecture

    count = architecture("tiny").parameters
    if scheme == "fp32":
        return (count * bytes_per_element("fp32")).named("the book's model in fp32")
    width = chosen(SCHEMES[scheme].bits, "bit", label=f"bits of {scheme}, journey")
    return (count * width).to("B").named(f"the book's model in {scheme}")
