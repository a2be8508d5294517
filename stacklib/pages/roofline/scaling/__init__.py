"""Setup of section 1.6 What does a faster part buy?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import hardware, roofline
from stacklib.evidence import ledger as claims
from stacklib.evidence import runs
from stacklib.quantity import Quantity, Source, UnitError
from stacklib.roofline.bound import generations, scaling, trend
from stacklib.roofline.bound.decode_parts import decode_parts as parts_of_step

READ = "2026-11-21"


SERVING: dict[str, Any] = {"dtype": "bf16", "tp": 8, "batch": 64, "context": 8192}


MODEL, DEVICE = "llama-3-70b", "h100-sxm"


def reported(value: float, unit: str, label: str) -> Quantity:
    """A figure of the post that document 002 repeats."""
    source = Source(
        claims.get("cursor-fwd-ms").document, "on the MoE layer", READ, "secondary"
    )
    return Quantity(value, unit, label=label, source=source, kind="claimed")


def forward_before() -> Quantity:
    """Time of the layer's forward pass before it was rewritten, as reported."""
    return reported(25.96, "ms", "forward, before")


def forward_after() -> Quantity:
    """Time of the layer's forward pass afterwards, as reported."""
    return reported(9.45, "ms", "forward, after")


def backward_before() -> Quantity:
    """Time of the layer's backward pass before it was rewritten, as reported."""
    return reported(59.17, "ms", "backward, before")


def backward_after() -> Quantity:
    """Time of the layer's backward pass afterwards, as reported."""
    return reported(17.04, "ms", "backward, after")


def layer_before() -> Quantity:
    """Both passes of the layer before it was rewritten."""
    return (forward_before() + backward_before()).named("layer, before")


def layer_after() -> Quantity:
    """Both passes of the layer afterwards."""
    return (forward_after() + backward_after()).named("layer, after")


def layer_gain() -> Quantity:
    """How many times faster the layer became, both passes together."""
    return (layer_before() / layer_after()).named("gain of the layer")


def whole_claimed() -> Quantity:
    """How many times faster the whole training step became, as reported."""
    return claims.get("cursor-e2e-1p5x").quantity()


def layer_share() -> Quantity:
    """Share of the step the layer must have taken, by Amdahl's law."""
    return scaling.share_from_speed_up(layer_gain(), whole_claimed())


def forward_share() -> Quantity:
    """Share of the forward pass that the layer took, as the post reports it."""
    return reported(53, "%", "share of the forward pass")


def backward_share() -> Quantity:
    """Share of the backward pass that the layer took, as the post reports it."""
    return reported(27, "%", "share of the backward pass")


def plain(share: Quantity) -> Quantity:
    """A percentage as a plain number: sums of products print as such."""
    return share.to("1")


def assumed_share() -> Quantity:
    """Share of the step from those two, a backward pass taking twice a forward one."""
    twice = Quantity(2, label="backward over forward", kind="assumption")
    forward, backward = plain(forward_share()), plain(backward_share())
    both = (forward + twice * backward) / (1 + twice)
    return both.named("share of the step")


def timed_share() -> Quantity:
    """Share of the step from the reported times and shares of the two passes."""
    forward = forward_before() / plain(forward_share())
    backward = backward_before() / plain(backward_share())
    return (layer_before() / (forward + backward)).named("share of the step")


def suppose(value: float, label: str) -> Quantity:
    return Quantity(value, label=label, kind="assumption")


def tenth() -> Quantity:
    """The serial share of the example."""
    return suppose(0.1, "serial share")


@cache
def cases() -> dict[str, runs.Run]:
    return {run.id: run for run in runs.load("amdahl")}


def case(id: str) -> runs.Run:
    return cases().get(id) or runs.get("amdahl", id)


def measured_gain(one: str, two: str) -> Quantity:
    return case(one).measured / case(two).measured


def quarter() -> Quantity:
    """Serial share of one of the cases that ran."""
    case = case("serial-12-w1").case
    return suppose(case["serial"] / (case["serial"] + sum(case["parallel"])), "share")


def host_none() -> Quantity:
    """Measured speed-up of two cores on work without a serial part."""
    return measured_gain("serial-0-w1", "serial-0-w2")


def host_quarter() -> Quantity:
    """Measured speed-up of two cores on work that is serial to a quarter."""
    return measured_gain("serial-12-w1", "serial-12-w2")


