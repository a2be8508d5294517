"""Numbers of chapter 1, timing: what each timer reads, by its closed form."""

from __future__ import annotations

from functools import cache

from stacklib import hardware
from stacklib.quantity import Quantity
from stacklib.roofline.timing import timers as timing
from stacklib.roofline.timing.case import DEVICE, DTYPE, Case
from stacklib.roofline.timing.case import case as _case

from .registry import number

FEW, MANY, SAMPLES = 20, 10_000, 11


@cache
def case() -> Case:
    """The running case."""
    return _case()


def _calls(n: float) -> Quantity:
    return Quantity(n, label="calls", kind="assumption")


@number("timing.product", unit="µs", family="A")
def product() -> Quantity:
    """Least time of the product of two matrices of 4,096 rows in bf16 on an H100."""
    return case().seconds


@number("timing.operations")
def operations() -> Quantity:
    """Arithmetic of that product."""
    return case().operations


@number("timing.launch", unit="µs", evidence="measured")
def launch() -> Quantity:
    """Time from one kernel to the next in a stream, fitted to published runs."""
    return case().launch


@number("timing.naive", unit="µs")
def naive() -> Quantity:
    """What the naive timer reads for one product: the launch."""
    return timing.naive_reading(case().launch, case().seconds, _calls(1))


@number("timing.naive_rate", unit="PFLOP/s")
def naive_rate() -> Quantity:
    """Arithmetic rate that the naive timer reports."""
    return case().operations / naive()


@number("timing.naive_over", digits=2)
def naive_over() -> Quantity:
    """That rate over the peak of the chip."""
    peak = hardware.get(DEVICE).peak(DTYPE)
    return Quantity((naive_rate().si / peak.si), label="naive rate over peak")


@number("timing.sync", unit="µs")
def sync() -> Quantity:
    """What the synchronised timer reads for one product."""
    return timing.synchronised_reading(case().launch, case().seconds, _calls(1))


@number("timing.sync_over", unit="%", digits=2)
def sync_over() -> Quantity:
    """By how much it exceeds the product's own time."""
    return sync() / case().seconds - 1


@number("timing.sync_few_over", unit="%", digits=2)
def sync_few_over() -> Quantity:
    """By how much it exceeds that over twenty products."""
    read = timing.synchronised_reading(case().launch, case().seconds, _calls(FEW))
    return read / case().seconds - 1


@number("timing.naive_many", unit="µs")
def naive_many() -> Quantity:
    """What the naive timer reads a call over 10,000 products, the queue full."""
    return timing.naive_reading(
        case().launch, case().seconds, _calls(MANY), case().depth
    )


@number("timing.depth", digits=4)
def depth() -> Quantity:
    """Kernels that the queue is supposed to hold."""
    return case().depth


@number("timing.first", unit="s", digits=2)
def first() -> Quantity:
    """What the first call is supposed to pay."""
    return case().first


@number("timing.first_mean", unit="ms")
def first_mean() -> Quantity:
    """Mean of twenty calls with the first among them."""
    read = timing.first_call_reading(case().first, case().seconds, _calls(FEW))
    return read


@number("timing.error", unit="%")
def error() -> Quantity:
    """The error that the examples allow."""
    return Quantity(0.01, label="error allowed", kind="assumption")


@number("timing.first_calls", digits=2)
def first_calls() -> Quantity:
    """Calls until the first one's cost is down to a hundredth of the mean."""
    return case().first / (case().seconds * error())


@number("timing.tick", unit="ms", digits=2)
def tick() -> Quantity:
    """The supposed step of a coarse clock."""
    return case().tick


@number("timing.tick_calls", digits=2)
def tick_calls() -> Quantity:
    """Calls between two readings so that the step is a hundredth of what is read."""
    return timing.calls_needed(case().cold, case().tick, error())


@number("timing.warm", unit="µs", family="C")
def warm() -> Quantity:
    """Time of the matrix-vector product with its matrix in the cache of an H100."""
    return case().warm


@number("timing.cold", unit="µs", family="C")
def cold() -> Quantity:
    """Time of the same product with its matrix in memory."""
    return case().cold


@number("timing.loop", unit="µs")
def loop() -> Quantity:
    """Mean of a loop of twenty such products on one matrix, the first of them cold."""
    extra = case().cold - case().warm
    return timing.first_call_reading(extra, case().warm, _calls(FEW))


@number("timing.cold_over", digits=2)
def cold_over() -> Quantity:
    """The time from memory over the time from the cache."""
    return case().cold / case().warm


@number("timing.boost_mean", unit="µs")
def boost_mean() -> Quantity:
    """Mean of a hundred products on a cool chip."""
    return timing.boosted_reading(
        case().seconds, _calls(100), case().boost, case().boost_s
    )


@number("timing.boost_s", unit="ms", digits=2)
def boost_s() -> Quantity:
    """The supposed busy time until the chip is warm."""
    return case().boost_s


@number("timing.boost", unit="%", digits=2)
def boost() -> Quantity:
    """By how much the cool chip's clock is supposed to be faster."""
    return case().boost - 1


@number("timing.others", unit="µs", digits=2)
def others() -> Quantity:
    """What other work is supposed to add to a call, on average."""
    return case().others


def _disturbed(i: int) -> Quantity:
    read = timing.disturbed_readings(case().seconds, case().others, SAMPLES)[i]
    return read.named("reading with other work")


@number("timing.least", unit="µs")
def least() -> Quantity:
    """Expected least of eleven samples beside other work."""
    return _disturbed(0)


@number("timing.middle", unit="µs")
def middle() -> Quantity:
    """Expected median of eleven samples beside other work."""
    return _disturbed(1)


@number("timing.mean", unit="µs")
def mean() -> Quantity:
    """Expected mean of eleven samples beside other work."""
    return _disturbed(2)
