"""Section 4.1: What does it cost to start a kernel?"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacklib import hardware, models
from stacklib.evidence import results
from stacklib.gpu.chip.streams import Command, run_streams
from stacklib.kernels.launch import launches as made
from stacklib.kernels.launch.launches import launch_time, replay_time
from stacklib.pages import figures_of
from stacklib.pages.figures_of import claimed as claimed
from stacklib.pages.kernels.launches import claims
from stacklib.quantity import (
    Quantity,
    chosen,
    counted,
    counting,
    one_of,
    quoted,
    recorded,
)
from stacklib.roofline import decode_step
from stacklib.roofline.work.moving import memory_time

if TYPE_CHECKING:
    from .layer_torch import Kernel

MODEL, TP, CACHED = "llama-3-70b", 8, 4096
DEVICE, OTHER, BLOG = "h100_sxm", "b200_sxm", "llama-2-7b"
PARTS = {
    "norms, residuals": ("norm", "residual"),
    "q, k, v": ("q, k, v",),
    "rotation, cache": ("rotary", "cache"),
    "attention": ("attention",),
    "out": ("out",),
    "all-reduces": ("all-reduce",),
    "gate, up, down": ("gate, up", "down"),
    "activation": ("activation",),
}
SMALL = 100_000  # bytes: more than any kernel moves that reads no matrix and no cache


# -- the layer, counted ----------------------------------------------------------------


@cache
def layer(model: str = MODEL, chips: int = TP, cached: int = CACHED) -> list[Kernel]:
    """Kernels of a decoder layer, one device's shard, as torch's operators start them.

    Runs torch.
    """
    from .layer_torch import decode_layer

    found = models.get(model)
    block = found.kinds[0]
    return decode_layer(
        hidden=found.hidden,
        heads=found.heads // chips,
        kv_heads=max(1, found.kv_heads // chips),
        head_dim=found.head_dim,
        inner=block.mlp.intermediate // chips,
        cached=cached,
    )


def number(part: str = "", model: str = MODEL, chips: int = TP) -> int:
    """Kernels of a layer of a model, or of one part of it."""
    return sum(part in ("", k.part) for k in layer(model, chips))


def per_layer(part: str = "") -> Quantity:
    """The same as a quantity."""
    return counted(number, part, label=f"kernels of a layer {part}".strip())


@counting("bytes, {name}", unit="B")
def moved(name: str) -> int:
    """Bytes that the kernels of a row of ``PARTS`` read and write."""
    return sum(k.bytes for k in layer() if k.part in PARTS[name])


@counting("kernels, {name}")
def started(name: str) -> int:
    """Kernels of a row of ``PARTS``."""
    return sum(map(number, PARTS[name]))


@counting("largest product of a layer", unit="s", shown="µs")
def longest() -> float:
    """Time in which a device reads what the largest product reads."""
    return float(memory_time(max(k.bytes for k in layer()), DEVICE))


@counting("kernels of a layer that move little")
def small() -> int:
    """Kernels of a layer that move next to nothing."""
    return sum(k.bytes < SMALL for k in layer())


def layers() -> Quantity:
    """Layers of the model."""
    return models.get(MODEL).size("layers", "layers")


def kernels() -> Quantity:
    """Kernels of a step: those of all its layers."""
    return (per_layer() * layers()).named("kernels of a step")


# -- closed forms ----------------------------------------------------------------------


def cost(name: str, end: str) -> Quantity:
    """An end of a published cost."""
    return made.cost(name, end)


def reading(device: str = DEVICE) -> Quantity:
    """Time in which a device reads what a token needs."""
    return decode_step(MODEL, on=device, tp=TP, context=CACHED).time


def each(device: str = DEVICE) -> Quantity:
    """The same for one kernel, in the mean."""
    short = hardware.get(device).short
    return (reading(device) / kernels()).named(f"mean kernel, {short}")


def one_by_one(
    name: str = "eager", end: str = "low", *, device: str = DEVICE, every: int = 0
) -> Quantity:
    """Time of a step whose kernels are submitted one by one.

    ``every``: kernels between two barriers, where there is more than the last.
    """
    told: Quantity = launch_time(
        kernels(),
        each(device),
        submit_s=cost(name, end),
        every=chosen(every, label="kernels between barriers") if every else None,
    )
    short = hardware.get(device).short
    return told.named(f"one by one, {name}, {end} end, {short}")


def replayed(end: str = "low", *, device: str = DEVICE) -> Quantity:
    """Time of the same kernels as one graph."""
    told: Quantity = replay_time(
        kernels(),
        each(device),
        replay_s=cost("replay", "low"),
        node_s=cost("node", end),
    )
    return told.named(f"replayed, {end} end, {hardware.get(device).short}")


def busy(time: Quantity, device: str = DEVICE) -> Quantity:
    """Share of a step in which the device reads."""
    return (reading(device) / time).named(f"busy of {time.label}")


# -- event by event --------------------------------------------------------------------


def long_and_short(submit_s: Quantity) -> float:
    """Seconds of a step whose kernels take as long as their bytes, event by event."""
    commands = []
    for kernel in layer() * models.get(MODEL).layers:
        commands.append(Command(1, "host", submit_s.si, name="submit"))
        told = (len(commands) - 1,)
        taken = memory_time(kernel.bytes, DEVICE)
        commands.append(Command(0, "device", taken, told, name="kernel"))
    return run_streams(commands)[-1].end


def mixed(name: str, end: str = "low") -> Quantity:
    """The same with its derivation: long products between short kernels."""
    label = f"step of long and short kernels, {name}, {end} end"
    return counted(long_and_short, cost(name, end), unit="s", label=label).to("ms")


# -- others' measurements and ours -----------------------------------------------------


def tokens_a_second(way: str) -> Quantity:
    """Llama-7B on an A100, as PyTorch's blog has it: eager, or compiled as a graph."""
    return quoted(f"pytorch_blog.{way}")


