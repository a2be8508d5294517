"""Section 6.14: Where does a pipeline wait?"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from stacklib import models
from stacklib.interconnect.parallelism.split import told
from stacklib.interconnect.pipelines.closed import bubble, in_flight, paced
from stacklib.interconnect.pipelines.order import pipeline
from stacklib.interconnect.pipelines.run import Deadlock, PipelineRun, run_pipeline
from stacklib.kernels.launch.launches import replay_time
from stacklib.pages.figures_of import measured
from stacklib.pages.kernels import journey
from stacklib.pages.kernels.launches import claims
from stacklib.plots.live.parts import stand
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    counting,
    one_of,
)
from stacklib.roofline import decode_step
from stacklib.roofline.work.moving import link_time

MODEL, DEVICE, LINK = "llama-3-70b", "h100_sxm", "nvlink4"
STAGES, MICROBATCHES, CHUNKS = 8, 32, 2
CACHED = SEQUENCE = journey.PROMPT
SEND = 0.1  # of a forward
# schedule and chunks by the name in a table
SCHEDULES = {
    "GPipe": ("gpipe", 1),
    "1F1B": ("1f1b", 1),
    "1F1B, chunks": ("1f1b", CHUNKS),
    "ZB-H1": ("zb-h1", 1),
    "ZB-H2": ("zb-h2", 1),
}
LARGE, DEEP = "llama-3.1-405b", 16  # and the stages that it was trained in
SLOW = 1.3  # of the last stage over the others, with the output matrix in it
PLAIN, CHUNKED = "F-0025", "F-0027"  # torchtitan's rows


# -- a token ---------------------------------------------------------------------------


def stages() -> Quantity:
    """GPUs, one behind the other."""
    return stand(__name__, "stages", STAGES).named("stages")


def layers() -> Quantity:
    """Layers of a stage."""
    return (models.get(MODEL).size("layers", "layers") / stages()).named(
        "layers of a stage"
    )


def stage() -> Quantity:
    """Time in which a stage reads its layers for a token: an eighth of the model."""
    return journey.reading(DEVICE).named("reading of a stage")


def vector() -> Quantity:
    """Bytes that a stage sends to the next for a token."""
    wide = models.get(MODEL).size("hidden", "hidden size")
    return (wide * bytes_per_element("bf16")).named("bytes from stage to stage")


def hop() -> Quantity:
    """Time of that by its bytes, one direction of NVLink."""
    return link_time(vector(), LINK).named("from stage to stage").to("ns")


def sends() -> Quantity:
    """Times that a token goes from a stage to the next."""
    return (stages() - chosen(1, label="the first")).named("sends of a token")


def starts() -> Quantity:
    """What kernels and graphs of all stages take to start: a graph a stage."""
    nodes = journey.kernels(journey.FASTEST) * claims.cost("node", "low")
    whole = nodes + stages() * claims.cost("replay", "low")
    return whole.named("starting kernels, all stages").to("us")


def token() -> Quantity:
    """Time of a token through all stages, one after another."""
    whole = stages() * stage() + starts() + sends() * hop()
    return whole.named("a token, stage after stage").to("ms")


def split() -> Quantity:
    """The same token where each layer is split over all GPUs, exchanges left out."""
    count = journey.kernels(journey.FASTEST)
    each = stage() / count
    told: Quantity = replay_time(
        count,
        each,
        replay_s=claims.cost("replay", "low"),
        node_s=claims.cost("node", "low"),
    )
    return told.named("a token, layers split").to("ms")


def per_second(time: Quantity, tokens: Quantity) -> Quantity:
    """Tokens a second."""
    return (tokens * one_of("s", "a second") / time).named(f"tokens of {time.label}")


def in_turn() -> Quantity:
    """Tokens a second of one conversation in the pipeline."""
    return per_second(token(), one_of("", "a token"))


def filled() -> Quantity:
    """The same of as many conversations as stages, each stage always at work."""
    return per_second(token(), stages())


def together() -> Quantity:
    """Tokens a second of as many conversations, one batch, layers split."""
    step = decode_step(MODEL, on=DEVICE, tp=STAGES, context=CACHED, batch=STAGES)
    return per_second(step.time.named("a batch, layers split"), stages())


# -- a training step -------------------------------------------------------------------


@cache
def run(name: str, send: float = 0.0) -> PipelineRun:
    """A schedule run; forward, and both parts of a backward, take one each."""
    schedule, chunks = SCHEDULES[name]
    made = pipeline(STAGES, MICROBATCHES, schedule, chunks)
    return run_pipeline(made, send=send)


@counting("bubble counted, {name}, send {send}")
def waits(name: str, send: float = 0.0) -> float:
    """Waiting over work, counted from the run."""
    found = run(name, send)
    wait = found.inner_bubble if name == "ZB-H2" else found.bubble
    return round(wait, 9)


def microbatches() -> Quantity:
    """Of a step."""
    return chosen(MICROBATCHES, label="microbatches")


def closed(name: str) -> Quantity:
    """Waiting over work, in closed form."""
    schedule, chunks = SCHEDULES[name]
    told: Quantity = bubble(
        stages(), microbatches(), schedule, chosen(chunks, label="chunks of a stage")
    )
    return told.named(f"bubble, {name}")


@counting("microbatches held, {name}")
def held(name: str) -> float:
    """Microbatches whose activations the fullest stage holds."""
    return max(run(name).held)


def held_closed(name: str) -> float:
    """The same in closed form."""
    schedule, chunks = SCHEDULES[name]
    return float(in_flight(STAGES, MICROBATCHES, schedule, chunks))


def kept() -> Quantity:
    """Bytes that a stage keeps of a microbatch: the input of each of its layers."""
    tokens = chosen(SEQUENCE, label="tokens of a microbatch")
    return (layers() * tokens * vector()).named("kept of a microbatch").to("MB")


def memory(name: str) -> Quantity:
    """Bytes of that at the most."""
    return (held(name) * kept()).named(f"kept, {name}").to("GB")


def rows() -> list[dict[str, Any]]:
    """Schedules: waiting two ways, microbatches held, and their bytes."""
    return [
        {
            "schedule": name,
            "formula": closed(name),
            "counted": waits(name),
            "held": held(name),
            "memory": memory(name),
        }
        for name in SCHEDULES
    ]


def idle() -> Quantity:
    """Share of a step in which a stage waits, 1F1B."""
    wait = closed("1F1B")
    return (wait / (1 + wait)).named("share of a step, 1F1B")


# -- stages that differ ----------------------------------------------------------------


def slow() -> Quantity:
    """What the last stage takes, of the others."""
    return chosen(SLOW, label="last stage over the others")


def others() -> Quantity:
    """The other stages."""
    return (stages() - chosen(1, label="the last")).named("other stages")


def rounds(last: Quantity) -> Quantity:
    """A step, in times of a microbatch on one of the other stages."""
    found: Quantity = paced(last, others() + last, microbatches())
    return found.named("step in microbatches")


def alike() -> Quantity:
    """The same of stages that are alike."""
    return rounds(chosen(1, label="a stage like the others"))


@counting("layers of {which} stage")
def dealt(which: str) -> float:
    """Layers of a stage of the largest Llama: embedding and loss count as one each."""
    split = told(models.get(LARGE).layers, DEEP, embedding=True, loss=True)
    return float(
        {"the first": split[0], "an inner": split[1], "the last": split[-1]}[which]
    )


def dual() -> Quantity:
    """DualPipe's waiting over work."""
    found: Quantity = bubble(stages(), microbatches(), "dualpipe")
    return found.named("bubble, DualPipe")


