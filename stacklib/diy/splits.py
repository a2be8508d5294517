"""Tokens a second of a machine's cards, by layers or by tensors.

By layers each card holds some layers and the cards take turns: memory adds up, the
speed of one sequence does not. So llama.cpp and ollama run. A prompt comes in pieces of
512 tokens; cards read side by side as far as one thread of the host starts kernels
ahead, which full queues stop (llama.cpp, #19042). By tensors every card holds a part of
each matrix and all work at once: memory and speed add up, and two all-reduces a layer
cross the slots. So vLLM runs. Either way each card has its own compute buffers.

The seconds are ``serving``'s steps: here stand the links of the machine in place of
those the device is sold with, and the limit of power.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from stacklib import hardware
from stacklib.gpu.chip.streams import fed_in_turn
from stacklib.hardware import Accelerator
from stacklib.hardware.errors import error_band
from stacklib.hardware.nvidia_smi import GIB
from stacklib.interconnect.selection.machine import Fabric
from stacklib.interconnect.selection.timed import collective_time
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity, quoted, resolve
from stacklib.quantity.bounds import whole
from stacklib.quantity.keys import Same, keys_of
from stacklib.roofline.work.fit import Infeasible
from stacklib.roofline.work.fit import split as divide
from stacklib.serving.estimates import asked as asking
from stacklib.serving.estimates import divided, losses, steady
from stacklib.serving.estimates.asked import SPLITS, Asked
from stacklib.serving.estimates.step import Step, step_of
from stacklib.serving.token import host
from stacklib.serving.token.runner import INT8
from stacklib.serving.token.shape import shape_of
from stacklib.serving.token.work import ACTIVATION, EXCHANGES, all_reduces

from .build import Build
from .cards import Cards, of_build
from .voltage import WORK, power

PIECE = 512  # tokens of a prompt that a card passes on: llama.cpp's ``n_ubatch``
COPIES = 4  # pieces on their way at most: ``GGML_SCHED_MAX_COPIES``
QUEUE = quoted("rig.queue").si  # layers whose kernels a card's queue holds
WIDER = 4  # times that, by llama.cpp since #19042
CONTEXT = quoted("rig.context").si  # bytes that the driver keeps on each card
EXCHANGE = quoted("rig.exchange").si  # seconds that an untold tree adds to each
FLOAT = 4  # bytes of an activation in ggml


@dataclass(frozen=True, slots=True)
class Slotted(Step):
    """A step of chips that share every matrix, over the links of a machine."""

    fabric: Fabric | None = None
    number: float = ACTIVATION  # bytes

    def _asked(self, line: str, batch: float) -> float:
        if line != EXCHANGES or self.fabric is None:
            return Step._asked(self, line, batch)
        model = self.frame.model
        size = batch * model.hidden * self.number
        once = collective_time("all_reduce", size, self.fabric)
        untold = 0.0 if self.fabric.link == "nvlink" else EXCHANGE
        return all_reduces(model) * (float(once.time) + untold)


@dataclass(frozen=True, slots=True)
class Speed:
    """What cards do with a model.

    - ``decode``: tokens a second of all sequences; ``prompt``: tokens read a second
    - ``links``: share of a decode step in which tokens cross from card to card
    - ``need``, ``have``: bytes on the fullest card, and what it can hold
    - ``low``, ``high``: the band around ``decode`` that nine in ten published runs of
      its kind kept; equal to it where there is none
    """

    model: str
    split: str
    cards: int
    decode: float
    prompt: float
    links: float
    need: float
    have: float
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{self.decode:.3g} tokens/s ({self.low:.3g} to {self.high:.3g}), a prompt "
            f"at {self.prompt:,.0f} tokens/s"
        )


def named(model: str | LanguageModel) -> tuple[str | LanguageModel, Any]:
    """A model and the format of its weights, from ``name:format``."""
    if not isinstance(model, str):
        return model, None
    name, colon, kept = model.partition(":")
    if not name or (colon and not kept):
        raise ValueError(f"{model!r}: write a model and its format, llama-3-70b:q4_k_m")
    return name, kept or None


def cards_of(machine: Any) -> Cards:
    """Cards of a build, of a device or its name, or of anything with ``cards``."""
    machine = hardware.get(machine) if isinstance(machine, str) else machine
    if isinstance(machine, Accelerator):
        return Cards((machine,))
    if isinstance(machine, Build):
        return of_build(machine)
    found: Cards = machine if isinstance(machine, Cards) else machine.cards
    return found


def speed(
    build: Any,
    model: str | LanguageModel,
    *,
    split: str = "layers",
    batch: int = 1,
    context: int = 4096,
    dtype: Any = None,
) -> Speed:
    """Tokens a second of a model on the cards of a machine.

    Parameters
    ----------
    build : Build, Cards or str
        The machine, or the name of one card in a slot of its own width.
    model : str or LanguageModel
        A name, and behind a colon the format of its weights: ``llama-3-70b:q4_k_m``.
    split : str
        ``"layers"``: each card holds some layers, as llama.cpp has it; ``"tensors"``:
        each holds a part of every matrix, as vLLM has it. One card does either.
    batch, context : int
        Sequences, and tokens cached in each; a prompt has as many tokens.
    dtype : str, optional
        The format of the weights, where the model's name does not say it.

    Returns
    -------
    Speed

    Raises
    ------
    Infeasible
        Where a card does not hold its part, with the sum.
    UnknownName, UnknownSpec
        For a name or a figure that is not known.
    ValueError
        For a split that the model does not take: heads that do not divide, unlike
        cards by tensors.

    Examples
    --------
    >>> from stacklib.diy.cards import Cards
    >>> two, model = Cards((hardware.get("rtx-5090"),) * 2), "llama-3-70b:q4_k_m"
    >>> speed(two, model, split="tensors").decode > speed(two, model).decode
    True
    """
    cards, kept = cards_of(build), dtype or named(model)[1]
    made = decoding(cards, model, split, batch, context, kept)
    left = {work: _limited(cards, work) for work in WORK}
    rate = batch / made.seconds * left["decode"]
    read = context / prompt_time(cards, made.steps, made.given, float(context))
    kind = split if len(cards.devices) > 1 else "one card"
    band = error_band(f"J/decode/{kind}")
    low, high = (band.low, band.high) if band and band.low else (1.0, 1.0)
    return Speed(
        str(model) if isinstance(model, str) else model.key,
        split if len(cards.devices) > 1 else "layers",  # all of them
        len(cards.devices),
        rate,
        read * left["prompt"],
        made.crossing / made.seconds,
        made.need,
        made.have,
        rate / high,
        rate / low,
    )


class Decoding(NamedTuple):
    """A decode step of cards that nothing limits.

    - ``seconds``: of the step; ``crossing``: those in which cards exchange
    - ``need``, ``have``: bytes on the fullest card, and what it can hold
    """

    given: Asked
    steps: list[Step]
    seconds: float
    crossing: float
    need: float
    have: float


def decoding(
    cards: Cards, model: Any, split: str, batch: int, context: int, kept: Any = None
) -> Decoding:
    """A step by a split, with weights in ``kept`` or in the format that a name says.

    - raises as ``speed``
    """
    resolve(split, SPLITS, "split", exact=True)
    whole(batch=batch, context=context)
    name, told = named(model)
    asked = float(batch), float(context)
    given = _asked(cards, name, kept or told, split, *asked)
    steps, need, have = steps_of(cards, given)
    return Decoding(given, steps, *decode_time(cards, steps, given, *asked), need, have)


def _asked(
    cards: Cards, model: Any, dtype: Any, split: str, batch: float, context: float
) -> Asked:
    """The question that ``serving`` is asked: checked there."""
    many, alike = len(cards.devices), cards.alike
    if many == 1:
        split = "tensors"
    if split == "tensors" and not alike:
        names = ", ".join(dict.fromkeys(one.short for one in cards.devices))
        raise ValueError(f"split = 'tensors': cards differ ({names}); split by layers")
    unlike = None if alike else cards.devices
    named = keys_of(model, cards.devices[0], dtype, None)
    how = many, 1, None, split, 0, "engine", "calibrated"
    return asking.asked(named, (batch, context, None, 1), 0.0, None, unlike, how)


def buffers(model: LanguageModel) -> float:
    """Bytes of the compute buffers that each card has: logits and a row of activations.

    llama.cpp prints 258.50 MiB for Llama-3-8B, and so does this.

    >>> from stacklib import models
    >>> f"{buffers(models.get('llama-3-8b')) / 2**20:.2f} MiB"
    '258.50 MiB'
    """
    return float(PIECE * FLOAT * (model.vocab + model.hidden))


def steps_of(cards: Cards, given: Asked) -> tuple[list[Step], float, float]:
    """The steps of all parts in a token's order; bytes of the fullest card, and room.

    - raises ``Infeasible`` where a card does not hold its part
    """
    fixed, found = buffers(host.named(given.model)), []
    fullest = 0.0, 1.0
    for part in divided.parts_of(given):
        held, _ = divided.need_of(given, part, given.context)
        if part.tp == 1 and part.model.vocab > 1:
            held -= _beside(given)
        have = GIB * part.device.memory_capacity.si - CONTEXT
        if held + fixed > have:
            raise Infeasible(
                f"{part.model.key}: {Quantity(held, 'B'):.4 GB} + "
                f"{Quantity(fixed, 'B'):.3 GB} of buffers > {Quantity(have, 'B'):.4 GB}"
                f" on {part.device.short}: does not fit"
            )
        fullest = max(fullest, (held + fixed, have), key=lambda pair: pair[0] / pair[1])
        keys = keys_of(part.model, part.device.key, given.dtype, given.kv_dtype)
        step = step_of((*keys, part.tp, 1), given.software, given.mode)
        found.append(_over(step, cards.fabric()) if part.tp > 1 else step)
    return found, *fullest


def _weights(given: Asked) -> float:
    shape = shape_of(host.named(given.model), given.dtype, given.kv_dtype)
    return float(shape.weights)


@lru_cache(maxsize=256)
def _share(model: Same) -> float:
    """An embedding's part of all weights, where it is not the output matrix as well."""
    found: LanguageModel = model.value
    own = 0 if found.tied else found.vocab * found.hidden
    return float(own / found.parameters.si)