def blog_step(way: str) -> Quantity:
    """Time of a token there."""
    second = one_of("s", "a second")
    return (second / tokens_a_second(way)).named(f"step, {way}, A100").to("ms")


def blog_kernels() -> Quantity:
    """Kernels of that model's step, of our own layer in its sizes."""
    of = counted(number, "", BLOG, 1, label="kernels of a layer of Llama-2-7B")
    return (of * blog_layers()).named("kernels of a step of Llama-2-7B")


def blog_layers() -> Quantity:
    """Its layers."""
    return models.get(BLOG).size("layers", "layers").named("layers of Llama-2-7B")


def blog_foretold() -> Quantity:
    """What an eager step of it is predicted to take: the host's time."""
    return (blog_kernels() * cost("eager", "low")).named("predicted, A100").to("ms")


@cache
def threads() -> dict[str, dict[str, Any]]:
    """Cases of the threads' run, each with what was predicted of it."""
    told = {row["id"]: row for row in results.prediction("launches")["rows"]}
    return {
        row["id"]: row | {"predicted_s": told[row["id"]]["predicted_s"]}
        for row in results.need("launches")["rows"]
    }


def measured(id: str) -> Quantity:
    """Median time of a case on this machine."""
    file, label = "benchmarks/results/launches.json", f"threads, {id}"
    return recorded(file, id, "times_s/median", unit="s", label=label)


def foretold(id: str) -> Quantity:
    """What was predicted of the case before."""
    value = threads()[id]["predicted_s"]
    return figures_of.foretold("launches", value, "s", f"predicted, {id}").to("ms")


def thread_gain() -> Quantity:
    """Short kernels one by one over the same as graphs, measured."""
    return (measured("eager-short") / measured("graph-short")).named("gain of a graph")


@counting("largest error of a prediction")
def farthest() -> float:
    """The largest error of the predictions for the threads, with its sign dropped."""
    ratios = (foretold(id).si / measured(id).si for id in threads())
    return max(abs(ratio - 1) for ratio in ratios)


def empty_gain(submit_end: str, node_end: str) -> Quantity:
    """Launches of empty kernels over the same in a graph, each an end of its range."""
    label = f"gain, launches {submit_end}, nodes {node_end}"
    return counted(claims.gain, submit_end, node_end, label=label)


# -- torch on this machine, by its own profiler ----------------------------------------


TRACE = "stacklib/pages/kernels/launches/decode_trace.json"
ENDS = ("ts", "dur")  # fields of an event: its start, and how long it took


@cache
def trace() -> dict[str, Any]:
    """The recorded step of a small layer."""
    return json.loads(Path(__file__).with_name(Path(TRACE).name).read_text("utf-8"))


def operator(*, watched: bool) -> Quantity:
    """Torch's time for an operator of it, with the profiler and without."""
    words = "with profiler" if watched else "without profiler"
    label = f"small layer, {words}"
    if watched:
        events = trace()["traceEvents"]
        at = max(range(len(events)), key=lambda n: events[n]["ts"] + events[n]["dur"])
        start, took = (
            recorded(TRACE, f"traceEvents/{at}", end, unit="us") for end in ENDS
        )
        step = (start + took).named(label)
    else:
        field = "us_without_profiler"
        step = recorded(TRACE, "otherData", field, unit="us", label=label)
    run = per_layer() - per_layer("all-reduce")  # on one device nothing is reduced
    return (step / run).named(f"an operator here, {words}").to("µs")