# -- beside a measured gain ------------------------------------------------------------


@counting("gain of chunks, {rounds} microbatches")
def gain(rounds: int = STAGES, chunks: int = CHUNKS) -> float:
    """What chunks gain in a step of so many microbatches."""
    plain, cut = bubble(STAGES, rounds), bubble(STAGES, rounds, interleave=chunks)
    return (1 + plain) / (1 + cut)


def rate(id: str) -> Quantity:
    """Tokens a second and GPU, as published."""
    return measured(id)


def seen() -> Quantity:
    """The gain that was measured."""
    return (rate(CHUNKED) / rate(PLAIN)).named("gain of chunks, published")


def bubble_then() -> Quantity:
    """The bubble of that run without chunks, by the program's defaults."""
    return bubble(stages(), stages()).named("bubble, as many microbatches as stages")


@counting("gain of finer microbatches")
def finer() -> float:
    """What more microbatches would gain there instead."""
    return (1 + bubble(STAGES, STAGES)) / (1 + bubble(STAGES, MICROBATCHES))


def slower() -> Quantity:
    """A token through stages over one whose layers are split."""
    return (token() / split()).named("stages over split layers")


def wrong_order() -> str:
    """What a run says where the last stage wants its first backward too early."""
    made = pipeline(3, 3)
    last = made.orders[2]
    turned = (last[1], last[0], *last[2:])
    try:
        run_pipeline(replace(made, orders=(*made.orders[:2], turned)))
    except Deadlock as found:
        return str(found)
    raise AssertionError("no deadlock")
