"""One model on unlike chips, in stages, or with layers left in the host's memory.

- Stages: chips hold some layers each and take turns; a token passes all of them, and a
  row of activations crosses a link between two. The sum of all stages is the step.
- Unlike chips that share every matrix: each holds a part as large as its part of the
  whole bandwidth, so that all read as long; the slowest of them is the step.
- Layers in the host's memory: their weights cross the host link in every pass and are
  multiplied on the chip. Computing them on the host instead is not modelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity, chosen
from stacklib.quantity.keys import Same
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.fit import Infeasible, split

from ..token import host
from ..token.account import account
from ..token.lines import BYTES, Line
from ..token.shape import shape_of
from ..token.work import ACTIVATION, EXCHANGES
from .asked import Asked

HOST_LAYERS = "layers from the host's memory"
SECTION = "08-serving/estimate"
_NO_END = Quantity(1e30, "B")
# a stage before the last one
BARE = {"vocab": 1} | dict.fromkeys(("vision", "unused", "tables", "positions"), 0)


@dataclass(frozen=True, slots=True)
class Part:
    """What one chip, or chips that are alike, have of a model."""

    model: LanguageModel
    device: Accelerator
    tp: int
    share: float  # of every matrix, over an even one
    shown: str  # how it is called


def parts_of(asked: Asked) -> tuple[Part, ...]:
    """The parts of a model, in the order in which a token passes them."""
    model = host.named(asked.model)
    if asked.host_layers > model.layers:
        layers = f"{model.layers} layers of {model.key}"
        raise ValueError(f"host_layers = {asked.host_layers}: there are {layers}")
    listed = asked.devices or (asked.on,) * asked.tp
    devices = [device_of(one) for one in listed]
    if asked.split == "layers":
        sizes = _layers(model, devices)
        stages = _stages(Same(model), sizes)
        both = zip(stages, devices, strict=True)
        return tuple(Part(m, d, 1, 1.0, f"{m.layers} layers") for m, d in both)
    many = len(devices)
    split(model, many)
    if not asked.devices:
        return (Part(model, devices[0], many, 1.0, "all"),)
    rates = [d.memory_bandwidth.si for d in devices]
    return tuple(
        Part(model, d, many, many * rate / sum(rates), d.short)
        for d, rate in zip(devices, rates, strict=True)
    )


def _layers(model: LanguageModel, devices: Sequence[Accelerator]) -> tuple[int, ...]:
    """Layers of each chip: as its memory is of all memories."""
    if len(devices) > model.layers:
        raise ValueError(f"{len(devices)} chips for {model.layers} layers: too many")
    room = [d.memory_capacity.si for d in devices]
    ends = [
        round(model.layers * sum(room[: i + 1]) / sum(room)) for i in range(len(room))
    ]
    sizes = [max(1, b - a) for a, b in zip([0, *ends], ends, strict=False)]
    sizes[sizes.index(max(sizes))] -= sum(sizes) - model.layers
    return tuple(sizes)


@lru_cache(maxsize=64)
def _stages(model: Same, sizes: tuple[int, ...]) -> tuple[LanguageModel, ...]:
    """The model in stages: the last has embedding and output matrix, others neither."""
    whole, found, start = model.value, [], 0
    for number, layers in enumerate(sizes):
        last = number == len(sizes) - 1
        pattern = whole.pattern[start : start + layers]
        kinds = tuple(dict.fromkeys(pattern))
        found.append(
            replace(
                whole,
                key=f"{whole.key}, layers {start + 1} to {start + layers}",
                kinds=tuple(whole.kinds[k] for k in kinds),
                pattern=tuple(kinds.index(k) for k in pattern),
                **({} if last else BARE),
            )
        )
        start += layers
    return tuple(found)


@lru_cache(maxsize=64)
def _roomy(device: Same) -> Accelerator:
    """The chip with memory without end: what fits is asked apart."""
    fields = {**device.value.fields, "memory_capacity": _NO_END}
    return replace(device.value, fields=fields)


def need_of(asked: Asked, part: Part, tokens: Any) -> tuple[Any, float]:
    """Bytes that a chip of a part must hold, and those of it that the host holds."""
    shape = shape_of(part.model, asked.dtype, asked.kv_dtype)
    cached = sum(n * a.cached(tokens) for n, a in shape.attention)
    away = shape.weights * asked.host_layers / max(1, part.model.layers)
    if asked.split == "layers" or asked.devices:
        away *= part.model.layers / host.named(asked.model).layers
    each = part.share / part.tp
    held = (shape.weights - away + asked.batch * shape.number * cached) * each
    return held, away * each


def refuse(asked: Asked, tokens: Any) -> None:
    """Raise ``Infeasible`` where a part's chip does not hold it, with the sum."""
    for part in parts_of(asked):
        need, _ = need_of(asked, part, tokens)
        have = part.device.memory_capacity
        if getattr(need, "shape", ()):
            raise ValueError("a sweep: one case at a time where chips differ")
        if need > have.si:
            raise Infeasible(
                f"{part.model.key}, {part.shown}: {Quantity(need, 'B'):.4 GB} > "
                f"{have:.4 GB} on {part.device.short}: does not fit"
            )


