"""Setup of section 1.3 Which of two limits do you hit?"""

from __future__ import annotations

from functools import cache

from stacklib import hardware, roofline
from stacklib.evidence import five_operations as five
from stacklib.evidence import ledger, limits
from stacklib.quantity import Quantity, counted
from stacklib.roofline.bound import cache_aware, gains
from stacklib.roofline.count import traffic_cuts

A100, H100, B200 = "a100_sxm_80gb", "h100_sxm", "b200_sxm"


MODEL = "llama-3-70b"


def in_claimed() -> Quantity:
    """Devices among them whose bf16 ridge lies in the claimed range."""
    return counted(ridges_between, *limits.CLAIMED, label="devices in the range")


def ridges_between(low: float, high: float) -> int:
    """Devices of the database whose bf16 ridge lies between two."""
    return sum(low <= ridge.si <= high for _, ridge in limits.ridges("bf16"))


def claimed(value: float, label: str) -> Quantity:
    said = ledger.get("breakeven-300-500").quantity()
    return Quantity(value, "FLOP/B", label=label, source=said.source, kind="claimed")


@cache
def gain() -> gains.Gain:
    return gains.generation_gain(H100, B200)


def gain_fp8() -> Quantity:
    """Dense fp8 rate of a B200 over that of an H100."""
    found = gain().fp8
    assert found is not None  # both publish it
    return found


def published(key: str) -> Quantity:
    return next(b.published for b in limits.best_products() if b.device.key == key)


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


def memory(tokens: int) -> Quantity:
    return counted(waiting, tokens, label="operations that wait for memory")


def waiting(tokens: int) -> int:
    """Operations of a layer that memory bounds on an H100, so many tokens at once."""
    return sum(b.bound == "memory" for _, b in limits.sides(MODEL, tokens, H100))


@cache
def levels(key: str = H100) -> dict[str, cache_aware.Slope]:
    if key == hardware.THIS_MACHINE:
        return {lv.name: lv for lv in cache_aware.host_slopes(five.ceilings())}
    return {level.name: level for level in cache_aware.slopes_of(key)}


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
