"""One training step of a model on some chips: time, memory, bytes, bubble, MFU.

A stage is a list of layers, the first with the embedding, the last with the head. The
slowest sets the pace of every microbatch; filling and draining the pipeline passes the
others once, in pieces a v-th of them. Tensor, context and expert parallelism wait in
each layer; data parallelism waits for what the last backward does not cover, ZeRO 3 for
what its layers do not. The optimizer reads and writes each of its numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.hardware.errors import ErrorBand
from stacklib.interconnect.pipelines.closed import bubble as idle
from stacklib.interconnect.pipelines.closed import paced
from stacklib.models.language_model import LanguageModel
from stacklib.quantity import maximum, resolve, where
from stacklib.quantity.bounds import whole

from .exchange import Sent
from .layer import ATTENTION, head_time
from .layout import Layout, hold
from .memory import Held, Memory, held, kept, memory_of
from .rates import Device, device_of, rates_of, reached
from .shape import Numbers, Shape, shape_of
from .split import Stage, splits
from .waits import Layer, between_stages, data_waits, layers_of

# Bytes a parameter that mixed-precision Adam moves: scaling back 8, norm 4, clipping 8,
# the update 28, the 16-bit copy 6, zeroing 4.
ADAM_MOVES = 58
_ADDED = 8  # bytes a parameter that a microbatch adds its gradients with


@dataclass(frozen=True, slots=True)
class Step:
    """One training step."""

    time: Any  # seconds; None where it does not fit (of an array: infinite)
    memory: Memory
    capacity: Any
    sent: Sent  # bytes of one chip, one direction
    bubble: Any  # waiting over work, of all stages
    compute: Any  # seconds of a chip's kernels
    exposed: Any  # seconds that it waits for exchanges
    update: Any  # seconds of the optimizer
    mfu: Any  # the model's operations over what the chips could do in that time
    flops: float  # of the model, one step
    refused: str = ""
    split: tuple[int, ...] = ()  # layers of each part; of an array of layouts none
    slowest: Any = 0  # the stage that sets the pace
    cell: str = ""  # of published steps, whose band its time has

    @property
    def error(self) -> ErrorBand | None:
        """How far such predictions were from published steps; None of an array."""
        return hardware.error_band(self.cell) if self.cell else None

    @property
    def feasible(self) -> bool:
        """Whether it fits."""
        return not self.refused


def step_time(
    model: str | LanguageModel,
    *,
    on: str | Accelerator,
    chips: Any,
    layout: Layout,
    batch: Any,
    length: int = 4096,
    dtype: str = "bf16",
    attention: str = "flash",
    port: float | None = None,
    domain: int | None = None,
    traced: bool = False,
) -> Step:
    """Time, memory, bytes, bubble and MFU of one training step.

    Parameters
    ----------
    model : str or LanguageModel
        What is trained.
    on : str or Accelerator
        The device.
    chips : int or array
        How many; as many as the layout fills.
    layout : Layout
        How model and batch are cut. Its fields may be arrays.
    batch : int or array
        Sequences of a step, all chips together.
    length : int
        Tokens of a sequence.
    dtype : str
        Format of products; attention, head and sums keep 16 bits or more.
    attention : str
        ``flash``, or ``scores`` that are written, with dropout, as before it.
    port : float, optional
        Bytes a second of a chip's network port, one direction.
    domain : int, optional
        Chips that fast links join, other than the data sheet says.
    traced : bool
        Whether times are quantities that open to their formula.

    Returns
    -------
    Step
        ``.time`` is None where memory is too small; ``.refused`` then says the sum.

    Raises
    ------
    ValueError
        For a layout that does not divide chips, heads, layers, experts, tokens or
        batch: it is named. In arrays such a layout's time is infinite. For several
        chips of a device between which no link is known, and no port told.
    UnknownName
        For a model, device or format that is not known.

    Examples
    --------
    >>> asked = {"on": "h100-sxm", "chips": 64, "batch": 512}
    >>> layout = Layout(dp=8, tp=8, sequence=True, zero=1)
    >>> step_time("llama-3-70b", layout=layout, **asked).feasible
    True
    >>> alone = step_time("llama-3-70b", layout=Layout(dp=64), **asked)
    >>> alone.time is None, alone.refused.split(":")[0]
    (True, 'does not fit')
    """
    resolve(attention, ATTENTION, "attention")
    shape = shape_of(model, length, layout.later)
    if type(batch) is not int and getattr(batch, "shape", ()) == ():
        whole(batch=batch)
        batch = int(batch)
    elif type(batch) is not int:
        batch = batch * 1.0  # so that no count of sequences runs over
    bad = hold(layout, shape, chips, batch, length)
    device = device_of(on, dtype, port, domain, traced)
    reached(device, chips)
    found = evaluate(
        shape, device, layout, batch, length, attention == "scores", traced
    )
    return found if bad is False else _without(found, bad)


def _without(step: Step, bad: Any) -> Step:
    infinite = float("inf")
    return replace(
        step, time=where(bad, infinite, step.time), mfu=where(bad, 0.0, step.mfu)
    )


def evaluate(
    shape: Shape,
    device: Device,
    layout: Layout,
    batch: Any,
    length: int,
    scores: bool,
    traced: bool = False,
    limit: bool = True,
    share: Any = 1.0,
    tuned: bool = True,
    graph: bool = False,
) -> Step:
    """``step_time`` once sizes and sheet are read and the layout divides.

    - ``limit``: whether what does not fit has no time.
    - ``share``, ``tuned``, ``graph``: as ``rates_of`` takes them.
    """
    rates = rates_of(device, traced, share, tuned, graph)
    tokens = layout.micro * length / layout.cp
    many = batch / (layout.dp * layout.micro)
    layers = layers_of(shape, device, rates, layout, tokens, length, scores, many)
    adding = _ADDED * device.byte / rates.moving
    last = head_time(shape, layout, tokens, rates) * (1 + layout.later)
    table = shape.table / layout.tp * adding
    costs = tuple(
        _plain(_cost(one, own, layout, adding))
        for one, own in zip(layers, shape.own, strict=True)
    )
    split, stages = splits(
        shape.pattern, layout, costs, _plain(last + table), _plain(table)
    )
    memory = memory_of(
        shape,
        layout,
        stages,
        batch=batch,
        length=length,
        scores=scores,
        width=device.width,
    )
    passed, passing = between_stages(shape, device, layout, tokens)
    paces = [
        _pace(shape, layout, stage, layers, adding, last, passing) for stage in stages
    ]
    slow, most = paces[0], paces[0].held
    total: Any = 0.0 * device.second
    for stage, pace in zip(stages, paces, strict=True):
        total = total + stage.many * pace.time
        slow = _of_larger(pace.time > slow.time, pace, slow)
        most = _of_larger(pace.held.total > most.total, pace.held, most)
    moving, filling = _pipelined(layout, maximum(many, 1.0), many, slow, total, paces)
    data, exposed = data_waits(
        device,
        layout,
        most,
        slow.layers,
        many,
        slow.backward,
        slow.forward + slow.backward,
    )
    update = ADAM_MOVES * kept(most, layout, 1) * device.byte / rates.moving
    time = moving + exposed + update
    flops = 6.0 * (shape.macs + shape.pair_macs) * length * batch
    mfu = flops / layout.chips * device.operation / (time * device.plain.peak)
    refused = ""
    if limit:
        over = memory.total > _plain(device.memory)
        if getattr(over, "shape", ()) != ():
            time = where(over, float("inf"), time)
        elif over:
            time, mfu, refused = None, None, _says(memory, device)
    return Step(
        time,
        memory,
        device.memory,
        Sent(
            slow.tensor * many,
            slow.context * many,
            slow.expert * many,
            passed * many,
            data,
        ),
        filling,
        many * (slow.time - slow.wait),
        many * slow.wait + exposed,
        update,
        mfu,
        flops,
        refused,
        split,
        slow.stage,
        _cell(device.plain.tiled, layout.chips, layout.cp, tuned) if split else "",
    )


def regime(device: Device, chips: int, cp: int = 1, tuned: bool = True) -> list[str]:
    """What published steps a step is like: software, links, chips, long contexts."""
    return _cell(device.plain.tiled, chips, cp, tuned).split("/")[2:]


@lru_cache(maxsize=1024)
def _cell(tiled: bool, chips: int, cp: int, tuned: bool) -> str:
    many = next((f"to {n} chips" for n in (8, 512) if chips <= n), "more chips")
    words = ["tuned" if tuned else "library", "switched" if tiled else "torus", many]
    return "/".join(["F", "speed", *words] + ["shared context"] * (cp > 1))


@dataclass(frozen=True, slots=True)
class Pace:
    """What a chip of a stage spends on a microbatch."""

    time: Any  # seconds, waits in them
    forward: Any
    backward: Any
    weights: Any
    wait: Any
    tensor: Any  # bytes sent
    context: Any
    expert: Any
    layers: Any
    held: Held
    stage: Any


def _pace(
    shape: Shape,
    layout: Layout,
    stage: Stage,
    layers: list[Layer],
    adding: Any,
    last: Any,
    passing: Any,
) -> Pace:
    """A stage is its layers, and the head where it has it.

    Of ranks in pairs each half of the microbatches passes one of two parts.
    """
    half = 0.5 if layout.schedule == "dualpipe" else 1.0
    mine = held(shape, layout, stage)
    head = half * stage.head * last / 3  # forward has one product, backward two
    sums = Layer(head, 2 * head, head, passing, 0.0, 0.0, 0.0)
    number: Any = 0.0
    for count, layer in zip(stage.layers, layers, strict=True):
        number = number + count
        share = half * count
        sums = Layer(*[s + share * x for s, x in zip(sums, layer, strict=True)])
    time = sums.forward + sums.backward + sums.wait + half * mine.total * adding
    return Pace(time, *sums, number, mine, stage.place)


def _cost(layer: Layer, own: Numbers, layout: Layout, adding: Any) -> Any:
    """Seconds of a layer, by which layers are spread over stages."""
    held = own.dense / layout.tp + own.whole + own.routed / (layout.inner * layout.ep)
    return layer.forward + layer.backward + layer.wait + held * adding


def _of_larger(more: Any, one: Any, other: Any) -> Any:
    """One record where it is more, else the other; of arrays element by element."""
    if not hasattr(more, "shape"):
        return one if bool(more) else other
    found = {}
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, Held):
            found[field.name] = _of_larger(more, a, b)
        else:  # what no layout of the array has stays a plain zero
            found[field.name] = (
                a if type(a) is type(b) is float and a == b else where(more, a, b)
            )
    return type(one)(**found)


def _pipelined(
    layout: Layout, rounds: Any, many: Any, slow: Pace, total: Any, paces: list[Pace]
) -> tuple[Any, Any]:
    """Seconds of all microbatches, and the mean stage's waiting over its work."""
    if layout.schedule in ("1f1b", "gpipe"):
        moving = paced(slow.time, total, many, layout.interleave)
    else:
        rest = slow.time - slow.forward - slow.weights
        # In an array also of those that such a schedule cannot run: they are refused.
        least = {"zb-h1": layout.pp, "zb-h2": 2 * layout.pp - 1}
        paired = layout.schedule == "dualpipe"
        filling = idle(
            layout.pp + layout.pp % 2 * paired,
            maximum(rounds, least.get(layout.schedule, 2 * layout.pp)),
            layout.schedule,
            forward=slow.forward,
            inputs=rest,
            weights=slow.weights,
        )
        moving = many * slow.time * (1 + filling)
    return moving, layout.pp * moving / (many * total) - 1


def _plain(value: Any) -> Any:
    return getattr(value, "si", value)


def _says(memory: Memory, device: Device) -> str:
    parts = ("weights", "gradients", "optimizer", "activations")
    said = " + ".join(f"{name} {getattr(memory, name) / 1e9:.1f}" for name in parts)
    have = _plain(device.memory) / 1e9
    return (
        f"does not fit: {said} = {memory.total / 1e9:.1f} GB > {have:.1f} GB "
        f"on {device.name}"
    )
