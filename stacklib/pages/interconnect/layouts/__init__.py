"""Section 6.15: Which layout of a cluster trains fastest?"""

from __future__ import annotations

from functools import cache, partial
from itertools import pairwise
from typing import Any

from stacklib import hardware, models
from stacklib.evidence import measurements, results
from stacklib.evidence.calibrate import unseen
from stacklib.evidence.validate import Validation, quantile, validate
from stacklib.interconnect.parallelism.exchange import half_ring, ring_rate
from stacklib.interconnect.parallelism.layout import Layout
from stacklib.interconnect.parallelism.megatron import PAPER, ROWS
from stacklib.interconnect.parallelism.plan import Choice, plan, why
from stacklib.interconnect.parallelism.rates import device_of, hop
from stacklib.interconnect.parallelism.step import Step, step_time
from stacklib.pages.interconnect.sharding import SUMMED, all_each, each
from stacklib.quantity import (
    Quantity,
    chosen,
    constant,
    counted,
    counting,
    quoted,
    recorded,
    stamp,
)
from stacklib.quantity.constants import case
from stacklib.quantity.records import record_key
from stacklib.roofline.work.moving import moving_time

FILE = results.file("training_step")
MODEL, DEVICE, CHIPS, BATCH = "llama-3-70b", "h100_sxm", 64, 512
LENGTH = case("context")  # tokens of a training sequence
NAIVE, TENSOR, ZERO, PIPE = "naive", "tensor", "zero", "pipe"
SHARDED, BATCHED = "sharded", "batched"
LAYOUTS = {
    NAIVE: Layout(tp=64, sequence=True),
    TENSOR: Layout(dp=8, tp=8, sequence=True, zero=1),
    ZERO: Layout(dp=8, tp=8, sequence=True, zero=3),
    PIPE: Layout(tp=8, pp=8, sequence=True),
    SHARDED: Layout(dp=64, zero=3, recompute="full"),
    BATCHED: Layout(dp=64, zero=3, recompute="full", micro=4),
}
WORDS = {
    NAIVE: "tensor 64",
    TENSOR: "tensor 8, data 8",
    ZERO: "tensor 8, data 8, ZeRO 3",
    PIPE: "tensor 8, pipeline 8",
    SHARDED: "data 64, ZeRO 3",
    BATCHED: "the same, microbatches of 4",
}


@cache
def step(name: str) -> Step:
    """The step of a layout of the page."""
    return step_time(
        MODEL, on=DEVICE, chips=CHIPS, layout=LAYOUTS[name], batch=BATCH, length=LENGTH
    )


@cache
def ranking() -> list[Choice]:
    """The fastest layouts of all."""
    found = plan(MODEL, on=DEVICE, chips=CHIPS, batch=BATCH, length=LENGTH, best=400)
    LAYOUTS["best"], WORDS["best"] = found[0].layout, "best of all"
    return found


def part_of(name: str, part: str) -> float:
    """A part of a layout's step, by the names on the way to it."""
    ranking()
    found: Any = step(name)
    for word in part.split("."):
        found = getattr(found, word)
    return float(found)


def of(name: str, part: str, unit: str = "") -> Quantity:
    """A part of a layout's step: ``time``, ``memory.total``, ``sent.data``, ..."""
    band = "F" if unit == "s" else ""  # a step's time is what the family predicts
    label = f"{part}, {name}"
    return counted(part_of, name, part, unit=unit, label=label, family=band)


def chips() -> Quantity:
    """Chips."""
    return chosen(CHIPS, label="chips of a training step")


def size(name: str, words: str) -> Quantity:
    """A size of the model."""
    return models.get(MODEL).size(name, words)


def parameters() -> Quantity:
    """Parameters of the model."""
    return models.get(MODEL).parameters


@counting("microbatches, {name}")
def microbatches(name: str) -> float:
    """Microbatches of a step."""
    layout = LAYOUTS[name]
    return BATCH / layout.dp / layout.micro


def stored() -> dict[str, Any]:
    """The recorded comparison of training steps."""
    found = results.load("training_step")
    assert found is not None
    return found


# -- what is exchanged -----------------------------------------------------------------


@counting("hidden states of a microbatch", unit="B")
def array() -> float:
    """Bytes of one hidden state of a microbatch."""
    return 2.0 * LENGTH * models.get(MODEL).hidden


@counting("payload of a {what}", unit="B/s per_chip per_direction")
def rate(what: str) -> float:
    """Payload of a chip, one direction: ``link`` or ``port``, as NCCL gets it."""
    return float(getattr(device_of(DEVICE), what))


@counting(
    "payload in a ring of {ways}, {inner} apart", unit="B/s per_chip per_direction"
)
def ring(inner: int, ways: int) -> float:
    """Payload that a chip of a group's rings has."""
    return float(ring_rate(device_of(DEVICE), inner, ways))


