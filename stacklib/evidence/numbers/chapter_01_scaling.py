"""Numbers of chapter 1, what a faster part buys: Amdahl's law."""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import models, roofline
from stacklib.quantity import Quantity, Source
from stacklib.roofline.bound import scaling
from stacklib.roofline.bound.decode_parts import decode_parts as parts_of_step

from .. import ledger as claims
from .. import runs
from .registry import number

READ = "2026-11-21"
SERVING: dict[str, Any] = {"dtype": "bf16", "tp": 8, "batch": 64, "context": 8192}
MODEL, DEVICE = "llama-3-70b", "h100-sxm"


# -- a layer made faster, as document 002 reports it --------------------------------


def _reported(value: float, unit: str, label: str) -> Quantity:
    """A figure of the post that document 002 repeats."""
    source = Source(
        claims.get("cursor-fwd-ms").document, "on the MoE layer", READ, "secondary"
    )
    return Quantity(value, unit, label=label, source=source, kind="claimed")


@number("scaling.forward_before", unit="ms", digits=4, evidence="claimed")
def forward_before() -> Quantity:
    """Time of the layer's forward pass before it was rewritten, as reported."""
    return _reported(25.96, "ms", "forward, before")


@number("scaling.forward_after", unit="ms", evidence="claimed")
def forward_after() -> Quantity:
    """Time of the layer's forward pass afterwards, as reported."""
    return _reported(9.45, "ms", "forward, after")


@number("scaling.backward_before", unit="ms", digits=4, evidence="claimed")
def backward_before() -> Quantity:
    """Time of the layer's backward pass before it was rewritten, as reported."""
    return _reported(59.17, "ms", "backward, before")


@number("scaling.backward_after", unit="ms", digits=4, evidence="claimed")
def backward_after() -> Quantity:
    """Time of the layer's backward pass afterwards, as reported."""
    return _reported(17.04, "ms", "backward, after")


@number("scaling.layer_before", unit="ms", digits=3)
def layer_before() -> Quantity:
    """Both passes of the layer before it was rewritten."""
    return (forward_before() + backward_before()).named("layer, before")


@number("scaling.layer_after", unit="ms", digits=3)
def layer_after() -> Quantity:
    """Both passes of the layer afterwards."""
    return (forward_after() + backward_after()).named("layer, after")


@number("scaling.layer_gain")
def layer_gain() -> Quantity:
    """How many times faster the layer became, both passes together."""
    return (layer_before() / layer_after()).named("gain of the layer")


@number("scaling.whole_claimed", evidence="claimed")
def whole_claimed() -> Quantity:
    """How many times faster the whole training step became, as reported."""
    return claims.get("cursor-e2e-1p5x").quantity()


@number("scaling.layer_share", unit="%", digits=2)
def layer_share() -> Quantity:
    """Share of the step the layer must have taken, by Amdahl's law."""
    return scaling.share_from_speed_up(layer_gain(), whole_claimed())


@number("scaling.forward_share", unit="%", evidence="claimed")
def forward_share() -> Quantity:
    """Share of the forward pass that the layer took, as the post reports it."""
    return _reported(53, "%", "share of the forward pass")


@number("scaling.backward_share", unit="%", evidence="claimed")
def backward_share() -> Quantity:
    """Share of the backward pass that the layer took, as the post reports it."""
    return _reported(27, "%", "share of the backward pass")


def _plain(share: Quantity) -> Quantity:
    """A percentage as a plain number: sums of products print as such."""
    return share.to("1")


@number("scaling.assumed_share", unit="%", digits=2)
def assumed_share() -> Quantity:
    """Share of the step from those two, a backward pass taking twice a forward one."""
    twice = Quantity(2, label="backward over forward", kind="assumption")
    forward, backward = _plain(forward_share()), _plain(backward_share())
    both = (forward + twice * backward) / (1 + twice)
    return both.named("share of the step")


@number("scaling.assumed_whole")
def assumed_whole() -> Quantity:
    """Speed-up of the step which that share and the layer's gain give."""
    return scaling.speed_up_of_part(assumed_share(), layer_gain())


@number("scaling.timed_share", unit="%", digits=2)
def timed_share() -> Quantity:
    """Share of the step from the reported times and shares of the two passes."""
    forward = forward_before() / _plain(forward_share())
    backward = backward_before() / _plain(backward_share())
    return (layer_before() / (forward + backward)).named("share of the step")


@number("scaling.timed_whole")
def timed_whole() -> Quantity:
    """Speed-up of the step which that share and the layer's gain give."""
    return scaling.speed_up_of_part(timed_share(), layer_gain())


@number("scaling.layer_limit", digits=2)
def layer_limit() -> Quantity:
    """Speed-up of the step if a layer of the computed share took no time at all."""
    return scaling.amdahl_limit(1 - layer_share())


# -- workers ------------------------------------------------------------------------


def _suppose(value: float, label: str) -> Quantity:
    return Quantity(value, label=label, kind="assumption")


@number("scaling.tenth", unit="%")
def tenth() -> Quantity:
    """The serial share of the example."""
    return _suppose(0.1, "serial share")


@number("scaling.eight")
def eight() -> Quantity:
    """Speed-up of eight workers on work that is serial to that share."""
    return scaling.amdahl(tenth(), _suppose(8, "workers"))


@number("scaling.thousand")
def thousand() -> Quantity:
    """Speed-up of 1,024 workers on the same work."""
    return scaling.amdahl(tenth(), _suppose(1024, "workers"))


@number("scaling.limit")
def limit() -> Quantity:
    """Speed-up of the same work that no number of workers reaches."""
    return scaling.amdahl_limit(tenth())


