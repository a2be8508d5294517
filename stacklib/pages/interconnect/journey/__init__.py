"""Section 6.17: What does it cost a token to cross the network?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import hardware, roofline, serving
from stacklib.pages import chain
from stacklib.pages.figures_of import measured
from stacklib.pages.interconnect import links, selection
from stacklib.pages.kernels import journey as kernels
from stacklib.quantity import Quantity, chosen, counting, quoted
from stacklib.serving import Account

MODEL, CONTEXT, TP = chain.MODEL, chain.CONTEXT, chain.TP
OLD, NEW, RACK = "h100_sxm", "b200_sxm", "gb200"
NVLINK = {OLD: "nvlink4", NEW: "nvlink5", RACK: "nvlink5"}
SIZES = (1, 2, 4, 8, 16, 32, 64)
LIBRARY, OWN = "by NCCL", "by the engine's own kernels"
# An engine's own all-reduce of a token's array among eight, as published.
PUBLISHED = {
    OLD: "aiconfigurator.all_reduce_h100",
    NEW: "aiconfigurator.all_reduce_b200",
}
A100 = {2: "E-0733", 4: "E-0735", 8: "E-0737"}  # the same steps on 2, 4 and 8 GPUs


# -- one token -------------------------------------------------------------------------


@cache
def account(device: str, tp: int = TP, way: str = LIBRARY) -> Account:
    """A token's lines: attention as it is predicted, the rest at its limit."""
    asked: dict[str, Any] = {"dtype": "bf16", "tp": tp, "context": CONTEXT}
    asked["software"] = "library" if way == LIBRARY else "engine"
    predicted = serving.account(MODEL, device, mode="calibrated", **asked)
    return serving.account(MODEL, device, **asked).with_(predicted[chain.ATTENTION])


def reading(device: str, tp: int = TP) -> Quantity:
    """Time in which each GPU reads its share of the model."""
    step = roofline.decode_step(MODEL, on=device, tp=tp, context=CONTEXT)
    return step.time.named(f"reading, {tp} x {hardware.get(device).short}").to("ms")


def pauses(device: str) -> Quantity:
    """What kernels add to their bytes."""
    rest = token(device) - reading(device) - exchanges(device)
    return rest.named(f"pauses, {hardware.get(device).short}").to("ms")


def exchanges(device: str, tp: int = TP, *, way: str = LIBRARY) -> Quantity:
    """All exchanges of a token."""
    found: Quantity = account(device, tp, way)[chain.EXCHANGES].time
    label = f"exchanges {way}, {tp} x {hardware.get(device).short}"
    return found.named(label).to("ms")


def once(device: str) -> Quantity:
    """One exchange by own kernels."""
    each = exchanges(device, way=OWN) / selection.exchanges()
    return each.named(f"an exchange {OWN}, {hardware.get(device).short}").to("µs")


def published(device: str) -> Quantity:
    """The same by a published run, of the same size."""
    return quoted(PUBLISHED[device]).to("µs")


def held(device: str) -> Quantity:
    """All exchanges if each takes what was published."""
    label = f"exchanges as published, {hardware.get(device).short}"
    return (selection.exchanges() * published(device)).named(label).to("ms")


def over_held() -> Quantity:
    """Token on H100s over B200s with exchanges so held."""
    old, new = (
        token(device, way=OWN) - exchanges(device, way=OWN) + held(device)
        for device in (OLD, NEW)
    )
    return (old / new).named("H100 over B200, exchanges as published")


def bytes_alone(device: str) -> Quantity:
    """The bound that chapter 1 used: direct, and no message waits."""
    return links.exchange(NVLINK[device]).to("ms")


def token(device: str, tp: int = TP, *, way: str = LIBRARY) -> Quantity:
    """A token: all lines of its account."""
    found: Quantity = account(device, tp, way).total()
    return found.named(f"token {way}, {tp} x {hardware.get(device).short}").to("ms")


def calibrated() -> Quantity:
    """The same on H100s with every line as its family predicts it."""
    asked: dict[str, Any] = {"dtype": "bf16", "tp": TP, "context": CONTEXT}
    found: Quantity = serving.account(MODEL, OLD, mode="calibrated", **asked).total()
    return found.named("a token, calibrated").to("ms")


def share(device: str, tp: int = TP, *, way: str = LIBRARY) -> Quantity:
    """Share of the exchanges."""
    part = exchanges(device, tp, way=way) / token(device, tp, way=way)
    return part.named(f"share of exchanges {way}, {hardware.get(device).short}")


def over(*, way: str = LIBRARY) -> Quantity:
    """The older device's token over the newer one's."""
    return (token(OLD, way=way) / token(NEW, way=way)).named(f"H100 over B200 {way}")


def over_bound(device: str = OLD) -> Quantity:
    """Exchanges by NCCL over the bound by bytes."""
    return (exchanges(device) / bytes_alone(device)).named("exchanges over their bound")


@counting(
    lambda device, way: f"GPUs of the fastest token {way}, {hardware.get(device).short}"
)
def fastest(device: str, *, way: str = LIBRARY) -> int:
    """How many GPUs make a token soonest."""
    times = {tp: token(device, tp, way=way).si for tp in SIZES if fits(device, tp)}
    return min(times, key=lambda tp: times[tp])


def fits(device: str, tp: int) -> bool:
    """Whether so many hold the model."""
    step = roofline.decode_step(MODEL, on=device, tp=tp, context=CONTEXT)
    return bool(step.fit.fits)


def rows() -> list[dict[str, Any]]:
    """The table: a token by number of GPUs."""
    found = []
    for tp in SIZES:
        row: dict[str, Any] = {"GPUs": chosen(tp, label="GPUs of the split")}
        for name, device, way in (
            ("H100, NCCL", OLD, LIBRARY),
            ("B200, NCCL", NEW, LIBRARY),
            ("GB200 NVL72, NCCL", RACK, LIBRARY),
            ("GB200 NVL72, own kernels", RACK, OWN),
        ):
            row[name] = token(device, tp, way=way) if fits(device, tp) else None
        found.append(row)
    return found


# -- a prompt --------------------------------------------------------------------------


def prompt() -> Quantity:
    """A prompt with its exchanges, one after the other."""
    whole = kernels.first(after=True) + selection.prompt()
    return whole.named("a prompt with its exchanges").to("ms")


# -- measured --------------------------------------------------------------------------


def seen(tp: int) -> Quantity:
    """A token of Llama-2-70B on A100s, published as tokens a second."""
    rate = measured(A100[tp])
    one = chosen(1, "token", label="a token")
    return (one / rate).named(f"a token, {tp} x A100, published").to("ms")


def kept() -> Quantity:
    """What twice as many GPUs did not shorten: 2 t(2n) - t(n)."""
    return (2 * seen(8) - seen(4)).named("not shortened from 4 to 8 GPUs").to("ms")


def kept_before() -> Quantity:
    """The same from two GPUs to four."""
    return (2 * seen(4) - seen(2)).named("not shortened from 2 to 4 GPUs").to("ms")


def foretold() -> Quantity:
    """Exchanges by NCCL on eight A100s."""
    return exchanges("a100_sxm_80gb", 8)
