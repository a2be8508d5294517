"""Matrices at work: a weight that meets one token or many, a layer and its bytes."""

from __future__ import annotations

from stacklib import models
from stacklib.hardware import Accelerator, get
from stacklib.quantity import Quantity, bytes_per_element, chosen
from stacklib.roofline.work.bounds import bound_time, ridge
from stacklib.roofline.work.moving import memory_time
from stacklib.roofline.work.work import Work, matmul

from ..marks import Clip, Pipe
from ..nodes import Box, Node, Words
from ..parts import model as parts
from ..picture import Drawing, draw
from ..relate import below, flow, right_of
from ..words import Given, line

BF16 = "bf16"


def gemv_beside_gemm(
    on: str | Accelerator,
    model: str = "llama-3-70b",
    batch: int = 8,
    name: str = "gemv-gemm",
) -> Drawing:
    """One matrix and one token, beside the same matrix and ``batch`` tokens."""
    device, found = get(on) if isinstance(on, str) else on, models.get(model)
    tokens = chosen(batch, label="tokens")
    scene = below(
        flow(
            _product(device, found, "GEMV", 1, ["one token"]),
            _product(device, found, "GEMM", batch, [tokens, " tokens"]),
            even=False,
        ),
        Words([("the ridge of ", device, " is at ", ridge(device, BF16))]),
    )
    title = (
        "A weight that was fetched meets one token or many; fetching it takes the same "
        "time."
    )
    return draw(scene, name=name, title=title, devices=[device.key])


def _product(
    device: Accelerator,
    model: models.LanguageModel,
    kind: str,
    batch: int,
    words: list[Given],
) -> Box:
    wide, hidden = parts.matrix(model)
    work = matmul(m=batch, n=round(wide.si), k=round(hidden.si))
    row = frozenset({3 * 12 + 5})
    picture = right_of(
        parts.weights(lit=row),
        Words("×", grow=0),
        parts.tokens(batch, lit=frozenset(range(5 * batch, 6 * batch))),
        grow=0,
        gap=14,
    )
    told = [line(kind, ": ", *words, bold=True), (wide, " × ", hidden, " weights")]
    inside = below(picture, _account(device, work), gap=10)
    return Box(kind, told, inside, role="muted")


def _account(device: Accelerator, work: Work) -> Node:
    """Bytes, operations, and how long each takes of the longer."""
    peak, bandwidth = device.peak(BF16), device.memory_bandwidth
    moving = memory_time(work.bytes, device).to("µs").named("time to move the bytes")
    doing = (work.operations / peak).to("µs").named("time of the arithmetic")
    whole = bound_time(work.operations, work.bytes, peak, bandwidth)
    begin = chosen(0, "s", "begin")
    intensity = (work.operations / work.bytes).named("operations per byte")
    return below(
        Words([line(intensity, bold=True)]),
        Clip(
            "bytes",
            begin,
            moving,
            whole,
            [(work.bytes, ": ", moving)],
            role=parts.WEIGHT,
            grow=0,
        ),
        Clip(
            "arithmetic",
            begin,
            doing,
            whole,
            [(work.operations, ": ", doing)],
            role=parts.TOKEN,
            grow=0,
        ),
    )


def transformer_layer(
    on: str | Accelerator,
    model: str = "llama-3-70b",
    context: int = 4096,
    name: str = "layer-bytes",
) -> Drawing:
    """A decoder layer for one token: bytes in each box, and on each edge."""
    device, found = get(on) if isinstance(on, str) else on, models.get(model)
    edges = _edges(found)
    full = max(edges.values(), key=lambda q: q.si)
    boxes = _boxes(found, context)

    def edge(start: str, end: str, what: str) -> Pipe:
        return Pipe(
            start,
            end,
            edges[what],
            full,
            (f"{what} ", edges[what]),
            down=(True, True),
            role=parts.TOKEN,
            least=30.0,
        )

    attention = below(
        boxes["query, key, value"],
        edge("query, key, value", "attention", "q, k, v"),
        boxes["attention"],
        edge("attention", "output", "heads"),
        boxes["output"],
        gap=0,
    )
    mlp = below(
        boxes["gate and up"],
        edge("gate and up", "SiLU", "gate, up"),
        boxes["SiLU"],
        edge("SiLU", "down", "inner"),
        boxes["down"],
        gap=0,
    )
    scene = flow(
        Box("attention half", line("attention", bold=True), attention, role="muted"),
        Pipe(
            "output",
            "gate and up",
            edges["hidden"],
            full,
            ["hidden", edges["hidden"]],
            role=parts.TOKEN,
        ),
        Box("MLP half", line("MLP", bold=True), mlp, role="muted"),
        gap=0,
    )
    title = (
        f"For one token a layer of {found.name} moves kilobytes along its edges and "
        "megabytes of weights into its boxes."
    )
    return draw(scene, name=name, title=title, devices=[device.key])


def _edges(model: models.LanguageModel) -> dict[str, Quantity]:
    """Bytes of one token between the boxes."""
    element = bytes_per_element(BF16)
    heads, kv = _heads(model)
    inner = model.size("intermediate", "MLP size")
    made = {
        "q, k, v": heads + kv * chosen(2, label="keys and values"),
        "heads": heads,
        "gate, up": inner * chosen(2, label="gate and up"),
        "inner": inner,
        "hidden": model.size("hidden", "hidden size"),
    }
    return {
        n: (q * element).to("B").named(f"{n} of one token") for n, q in made.items()
    }


def _heads(model: models.LanguageModel) -> tuple[Quantity, Quantity]:
    """Elements of all query heads, and of all key heads."""
    each = model.size("head_dim", "head size")
    return (model.size("heads", "query heads") * each).named("elements of all heads"), (
        model.size("kv_heads", "KV heads") * each
    ).named("elements of all key heads")


def _boxes(model: models.LanguageModel, context: int) -> dict[str, Box]:
    element, hidden = bytes_per_element(BF16), model.size("hidden", "hidden size")
    heads, kv = _heads(model)
    pair, inner = (
        chosen(2, label="two matrices"),
        model.size("intermediate", "MLP size"),
    )
    held = chosen(context, label="tokens cached")
    sizes = {
        "query, key, value": hidden * (heads + pair * kv),
        "attention": pair * kv * held,
        "output": heads * hidden,
        "gate and up": pair * hidden * inner,
        "down": inner * hidden,
    }
    found = {}
    for name, elements in sizes.items():
        size = (elements * element).to("B").named(f"{model.name} {name}, bytes")
        told = (size, " of cache") if name == "attention" else (size, " of weights")
        role = parts.TOKEN if name == "attention" else parts.WEIGHT
        found[name] = Box(name, [line(name, bold=True), told], role=role)
    found["SiLU"] = Box(
        "SiLU", [line("SiLU, product", bold=True), "no weights"], role=parts.TOKEN
    )
    return found