@counting("half an all-reduce, {ways} chips", unit="s", family="D_large")
def half(ways: int) -> float:
    """Time of half an all-reduce of a layer."""
    return float(half_ring(device_of(DEVICE), 1, ways, array().si))


@counting("seconds of a ring's step, {where}", unit="s")
def pause(where: str) -> float:
    """What each step of a ring takes beside its bytes: ``near``, or ``far``."""
    return float(hop(device_of(DEVICE), where == "far"))


def both_ways() -> Quantity:
    """Halves of a layer's all-reduces: of attention and MLP, forward and backward."""
    each = chosen(2, label="all-reduces of a layer") * chosen(2, label="both passes")
    return (each * chosen(2, label="halves")).named("halves of a layer's all-reduces")


def gathers() -> Quantity:
    """Gathers of what its two products read, for their gradients."""
    return chosen(2, label="gathers of inputs")


def halves() -> Quantity:
    """Rings that a layer waits for."""
    return (both_ways() + gathers()).named("rings of a layer")


def operations() -> Quantity:
    """FLOP of a microbatch, each weight's: forward, again, and the backward's two."""
    tokens = chosen(LENGTH, label="tokens of a training sequence")
    return (parameters() * tokens * per_weight()).named("FLOP of a microbatch")


def per_weight() -> Quantity:
    """FLOP for each weight and token where every layer's forward is done again."""
    passes = chosen(4, label="forward, again, and the backward's two")
    return (passes * constant("multiply_add")).named("FLOP for each weight and token")


def pace() -> Quantity:
    """FLOP a second that all kernels of a microbatch come to together."""
    return (operations() / working()).named("rate of a microbatch's kernels")


def exchanged(name: str) -> Quantity:
    """Time of all of them in a step."""
    ways = LAYOUTS[name].tp
    layers = size("layers", "layers")
    found = microbatches(name) * layers * halves() * half(ways)
    return found.named(f"waiting for tensor parallelism, {name}")


def others() -> Quantity:
    """Share of the states that a chip does not hold itself."""
    one = chosen(1, label="all of the states")
    return (one - one / chips()).named("share that others hold")


def sent_bytes() -> Quantity:
    """Bytes a weight sends in a microbatch under ZeRO 3: gathered twice, scattered."""
    found = 2 * each("weight") + each(SUMMED)
    return found.named("bytes that a weight sends, ZeRO 3")


def gathering() -> Quantity:
    """Time in which ZeRO 3 gathers and scatters a microbatch's weights."""
    moved = parameters() * sent_bytes() * others()
    return moving_time(moved, ring(1, CHIPS)).named("gathering of a microbatch")


def working() -> Quantity:
    """Time in which a chip computes one microbatch, ZeRO 3."""
    found = of(SHARDED, "compute", "s") / microbatches(SHARDED)
    return found.named("computing of a microbatch, ZeRO 3")


def state() -> Quantity:
    """All states on one of the chips."""
    return (parameters() * all_each(SUMMED) / chips()).named(
        "states of a chip, all cut"
    )


def computed_more() -> Quantity:
    """Computing with every layer done again over computing without."""
    found = of(SHARDED, "compute", "s") / of("best", "compute", "s")
    return found.named("computing, ZeRO 3 over the best")


def faster() -> Quantity:
    """The naive step over the best."""
    return (of(NAIVE, "time", "s") / of("best", "time", "s")).named("naive over best")


def rows() -> list[dict[str, Any]]:
    """Layouts side by side."""
    ranking()
    return [
        {
            "layout": WORDS[name],
            "memory": of(name, "memory.total", "B"),
            "sent": of(name, "sent.total", "B"),
            "bubble": of(name, "bubble"),
            "computing": of(name, "compute", "s"),
            "waiting": of(name, "exposed", "s"),
            "step": of(name, "time", "s"),
            "MFU": of(name, "mfu"),
        }
        for name in LAYOUTS
    ]


def ranked(count: int = 6) -> list[dict[str, Any]]:
    """The best layout of each choice of tensor, pipeline and data, and why."""
    found: list[Choice] = []
    seen = set()
    for one in ranking():
        key = (one.layout.tp, one.layout.pp, one.layout.cp, one.layout.dp)
        if one.layout.cp == 1 and key not in seen:
            seen.add(key)
            found.append(one)
    return [
        {
            "layout": one.layout.text(),
            "step": ranked_time(one.layout),
            "memory": ranked_memory(one.layout),
            "before the next because": why(one.step, after.step),
        }
        for one, after in pairwise(found[: count + 1])
    ]


@counting("step, ranked", unit="s", family="F")
def ranked_time(layout: Layout) -> float:
    """Seconds of a step with one of the layouts that were ranked."""
    return next(c.step.time for c in ranking() if c.layout == layout)