def host_order() -> Quantity:
    """Measured time of the long piece handed out last, over that handed out first."""
    ratio = case("long-last-w2").measured / case("long-first-w2").measured
    return ratio - 1


def host_grown_time() -> Quantity:
    """What the grown work adds to the time that one core took for its own."""
    ratio = case("scaled-12-w2").measured / case("serial-12-w1").measured
    return ratio - 1


def host_one_core() -> Quantity:
    """By how much one core alone exceeded its predicted time."""
    run = case("serial-48-w1")
    return run.measured / run.predicted - 1


@cache
def parts() -> dict[str, Quantity]:
    """The crowded step: Llama-3-70B on eight H100s."""
    return parts_of_step(MODEL, DEVICE, **SERVING)


def weights() -> Quantity:
    """Time the crowded step reads weights."""
    return parts()["weights"]


def cache_share() -> Quantity:
    """Share of the crowded step that is reading caches."""
    return parts()["cache"] / (parts()["weights"] + parts()["cache"])


def gain(weights: float, cache: float) -> Quantity:
    gains = [suppose(weights, "gain of weights"), suppose(cache, "gain of cache")]
    return scaling.speed_up_of_parts(list(parts().values()), gains)


READ = "2026-11-21"


A100_40, A100_80, B200 = "a100-sxm-40gb", "a100-sxm-80gb", "b200-sxm"


WITHOUT_MATRIX_UNITS = ("p100_sxm2", "mi50_32gb", "mi60")


@cache
def wall() -> trend.MemoryWall:
    """The three trends over every data-centre GPU of the database."""
    return roofline.memory_wall()


SIDES = {
    "compute": "dense fp16 peak",
    "bandwidth": "memory bandwidth",
    "ridge": "ridge point",
}


ENDS = {
    "growth": ("", "Growth of the {} in two years"),
    "low": ("_low", "Low end of the 95 % interval of the growth of the {}"),
    "high": ("_high", "High end of the 95 % interval of the growth of the {}"),
}


def register(side: str, end: str) -> None:
    suffix, words = ENDS[end]
    what = words.format(SIDES[side])

    def compute() -> Quantity:
        line: trend.Trend = getattr(wall(), side)
        return fitted(line, end, what)

    compute.__doc__ = f"{what}, over all data-centre GPUs of the database."
    number(f"wall.{side}{suffix}")(compute)


def fitted(line: trend.Trend, end: str, label: str) -> Quantity:
    """One end of a fitted growth; its source is the database it was fitted to."""
    where = f"least squares over {len(line.keys)} devices"
    source = Source("the spec database of this book", where, READ, "secondary")
    return Quantity(getattr(line, end), label=label, source=source, kind="computed")


def wall_devices() -> Quantity:
    """Data-centre GPUs in the database with a bandwidth and a dense fp16 rate."""
    where = "data-centre GPUs with a bandwidth and a dense fp16 rate"
    source = Source("the spec database of this book", where, READ, "secondary")
    found = len(wall().compute.keys)
    return Quantity(found, label="devices", source=source, kind="spec")


@cache
def since_2020() -> trend.Trend:
    return roofline.memory_wall(trend.family("hbm", 2020)).ridge


@cache
def with_matrix_units() -> trend.Trend:
    found = [d for d in trend.family("hbm") if d.key not in WITHOUT_MATRIX_UNITS]
    return roofline.memory_wall(found).ridge


def claim(name: str, id: str) -> None:
    claim = claims.get(id)

    def compute() -> Quantity:
        return claims.get(id).quantity()

    compute.__doc__ = f"As document {claim.source} says it: {claim.text}."
    number(f"claim.{name}", evidence="claimed")(compute)


@cache
def _grown(old: str, launch: bool = False) -> generations.Growth:
    return generations.growth(
        old, B200, bandwidth=launch_bandwidth() if launch else None
    )


def launch_bandwidth() -> Quantity:
    """Memory bandwidth of B200 as it was announced at launch."""
    spec = hardware.get(B200).memory_bandwidth
    said = Source(
        "NVIDIA, at the launch of B200; noted with the device in our database",
        "memory bandwidth", READ, "announced",
    )  # fmt: skip
    announced = Quantity(8, "TB/s per_chip", label="B200 bandwidth at launch",
                         source=said, kind="spec")  # fmt: skip
    if announced.tags != spec.tags:
        raise UnitError(f"{announced!r} and {spec!r} are on different bases")
    return announced
