"""Section 4.2: Which traffic disappears when kernels are fused?"""

from __future__ import annotations

import math
from functools import cache

from stacklib import hardware, models
from stacklib.kernels.launch import recompute
from stacklib.kernels.launch.fuse import KERNELS, RULES, Fusion, fuse
from stacklib.kernels.launch.launches import launch_time, replay_time
from stacklib.kernels.launch.op_graph import OpGraph
from stacklib.pages.kernels import launches
from stacklib.pages.kernels.fusion import graphs
from stacklib.quantity import Quantity, bytes_per_element, chosen, counted, counting
from stacklib.quantity.constants import case
from stacklib.roofline import decode_step
from stacklib.roofline.work.moving import memory_time

MODEL, DEVICE, PROMPT = "llama-3-70b", "h100_sxm", case("context")
ALONE = 3  # kernels of a layer before and after: attention, and two all-reduces
KEPT = 16  # bytes that a layer of the chain keeps, for each byte of its input


# -- the layer, fused ------------------------------------------------------------------


@cache
def parts(tokens: int, fused: bool) -> dict[str, Fusion]:
    """Each part of a layer as kernels: every operation one, or as few as there can be.

    Products are a library's: nothing joins them from another part.
    """
    rules = graphs.LIBRARY if fused else ()
    made = graphs.layer(tokens, joined=fused)
    return {name: fuse(graph, rules) for name, graph in made.items()}


@counting(lambda fused: f"kernels of a layer, {('fused' if fused else 'one by one')}")
def per_layer(*, fused: bool) -> int:
    """Kernels of a layer."""
    return ALONE + sum(part.launches for part in parts(1, fused).values())


def layers() -> Quantity:
    """Layers of the model."""
    return models.get(MODEL).size("layers", "layers")


def kernels(*, fused: bool = True) -> Quantity:
    """Kernels of a step."""
    return (per_layer(fused=fused) * layers()).named("kernels of a step")


@counting(
    lambda tokens, fused, part: (
        f"bytes, {part or 'layer'}, {tokens} tokens, {('' if fused else 'not ')}fused"
    ),
    unit="B",
)
def moved(tokens: int, *, fused: bool, part: str = "") -> int:
    """Bytes of a layer, or of one of its parts, without attention."""
    found = parts(tokens, fused)
    return sum(f.fused_bytes for name, f in found.items() if part in ("", name))


def saved(tokens: int) -> Quantity:
    """Share of a layer's bytes that fusing saves."""
    left = moved(tokens, fused=True) / moved(tokens, fused=False)
    return (1 - left).named(f"share saved, {tokens} tokens")


def reading(part: Quantity) -> Quantity:
    """Time in which an H100 moves so many bytes."""
    return memory_time(part, DEVICE).named(f"time of {part.label}")


def prompt_time(*, fused: bool) -> Quantity:
    """Time of the bytes of a prompt, all layers."""
    one = reading(moved(PROMPT, fused=fused)) * layers()
    return one.named(f"prompt, {'fused' if fused else 'one by one'}").to("ms")


def between() -> tuple[str, ...]:
    """Parts of a layer that multiply no matrix: what lies between its products."""
    made = graphs.layer(1, joined=True)
    return tuple(n for n, g in made.items() if all(o.kind != "matmul" for o in g.ops))


def between_time(*, fused: bool) -> Quantity:
    """Time of the bytes of a prompt that lie between its products, all layers."""
    parts = [moved(PROMPT, fused=fused, part=part) for part in between()]
    whole = sum(parts[1:], parts[0]).named("bytes between the products of a layer")
    words = f"between products, {'fused' if fused else 'one by one'}"
    return (reading(whole) * layers()).named(words).to("ms")


# -- the step --------------------------------------------------------------------------


def before() -> Quantity:
    """The step of section 4.1, as one graph."""
    return _graph(kernels(fused=False), "replayed, not fused")


def step() -> Quantity:
    """The step with fused kernels, as one graph."""
    return _graph(kernels(), "replayed, fused")


def _graph(count: Quantity, label: str) -> Quantity:
    read = decode_step(MODEL, on=DEVICE, tp=8, context=PROMPT).time
    told: Quantity = replay_time(
        count,
        read / count,
        replay_s=launches.cost("replay", "low"),
        node_s=launches.cost("node", "low"),
    )
    return told.named(label)


def eager() -> Quantity:
    """The fused kernels submitted one by one by an eager framework."""
    read = decode_step(MODEL, on=DEVICE, tp=8, context=PROMPT).time
    told: Quantity = launch_time(
        kernels(), read / kernels(), submit_s=launches.cost("eager", "low")
    )
    return told.named("one by one, fused")


def blog_reading() -> Quantity:
    """What section 4.1's compiled model has to read on its A100, as a time."""
    return decode_step("llama-2-7b", on="a100-sxm-80gb", tp=1, context=0).time


def blog_step() -> Quantity:
    """Its step predicted: what is read, and a node for each fused kernel."""
    there = launches.blog_layers()
    nodes = (per_layer(fused=True) - 2) * there  # on one GPU nothing is reduced
    return (blog_reading() + nodes * launches.cost("node", "low")).named(
        "compiled, predicted"
    )


