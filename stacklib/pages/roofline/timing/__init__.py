"""Setup of section 1.7 Did you time what you think?"""

from __future__ import annotations

from functools import cache

from stacklib import hardware
from stacklib.quantity import Quantity, chosen
from stacklib.roofline.timing import timers as timing
from stacklib.roofline.timing.case import DEVICE, DTYPE, Case
from stacklib.roofline.timing.case import case as _case

FEW, MANY, SAMPLES = 20, 10_000, 11


@cache
def case() -> Case:
    """The running case."""
    return _case()


def calls(n: float) -> Quantity:
    return chosen(n, label="calls")


def naive() -> Quantity:
    """What the naive timer reads for one product: the launch."""
    return timing.naive_reading(case().launch, case().seconds, calls(1))


def naive_rate() -> Quantity:
    """Arithmetic rate that the naive timer reports."""
    return case().operations / naive()


def naive_over() -> Quantity:
    """That rate over the peak of the chip."""
    peak = hardware.get(DEVICE).peak(DTYPE)
    return naive_rate().to("FLOP/s") / peak


def sync() -> Quantity:
    """What the synchronised timer reads for one product."""
    return timing.synchronised_reading(case().launch, case().seconds, calls(1))


def sync_few_over() -> Quantity:
    """By how much it exceeds that over twenty products."""
    read = timing.synchronised_reading(case().launch, case().seconds, calls(FEW))
    return read / case().seconds - 1


def first_mean() -> Quantity:
    """Mean of twenty calls with the first among them."""
    read = timing.first_call_reading(case().first, case().seconds, calls(FEW))
    return read


def error() -> Quantity:
    """The error that the examples allow."""
    return chosen(0.01, label="error allowed")


def loop() -> Quantity:
    """Mean of a loop of twenty such products on one matrix, the first of them cold."""
    extra = case().cold - case().warm
    return timing.first_call_reading(extra, case().warm, calls(FEW))


def disturbed(i: int) -> Quantity:
    read = timing.disturbed_readings(case().seconds, case().others, SAMPLES)[i]
    return read.named("reading with other work")
