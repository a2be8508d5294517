"""What one generation of chips gains over the last, spec by spec and in tokens.

A data sheet compares its best format with the best of its predecessor. A decode step
at batch one compares bandwidths. Both are computed here from the same two devices.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.quantity import DTYPES, Quantity

from ..work.bounds import device_of
from .decode import decode_step


@dataclass(frozen=True, slots=True)
class Gain:
    """Ratios, newer over older; None where one of the two lacks the format."""

    older: Accelerator
    newer: Accelerator
    bandwidth: Quantity  # of memory bandwidth
    fp16: Quantity | None  # of dense arithmetic in one format
    fp8: Quantity | None
    headline: Quantity
    tokens: Quantity  # of tokens a second of one decode step in 16 bits
    tokens_narrow: Quantity


def _fastest(device: Accelerator) -> Quantity:
    rates = [device.peak(f) for f in device.formats if DTYPES[f].operation == "FLOP"]
    return max(rates, key=lambda q: q.si)


def generation_gain(
    older: str | Accelerator,
    newer: str | Accelerator,
    *,
    model: str | LanguageModel = "llama-3-70b",
    chips: int = 8,  # of each device; enough for both to hold the model in 16 bits
    context: int = 4096,  # tokens cached
) -> Gain:
    """What a newer device gains over an older one."""
    old, new = device_of(older), device_of(newer)
    names = f"{new.short} over {old.short}"

    def rate(dtype: str) -> Quantity | None:
        if dtype not in old.formats or dtype not in new.formats:
            return None
        return (new.peak(dtype) / old.peak(dtype)).named(f"{dtype}, {names}")

    def tokens(device: Accelerator, dtype: str) -> Quantity:
        # Enough chips for either device to hold the model in 16 bits.
        step = decode_step(model, on=device, dtype=dtype, tp=chips, context=context)
        return step.tokens_per_s

    def narrow(device: Accelerator) -> str:
        return "fp8" if "fp8" in device.formats else "fp16"

    steps = tokens(new, "fp16") / tokens(old, "fp16")
    own = tokens(new, narrow(new)) / tokens(old, narrow(old))
    fastest = _fastest(new) / _fastest(old)
    return Gain(
        old,
        new,
        (new.memory_bandwidth / old.memory_bandwidth).named(f"bandwidth, {names}"),
        rate("fp16"),
        rate("fp8"),
        fastest.named(f"fastest format, {names}"),
        steps.named(f"tokens a second, {names}"),
        own.named(f"tokens a second in its own format, {names}"),
    )


def generation_gains(devices: Iterable[str | Accelerator]) -> list[Gain]:
    """The gain of each device over the one before it."""
    chosen = list(devices)
    if len(chosen) < 2:
        raise ValueError(f"{len(chosen)} devices: a gain needs two")
    return [generation_gain(old, new) for old, new in pairwise(chosen)]