def blog_measured() -> Quantity:
    """Its step as published."""
    return launches.blog_step("compiled")


# -- a chain, line by line -------------------------------------------------------------


def row() -> Quantity:
    """Bytes of a tensor of the norm in BF16, for a whole prompt."""
    numbers = chosen(PROMPT, label="tokens") * models.get(MODEL).size(
        "hidden", "hidden size"
    )
    return (numbers * bytes_per_element("bf16")).named("a tensor of the norm")


def norm_arithmetic() -> Quantity:
    """Time of the norm's arithmetic for a prompt: an operation a number each."""
    time = norm_operations(PROMPT) / hardware.get(DEVICE).peak("fp32").across(1)
    return time.named("arithmetic of the norm").to("µs")


@counting("arithmetic of the norm", unit="FLOP")
def norm_operations(tokens: int) -> int:
    """One for each number that an operation of the norm reads."""
    graph = graphs.norm(tokens)
    return sum(
        max(math.prod(graph.of(name).shape) for name in op.inputs) for op in graph.ops
    )


# -- the rules on other graphs ---------------------------------------------------------


def fused_attention(*, online: bool) -> Fusion:
    """A prompt's attention, without and with online softmax."""
    return fuse(graphs.attention(PROMPT, PROMPT), RULES if online else KERNELS)


def attention(what: str, *, online: bool) -> Quantity:
    """Kernels or bytes of it."""
    take, unit = ("launches", "") if what == "kernels" else ("fused_bytes", "B")
    label = f"attention, {what}, {'online' if online else 'rows'}"
    return counted(fused_attention, online=online, take=take, unit=unit, label=label)


@cache
def small_graph(name: str) -> OpGraph:
    """A small graph of the room, which can be run."""
    from stacklib.kernels.launch import fuse_graphs as of

    if name == "layernorm":
        return of.layernorm_graph(64, 128)
    if name == "attention":
        return of.attention_graph(tokens=32, head_dim=16, hidden=64)
    return of.experts_graph(
        tokens=32, hidden=16, inner=24, experts=4, top=2, capacity=32
    )


@counting(
    lambda name, rules: f"{name} run, {', '.join(rules) or 'one by one'}", unit="B"
)
def ran(name: str, rules: tuple[str, ...] = RULES) -> int:
    """The same with its derivation."""
    import numpy as np

    from stacklib.kernels.launch.fuse_run import execute

    graph, rng = small_graph(name), np.random.default_rng(4)
    made = {op.output for op in graph.ops}
    given = {
        tensor: rng.standard_normal(graph.of(tensor).shape)
        for tensor in graph.tensors
        if tensor not in made
    }
    return execute(graph, fuse(graph, rules), given).moved


def fused_graph(name: str, rules: tuple[str, ...] = RULES) -> Fusion:
    """A small graph as kernels."""
    return fuse(small_graph(name), rules)


def told(name: str, what: str, rules: tuple[str, ...] = RULES) -> Quantity:
    """Bytes or launches of a small graph by its shapes alone."""
    unit = "B" if what.endswith("bytes") else ""
    label = f"{name}, {what}, {', '.join(rules) or 'one by one'}"
    return counted(fused_graph, name, rules, take=what, unit=unit, label=label)


# -- compute again ---------------------------------------------------------------------


@cache
def chain() -> tuple[recompute.Layer, ...]:
    """The model's layers for a prompt, each keeping ``KEPT`` times its input."""
    size = row().si
    return (recompute.Layer(size, KEPT * size, 1.0),) * models.get(MODEL).layers


@cache
def plan(method: str) -> recompute.CheckpointPlan:
    """A plan for that chain."""
    return recompute.checkpoint_plan(chain(), method=method)


@counting("activations, {method}", unit="B", shown="GB")
def memory(method: str) -> float:
    """Activations at its peak, walked with a ledger."""
    return recompute.run_plan(chain(), plan(method)).peak


@counting("work again, {method}")
def again(method: str) -> float:
    """FLOPs run again, as a share of a step's."""
    return plan(method).overhead


@counting("layers of a segment, {kept} inputs kept")
def root(kept: int = 1) -> float:
    """Layers of a segment by the square root, each keeping so many inputs."""
    return math.sqrt(models.get(MODEL).layers / kept)


@counting("activations, segments of {length}", unit="B", shown="GB")
def by_segments(length: int) -> float:
    """Activations at the peak with segments of so many layers, in closed form."""
    return (math.ceil(models.get(MODEL).layers / length) + KEPT * length) * row().si


@counting("tiny model, {method}, predicted", unit="B", shown="MB")
def tiny_foretold(method: str) -> float:
    """Activations of the tiny model's step, by ``tinylm.plan`` cut into layers."""
    from .tiny_torch import planned

    return planned(method).memory


@counting("tiny model, {method}, kept by torch", unit="B", shown="MB")
@cache
def tiny_kept(method: str) -> float:
    """The same as torch's autograd keeps it, run by the plan."""
    from .tiny_torch import kept

    return kept(method)