def _beside(given: Asked) -> float:
    """Bytes of an embedding of its own, which a runner leaves with the host."""
    return _weights(given) * _share(Same(host.named(given.model)))


def _over(step: Step, links: Fabric) -> Step:
    """A step over the links of a machine."""
    same = {field.name: getattr(step, field.name) for field in fields(Step)}
    return Slotted(**(same | {"kept": {}, "link": links.rate}), fabric=links)


def decode_time(
    cards: Cards,
    steps: list[Step],
    given: Asked,
    batch: float,
    context: float,
    again: bool = False,
) -> tuple[float, float]:
    """Seconds of a decode step, and those of them in which cards exchange.

    - ``again``: by kernels of before 2025, which read the cache for each query head
    """
    seconds = 0.0
    for step in steps:
        seconds += float(step.time(batch, context)) + losses.seconds(step, batch)
        if again:
            seconds += losses.again(step, context)
        if step.frame.chips > 1:
            return seconds, float(step.line(EXCHANGES, batch))
    crossing = _crossing(cards, given, batch)
    return seconds + crossing, crossing


def prompt_time(
    cards: Cards,
    steps: list[Step],
    given: Asked,
    tokens: float,
    piece: int = PIECE,
    runner: str = "",
    queue: float = WIDER * QUEUE,
) -> float:
    """Seconds of a prompt: in one engine's passes, or in pieces from card to card.

    - ``runner``: by these kernels of a runner; today's by layers where not said
    - ``queue``: layers whose kernels a card's queue holds
    """
    together = steps[0].frame.chips > 1
    if together and not runner:
        return steady.prompt_time(steps[0], tokens)
    times = [steady.prompt_time(step, tokens, piece, runner or INT8) for step in steps]
    if together:
        return times[0]
    pieces = max(1, math.ceil(tokens / piece))
    ahead = [queue / step.frame.model.layers for step in steps]
    reading = fed_in_turn([t / pieces for t in times], pieces, ahead, COPIES)
    return reading + _crossing(cards, given, tokens)