@counting("memory, ranked", unit="B")
def ranked_memory(layout: Layout) -> float:
    """Bytes of a chip under it."""
    return next(c.step.memory.total for c in ranking() if c.layout == layout)


@counting("layouts timed")
def listed() -> int:
    """Layouts that divide, each with its ways to recompute."""
    return int(stored()["search"]["layouts"])


def plan_time() -> Quantity:
    """How long the ranking took, recorded."""
    label = "ranking of all layouts"
    return recorded(FILE, "plan", "times_s/least", unit="s", label=label)


# -- a layout as its authors ran it ----------------------------------------------------

LARGE, ON = "deepseek-v3", "h800_sxm"
OWN = Layout(
    *(128, 1, 16, 64), zero=1, schedule="dualpipe", recompute="selective"
)  # its report's, section 3.2


@cache
def own() -> Step:
    """A step of DeepSeek-V3 as its authors laid it out."""
    return step_time(
        LARGE,
        on=ON,
        chips=int(quoted("deepseek_v3.chips").si),
        layout=OWN,
        batch=int(quoted("deepseek_v3.batch").si),
        length=int(quoted("deepseek_v3.sequence").si),
        dtype="fp8",
    )


@counting("step of DeepSeek-V3", unit="s", family="F")
def own_time() -> float:
    """Seconds that it takes."""
    return float(own().time)


@counting("layers of {which} stage, DeepSeek-V3")
def own_layers(which: str) -> float:
    """Layers of its ``fullest`` or its ``last`` stage."""
    return float(max(own().split) if which == "the fullest" else own().split[-1])


def own_published() -> Quantity:
    """What its GPU hours come to for a step."""
    tokens = quoted("deepseek_v3.batch") * quoted("deepseek_v3.sequence")
    share = tokens / quoted("deepseek_v3.tokens")
    chips = quoted("deepseek_v3.chips")
    found = quoted("deepseek_v3.hours") * share / chips
    return found.named("published step of DeepSeek-V3").to("s")


# -- published steps -------------------------------------------------------------------


def steps() -> list[dict[str, Any]]:
    """The eight rows as they are stored."""
    return stored()["steps"]


def megatron_rows() -> list[dict[str, Any]]:
    """Published, predicted and calculon's."""
    found = []
    for place, told in enumerate(steps()):
        row, lean = ROWS[place // 2], place % 2 == 1
        read = partial(recorded, FILE, f"steps/{place}")
        name = row.name.removeprefix("gpt-").upper()
        label = f"step of {name}, {'lean' if lean else 'full'}"
        found.append(
            {
                "model": name,
                "computed again": "scores" if lean else "all",
                "chips": row.chips,
                "published": Quantity(
                    told["published_s"],
                    "s",
                    label=f"{label}, published",
                    source=PAPER,
                    kind="claimed",
                    key=record_key(FILE, f"steps/{place}", "published_s", "s"),
                ),
                "stacklib": stamp(read("predicted_s", unit="s", label=label), "F"),
                "calculon": read("calculon_s", unit="s", label=f"{label}, calculon"),
                "off": read("miss", label=f"{label}, off"),
                "calculon off": read("calculon_miss", label=f"{label}, calculon off"),
            }
        )
    return found


@counting("{what} miss of {who}")
def miss(who: str, what: str) -> float:
    """Mean or largest miss of the eight."""
    return float(stored()["errors"][who][what])


# -- family F --------------------------------------------------------------------------


@cache
def judged(by: str = "") -> Validation:
    """Published training runs; with ``by`` each by a fit that never saw its group."""
    report = validate(r for r in measurements.fitted() if r.family == "F")
    return unseen(report, by) if by else report


@counting("{share:.0%} of misses, new {by}")
def error(by: str, share: float) -> float:
    """A quantile of the misses, wall times of whole runs left out."""
    kept = (o for o in judged(by).predicted if o.row.metric != "gpu_hours")
    return quantile([abs(o.ratio - 1) for o in kept], share)


@counting("training rows, {what}")
def count(what: str) -> int:
    """How many rows there are, ``outcomes``, or are ``predicted``."""
    return len(getattr(judged(), what))


WORST = ("F-0175", "F-0159", "F-0160", "F-0013", "F-0035")


def worst() -> tuple[str, ...]:
    """The five rows furthest off, by a fit that never saw their source."""
    kept = [o for o in judged("source").predicted if o.row.metric != "gpu_hours"]
    kept.sort(key=lambda o: -abs(o.ratio - 1))
    return tuple(o.row.id for o in kept[:5])


@counting("predicted over measured, {id}")
def off(id: str) -> float:
    """Predicted over measured, for a row whose source the fit never saw."""
    return next(o.ratio for o in judged("source").outcomes if o.row.id == id)


def domain() -> Quantity:
    """Chips that NVLink joins."""
    return hardware.get(DEVICE).link_domain