@number("scaling.grown")
def grown() -> Quantity:
    """Work that 1,024 workers do in the same time, if only the parallel part grows."""
    return scaling.gustafson(tenth(), _suppose(1024, "workers"))


# -- measured on this machine ---------------------------------------------------------


@cache
def _cases() -> dict[str, runs.Run]:
    return {run.id: run for run in runs.load("amdahl")}


def _case(id: str) -> runs.Run:
    return _cases().get(id) or runs.get("amdahl", id)


def _measured_gain(one: str, two: str) -> Quantity:
    return _case(one).measured / _case(two).measured


@number("scaling.quarter", unit="%", evidence="predicted")
def quarter() -> Quantity:
    """Serial share of one of the cases that ran."""
    case = _case("serial-12-w1").case
    return _suppose(case["serial"] / (case["serial"] + sum(case["parallel"])), "share")


@number("scaling.host_none_told", evidence="predicted")
def host_none_told() -> Quantity:
    """Predicted speed-up of two cores on work without a serial part."""
    return _case("serial-0-w1").predicted / _case("serial-0-w2").predicted


@number("scaling.host_none", evidence="measured")
def host_none() -> Quantity:
    """Measured speed-up of two cores on work without a serial part."""
    return _measured_gain("serial-0-w1", "serial-0-w2")


@number("scaling.host_quarter_told", evidence="predicted")
def host_quarter_told() -> Quantity:
    """Predicted speed-up of two cores on work that is serial to a quarter."""
    return _case("serial-12-w1").predicted / _case("serial-12-w2").predicted


@number("scaling.host_quarter", evidence="measured")
def host_quarter() -> Quantity:
    """Measured speed-up of two cores on work that is serial to a quarter."""
    return _measured_gain("serial-12-w1", "serial-12-w2")


@number("scaling.host_none_serial", unit="%", digits=2, evidence="measured")
def host_none_serial() -> Quantity:
    """Serial share that would explain that speed-up of work without a serial part."""
    return scaling.karp_flatt(host_none(), _suppose(2, "cores"))


@number("scaling.host_quarter_serial", unit="%", digits=2, evidence="measured")
def host_quarter_serial() -> Quantity:
    """Serial share that would explain the speed-up of work serial to a quarter."""
    return scaling.karp_flatt(host_quarter(), _suppose(2, "cores"))


@number("scaling.host_three", evidence="measured")
def host_three() -> Quantity:
    """Measured speed-up of two cores on three equal pieces."""
    return _measured_gain("serial-0-w1", "pieces-3-w2")


@number("scaling.host_order", unit="%", digits=2, evidence="measured")
def host_order() -> Quantity:
    """Measured time of the long piece handed out last, over that handed out first."""
    ratio = _case("long-last-w2").measured / _case("long-first-w2").measured
    return ratio - 1


@number("scaling.host_grown", evidence="predicted")
def host_grown() -> Quantity:
    """Work of two cores over that of one, in the case where the work grows."""
    return _case("scaled-12-w2").operations / _case("serial-12-w1").operations


@number("scaling.host_grown_time", unit="%", digits=2, evidence="measured")
def host_grown_time() -> Quantity:
    """What the grown work adds to the time that one core took for its own."""
    ratio = _case("scaled-12-w2").measured / _case("serial-12-w1").measured
    return ratio - 1


@number("scaling.host_error", unit="%", digits=2, evidence="measured")
def host_error() -> Quantity:
    """Median error of all predicted times."""
    return runs.median_error(runs.load("amdahl"))


@number("scaling.host_one_core", unit="%", digits=2, evidence="measured")
def host_one_core() -> Quantity:
    """By how much one core alone exceeded its predicted time."""
    run = _case("serial-48-w1")
    return run.measured / run.predicted - 1


# -- a decode step as parts ------------------------------------------------------------


@cache
def parts() -> dict[str, Quantity]:
    """The crowded step: Llama-3-70B on eight H100s."""
    return parts_of_step(MODEL, DEVICE, **SERVING)


@number("scaling.context", digits=4)
def context() -> Quantity:
    """Tokens cached in each sequence of the crowded step."""
    return _suppose(float(SERVING["context"]), "tokens cached")


@number("scaling.weights", unit="ms", family="E_decode")
def weights() -> Quantity:
    """Time the crowded step reads weights."""
    return parts()["weights"]


@number("scaling.cache", unit="ms", family="E_decode")
def cache_time() -> Quantity:
    """Time the crowded step reads caches."""
    return parts()["cache"]


@number("scaling.cache_share", unit="%", digits=2, family="E_decode")
def cache_share() -> Quantity:
    """Share of the crowded step that is reading caches."""
    return parts()["cache"] / (parts()["weights"] + parts()["cache"])


def _gain(weights: float, cache: float) -> Quantity:
    gains = [_suppose(weights, "gain of weights"), _suppose(cache, "gain of cache")]
    return scaling.speed_up_of_parts(list(parts().values()), gains)


@number("scaling.weights_4bit", family="E_decode")
def weights_4bit() -> Quantity:
    """Speed-up of the crowded step with weights of four bits in place of sixteen."""
    return _gain(4, 1)


@number("scaling.cache_8bit", family="E_decode")
def cache_8bit() -> Quantity:
    """Speed-up of the crowded step with a cache of eight bits in place of sixteen."""
    return _gain(1, 2)


@number("scaling.weights_free", family="E_decode")
def weights_free() -> Quantity:
    """Speed-up of the crowded step if its weights took no time at all."""
    return scaling.amdahl_limit(cache_share())


@number("scaling.crowded_bound", unit="%", digits=2, family="E_decode")
def crowded_busy() -> Quantity:
    """Share of the crowded step in which the arithmetic has work."""
    return roofline.decode_step(models.get(MODEL), on=DEVICE, **SERVING).busy
