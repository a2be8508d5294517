"""Setup of section 1.6 What does a faster part buy?"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from stacklib import hardware, models, roofline
from stacklib.quantity import (
    Quantity,
    UnitError,
    assumed,
    chosen,
    counted,
    quoted,
    recorded,
    stamp,
)
from stacklib.quantity.constants import case
from stacklib.roofline.bound import generations, scaling, trend
from stacklib.roofline.bound.decode_parts import decode_parts

if TYPE_CHECKING:
    from stacklib.evidence import runs

MODEL, DEVICE = "llama-3-70b", "h100-sxm"
# Each reader with as many tokens as the model was trained for.
SERVING: dict[str, Any] = {"dtype": "bf16", "tp": case("chips")}
SERVING |= {"context": models.get(MODEL).max_context, "batch": case("readers")}
A100_40, A100_80, B200 = "a100-sxm-40gb", "a100-sxm-80gb", "b200-sxm"
WITHOUT_MATRIX_UNITS = ("p100_sxm2", "mi50_32gb", "mi60")
SIDES = {
    "compute": "dense fp16 peak",
    "bandwidth": "memory bandwidth",
    "ridge": "ridge point",
}


# -- a layer, as reported --------------------------------------------------------------


def claimed(id: str) -> tuple[Quantity, str]:
    """A claim of the ledger, with the sentence of the document that makes it."""
    from stacklib.evidence import ledger

    claim = ledger.get(id)
    return claim.quantity(), f"As “{claim.document}” says it: {claim.text}"


def forward_before() -> Quantity:
    """Time of the layer's forward pass before it was rewritten, as reported."""
    return quoted("cursor_moe.forward_before")


def forward_after() -> Quantity:
    """Time of the layer's forward pass afterwards, as reported."""
    return quoted("cursor_moe.forward_after")


def backward_before() -> Quantity:
    """Time of the layer's backward pass before it was rewritten, as reported."""
    return quoted("cursor_moe.backward_before")


def backward_after() -> Quantity:
    """Time of the layer's backward pass afterwards, as reported."""
    return quoted("cursor_moe.backward_after")


def layer_before() -> Quantity:
    """Both passes of the layer before it was rewritten."""
    return (forward_before() + backward_before()).named("layer, before")


def layer_gain() -> Quantity:
    """How many times faster the layer became, both passes together."""
    after = (forward_after() + backward_after()).named("layer, after")
    return (layer_before() / after).named("gain of the layer")


def whole_claimed() -> Quantity:
    """How many times faster the whole training step became, as reported."""
    return claimed("cursor-e2e-1p5x")[0]


def layer_share() -> Quantity:
    """Share of the step the layer must have taken, by Amdahl's law."""
    return scaling.share_from_speed_up(layer_gain(), whole_claimed())


def forward_share() -> Quantity:
    """Share of the forward pass that the layer took, as the post reports it."""
    return quoted("cursor_moe.forward_share")


def backward_share() -> Quantity:
    """Share of the backward pass that the layer took, as the post reports it."""
    return quoted("cursor_moe.backward_share")


def assumed_share() -> Quantity:
    """Share of the step from those two, a backward pass taking twice a forward one."""
    why = "a backward pass does two products for each one of the forward pass"
    twice = assumed(2, label="backward over forward", why=why)
    forward, backward = forward_share().to("1"), backward_share().to("1")
    both = (forward + twice * backward) / (1 + twice)
    return both.named("share of the step")


def timed_share() -> Quantity:
    """Share of the step from the reported times and shares of the two passes."""
    forward = forward_before() / forward_share().to("1")
    backward = backward_before() / backward_share().to("1")
    return (layer_before() / (forward + backward)).named("share of the step")


# -- two cores, as measured ------------------------------------------------------------


@cache
def cases() -> dict[str, runs.Run]:
    from stacklib.evidence import runs

    return {run.id: run for run in runs.load("amdahl")}


def measured_gain(one: str, two: str) -> Quantity:
    return cases()[one].measured / cases()[two].measured


def told_gain(one: str, two: str) -> Quantity:
    return cases()[one].predicted / cases()[two].predicted


def quarter() -> Quantity:
    """Serial share of one of the cases that ran."""
    of = "benchmarks/results/amdahl.json", "serial-12-w1"
    serial = recorded(*of, "serial")
    parallel = recorded(*of, "parallel/0")
    return (serial / (serial + parallel)).named("share")


# -- a decode step as parts ------------------------------------------------------------


@cache
def parts() -> dict[str, Quantity]:
    """The crowded step: Llama-3-70B on eight H100s."""
    return decode_parts(MODEL, DEVICE, **SERVING)


def longest() -> Quantity:
    """Tokens cached in each sequence of that step."""
    return models.get(MODEL).size("max_context", "max context").named("tokens cached")


def cache_share() -> Quantity:
    """Share of the crowded step that is reading caches."""
    return parts()["cache"] / (parts()["weights"] + parts()["cache"])


def gain(weights: float, cache: float) -> Quantity:
    gains = [chosen(weights, "", "gain of weights"), chosen(cache, "", "gain of cache")]
    return scaling.speed_up_of_parts(list(parts().values()), gains)


# -- the memory wall -------------------------------------------------------------------


@cache
def trend_of(side: str, since: int = 0, matrix_units: bool = False) -> trend.Trend:
    """Least squares over the data-centre GPUs of the database."""
    found = [
        d
        for d in trend.family("hbm", since)
        if not (matrix_units and d.key in WITHOUT_MATRIX_UNITS)
    ]
    return getattr(roofline.memory_wall(found), side)


def fitted(end: str, label: str, side: str = "ridge", **which: Any) -> Quantity:
    """One end of a fitted growth: ``growth``, ``low`` or ``high``."""
    return stamp(counted(trend_of, side, label=label, take=end, **which), "trend")


def growths(end: str, suffix: str, words: str) -> dict[str, tuple[Quantity, str]]:
    """That end of the three trends, by the name it is said under."""
    over = "over all data-centre GPUs of the database"
    whats = {side: words.format(name) for side, name in SIDES.items()}
    return {
        side + suffix: (fitted(end, what, side), f"{what}, {over}")
        for side, what in whats.items()
    }


def devices() -> Quantity:
    """Data-centre GPUs in the database with a bandwidth and a dense fp16 rate."""
    return counted(len, trend_of("compute").keys, label="devices")


@cache
def grown(old: str, launch: bool = False) -> generations.Growth:
    bandwidth = launch_bandwidth() if launch else None
    return generations.growth(old, B200, bandwidth=bandwidth)


def launch_bandwidth() -> Quantity:
    """Memory bandwidth of B200 as it was announced at launch."""
    spec = hardware.get(B200).memory_bandwidth
    announced = quoted("b200_launch.memory_bandwidth")
    if announced.tags != spec.tags:
        raise UnitError(f"{announced!r} and {spec!r} are on different bases")
    return announced
