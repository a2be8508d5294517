"""One training step of a model on some chips: time, memory, bytes, bubble, MFU.

The slowest stage sets the pace of every microbatch; filling and draining the pipeline
costs a bubble of (p - 1) / v of them. Tensor, context and expert parallelism wait in
each layer; data parallelism waits for what the last backward does not cover, ZeRO 3 for
what its layers do not. The optimizer reads and writes each of its numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.interconnect.pipelines.closed import bubble as idle
from stacklib.models.language_model import LanguageModel
from stacklib.quantity import maximum, resolve, where
from stacklib.quantity.bounds import whole

from .exchange import Sent
from .layer import ATTENTION, head_time
from .layout import Layout, hold
from .memory import Memory, held, memory_of
from .rates import Device, device_of, rates_of
from .shape import Shape, shape_of
from .waits import all_layers, between_stages, data_waits, stage_layers

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
    bubble: Any  # idle time of a stage over its useful time
    compute: Any  # seconds of a chip's kernels
    exposed: Any  # seconds that it waits for exchanges
    update: Any  # seconds of the optimizer
    mfu: Any  # the model's operations over what the chips could do in that time
    flops: float  # of the model, one step
    refused: str = ""

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
        batch: it is named. In arrays such a layout's time is infinite.
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
    shape = shape_of(model, length)
    if type(batch) is not int and getattr(batch, "shape", ()) == ():
        whole(batch=batch)
    bad = hold(layout, shape, chips, batch, length)
    device = device_of(on, dtype, port, domain, traced)
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
    memory = memory_of(shape, layout, batch=batch, length=length, scores=scores)
    forward, backward, waits, sent = all_layers(
        shape, device, rates, layout, tokens, length, scores
    )
    # Layers of the fullest stage; they may not divide where a caller knows better.
    stage = stage_layers(shape.layers, layout)
    part = stage / shape.layers
    mine = held(shape, layout)
    added = _ADDED * mine.total * device.byte / rates.moving
    work = (forward + backward) * part + added
    wait = waits * part
    passed, passing = between_stages(shape, device, layout, tokens)
    last = head_time(shape, layout, tokens, rates)
    slow = work + wait + passing + last
    mean = work + wait + passing
    filling = idle(layout.pp, maximum(many, 1.0), "1f1b", layout.interleave)
    moving = many * slow + filling * many * mean
    data, exposed = data_waits(
        shape, device, layout, many, backward * part, (forward + backward) * part
    )
    cut = where(layout.zero >= 1, layout.dp * layout.cp, 1)
    update = ADAM_MOVES * mine.total / cut * device.byte / rates.moving
    time = moving + exposed + update
    tensor, context, expert = (s * part * many for s in sent)
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
        Sent(tensor, context, expert, passed * many, data),
        filling,
        many * (work + last),
        many * (wait + passing) + exposed,
        update,
        mfu,
        flops,
        refused,
    )


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