def _crossing(cards: Cards, given: Asked, rows: float) -> float:
    """Seconds in which rows of activations cross from each card to the next."""
    size = rows * host.named(given.model).hidden * FLOAT
    return size * sum(1 / min(pair) for pair in pairwise(cards.slots))


def soonest(
    device: Accelerator, many: int, model: str, batch: int, context: int
) -> float:
    """Seconds of a step in slots at the least: cards take turns, or share all work.

    Where they share it, each exchange waits; what cannot be shared is no faster than
    one card. Infinite where the cards together do not hold the weights.
    """
    name, kept = named(model)
    given = _asked(Cards((device,)), name, kept, "layers", float(batch), float(context))
    held = _weights(given) - _beside(given)
    if held > many * GIB * device.memory_capacity.si:
        return math.inf
    step = step_of(given.keys, given.software, given.mode)
    pause = losses.pause(step.frame.model.layers)
    alone = float(step.time(float(batch), float(context)))
    try:
        divide(step.frame.model, many)
    except ValueError:
        return pause + alone
    exchanges = all_reduces(step.frame.model) * EXCHANGE if many > 1 else 0.0
    return pause + min(alone, alone / many + exchanges)


def _limited(cards: Cards, work: str) -> float:
    """Share of the speed that is left under the cards' limit, of the slowest."""
    if cards.limit is None:
        return 1.0
    kinds = {one.key: one for one in cards.devices}
    return min(power(one, cards.limit, work=work).speed for one in kinds.values())
