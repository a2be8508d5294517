"""Setup of section 1.3 Which of two limits do you hit?

Every ridge of the database, the operations of a block, the best published products.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from stacklib import hardware, roofline
from stacklib.evidence import ledger, measurements
from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity, Source, counted, counting
from stacklib.roofline.bound import cache_aware, gains
from stacklib.roofline.count import traffic_cuts
from stacklib.roofline.count.operations import block_operations
from stacklib.roofline.work.bounds import Bound

from . import five_operations as five

A100, H100, B200 = "a100_sxm_80gb", "h100_sxm", "b200_sxm"
MODEL = "llama-3-70b"
CLAIMED = (300.0, 500.0)  # FLOP/B: where document 003 puts the ridge of high-end GPUs
SWEEP = "MAMF best of sweep"


def ridges(dtype: str) -> list[tuple[Accelerator, Quantity]]:
    """Every device of the database that exists and has a dense rate, with its ridge."""
    found = []
    for key in hardware.names():
        device = hardware.get(key)
        known = dtype in device.formats and device.fields["memory_bandwidth"]
        if key == hardware.THIS_MACHINE or not known:
            continue
        source = device.peak(dtype).source
        if source is None or source.confidence != "announced":
            found.append((device, roofline.ridge(device, dtype)))
    return found


def sides(
    model: str | LanguageModel, tokens: int, on: str, context: int = 4096
) -> list[tuple[roofline.Work, Bound]]:
    """Operations of one block that move bytes, and what each waits for."""
    listed = block_operations(model, tokens=tokens, context=context)
    return [(op, roofline.bound_on(op, on)) for op in listed if op.bytes.si > 0]


@dataclass(frozen=True, slots=True)
class BestProduct:
    """The fastest bf16 product of a device among those published in our evidence."""

    device: Accelerator  # on which it ran
    published: Quantity  # its rate, the best of a sweep of shapes

    @property
    def share(self) -> Quantity:
        """Of the dense bf16 peak."""
        return (self.published / self.device.peak("bf16")).named("share of peak")


def best_products() -> list[BestProduct]:
    """Best published bf16 products, one a device, from sweeps of shapes."""
    rows = [m for m in measurements.public() if SWEEP in m.subject]
    found = []
    for row in rows:
        if row.text("dtype") != "bf16":
            continue
        vendor, _, name = row.system.partition(" ")
        if vendor not in ("NVIDIA", "AMD", "Intel"):
            name = row.system
        device = hardware.get(name.removesuffix(" SXM"))
        rate = Quantity(
            row.value,
            "TFLOP/s dense per_chip",
            label=f"best published product, {device.short}",
            source=Source(row.source, row.id, row.date, "measured"),
            kind="measured",
            key=row.id,
        )
        found.append(BestProduct(device, rate))
    return found


def in_claimed() -> Quantity:
    """Devices among them whose bf16 ridge lies in the claimed range."""
    return counted(ridges_between, *CLAIMED, label="devices in the range")


def ridges_between(low: float, high: float) -> int:
    """Devices of the database whose bf16 ridge lies between two."""
    return sum(low <= ridge.si <= high for _, ridge in ridges("bf16"))


def claimed(value: float, label: str) -> Quantity:
    """An end of the range that document 003 gives."""
    return ledger.get("breakeven-300-500").quantity(value).named(label)


def ends() -> list[Quantity]:
    """Both ends of it."""
    return [claimed(end, "an end of the range") for end in CLAIMED]


@cache
def gain() -> gains.Gain:
    return gains.generation_gain(H100, B200)


def gain_fp8() -> Quantity:
    """Dense fp8 rate of a B200 over that of an H100."""
    found = gain().fp8
    assert found is not None  # both publish it
    return found


def published(key: str) -> Quantity:
    return next(b.published for b in best_products() if b.device.key == key)


def h20_tokens() -> Quantity:
    """Tokens a second at batch one on two H20s over those on two H100s."""
    steps = [roofline.decode_step(MODEL, on=on, tp=2) for on in ("h20", H100)]
    return steps[0].tokens_per_s / steps[1].tokens_per_s


@cache
def cuts() -> dict[str, traffic_cuts.Cut]:
    return {cut.name: cut for cut in traffic_cuts.famous_cuts()}


@cache
def by_hand() -> dict[str, roofline.Work]:
    return traffic_cuts.five_operations(4096, 4096, "bf16")


def softmax_time() -> Quantity:
    """Least time of a softmax over a square of side 4,096 on an A100."""
    return roofline.bound_on(by_hand()["softmax"], A100).time


def matmul_time() -> Quantity:
    """Least time of a product of two such squares on an A100."""
    return roofline.bound_on(by_hand()["matmul"], A100).time


@counting("operations that wait for memory")
def memory(tokens: int) -> int:
    """Operations of a layer that memory bounds on an H100, so many tokens at once."""
    return sum(b.bound == "memory" for _, b in sides(MODEL, tokens, H100))


@cache
def levels(key: str = H100) -> dict[str, cache_aware.Slope]:
    if key == hardware.THIS_MACHINE:
        return {lv.name: lv for lv in cache_aware.host_slopes(five.ceilings())}
    return {level.name: level for level in cache_aware.slopes_of(key, "bf16")}


def peak_at_clock() -> Quantity:
    """The bf16 peak of an H100, marked with the clock that its caches share."""
    return hardware.get(H100).peak_at_clock("bf16")


def ratio(operation: str, variant: str = "whole", rows: int = 0) -> Quantity:
    run = five.outcome(operation, variant, rows).run
    return run.measured / run.predicted


def gelu_sum() -> Quantity:
    """How far the passes of GELU, timed where they run, add up from the prediction."""
    found = five.diagnosis("gelu")
    seen, told = ([getattr(p, w) for p in found] for w in ("measured", "predicted"))
    return abs(sum(seen[1:], seen[0]) / sum(told[1:], told[0]) - 1)


def passes_over(operation: str, name: str) -> Quantity:
    found = [p for p in five.diagnosis(operation) if p.name == name]
    return found[0].measured / found[0].predicted


def gain_of(operation: str) -> Quantity:
    whole = five.outcome(operation).run
    return whole.measured / five.outcome(operation, "blocked").run.measured


def transpose_odd() -> Quantity:
    """Time of that transpose over that of the slightly larger square of 1,040."""
    power = five.diagnosis("transpose", 1024)[0].measured
    return power / five.diagnosis("transpose", 1040)[0].measured