def lines_of(asked: Asked, prompt: int | None, losses: Any) -> list[Line]:
    """The account's lines over all parts, with those of ``losses`` for each."""
    tokens = asked.context if prompt is None else prompt
    refuse(asked, tokens)
    found, rows = [], asked.batch * (prompt or 1)
    for part in parts_of(asked):
        chip = _roomy(Same(part.device))
        given = dict(asked.account, tp=part.tp, ep=1, prompt=prompt)
        lines = account(part.model, chip, **given).lines
        lines = losses(asked, part.model, chip, part.tp, rows, lines)
        if part.share != 1.0:
            lines = tuple(scaled(x, part.share) if x.covers else x for x in lines)
        found.append([*lines, *_from_host(asked, part)])
    if asked.split == "layers":
        whole = list(_added(found))
        return [_crossing(asked, line, rows) for line in whole]
    return max(found, key=lambda lines: float(_sum(lines)))


def _sum(lines: Iterable[Line]) -> Any:
    times = (line.time for line in lines if line.time is not None)
    return sum(float(getattr(t, "si", t)) for t in times)


def scaled(line: Line, by: Any) -> Line:
    """A line that takes ``by`` times as long, bound by the same."""
    times = (line.t_bytes, line.t_arithmetic, line.t_fixed)
    moving, computing, fixed = (None if t is None else by * t for t in times)
    return replace(
        line, t_bytes=moving, t_arithmetic=computing, t_fixed=fixed, spent=None
    )


def _added(parts: Sequence[Sequence[Line]]) -> Iterator[Line]:
    """Lines of the same name, one after the other."""
    names = dict.fromkeys(line.name for lines in parts for line in lines)
    for name in names:
        mine = [line for lines in parts for line in lines if line.name == name]
        times = [line.time for line in mine if line.time is not None]
        if len(mine) == 1 or not times:
            yield mine[0]
            continue
        # It is bound by what binds the longest of them.
        longest = max(mine, key=lambda x: float(getattr(x.time, "si", x.time)))
        whole, none = sum(times[1:], times[0]), 0 * times[0]
        by: tuple[Any, Any, Any] = None, None, whole
        if longest.bound:
            by = (whole, none, None) if longest.bound == BYTES else (none, whole, None)
        yield replace(
            mine[0],
            bytes=sum((x.bytes for x in mine[1:]), mine[0].bytes),
            operations=sum((x.operations for x in mine[1:]), mine[0].operations),
            t_bytes=by[0],
            t_arithmetic=by[1],
            t_fixed=by[2],
            spent=None,
            regime="the sum of its stages",
        )


def _crossing(asked: Asked, line: Line, rows: Any) -> Line:
    """The exchanges' line: activations that cross from stage to stage."""
    if line.name != EXCHANGES:
        return line
    model, devices = host.named(asked.model), [p.device for p in parts_of(asked)]
    size, time = rows * model.hidden * ACTIVATION, 0.0
    for one, other in pairwise(devices):
        time += size / min(_link(one), _link(other))
    found: Any = time if asked.plain else chosen(time, "s", label=EXCHANGES)
    note = "activations from stage to stage, over the slower link"
    return replace(line, t_fixed=found, beside=size, regime="stages", note=note)


def _link(device: Accelerator) -> float:
    """Bytes a second out of a chip: its links, or its host's."""
    for name in ("link", "host_link"):
        if (rate := device.fields[name]) is not None:
            return float(rate.si)
    return float(device.memory_bandwidth.si)  # alone on its board: shared memory


def _from_host(asked: Asked, part: Part) -> tuple[Line, ...]:
    """The line of layers whose weights cross the host link in every pass."""
    if not asked.host_layers:
        return ()
    _, away = need_of(asked, part, 0)
    rate = part.device.host_link  # raises where it is unknown
    time: Any = away / rate.si
    if not asked.plain:
        label = f"{asked.host_layers} layers"
        time = (chosen(away, "B", label=label) / rate).named(HOST_LAYERS)
    note = "weights cross the host link in every pass; computing there is left out"
    return (Line(HOST_LAYERS, SECTION, beside=away, t_fixed=time, note=note),)
