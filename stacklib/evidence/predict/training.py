"""Family F: a published training step, as ``interconnect.parallelism`` predicts it.

The row says model, device and how many, and what it tells of layout and batch. What it
does not tell is chosen as its authors would have: the layout that the model finds
fastest among those that fit. A row of a layout that cannot fit (states kept in the
host's memory) is timed all the same: it ran.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from stacklib import hardware
from stacklib.hardware import UnknownSpec
from stacklib.interconnect.parallelism.layout import Layout
from stacklib.interconnect.parallelism.megatron import ROWS
from stacklib.interconnect.parallelism.memory import memory_of
from stacklib.interconnect.parallelism.rates import Device
from stacklib.interconnect.parallelism.rates import device_of as sheet_of
from stacklib.interconnect.parallelism.shape import Shape, shape_of
from stacklib.interconnect.parallelism.step import evaluate
from stacklib.interconnect.parallelism.step import regime as like
from stacklib.quantity import UnknownName

from ..measurements import Measurement, Refusal
from ..systems import device_of
from .registry import PREDICTORS, Forecast, Predict
from .training_layouts import (
    chips_of,
    chosen,
    dtype_of,
    graphed,
    later_of,
    layouts_of,
    length_of,
    ways_of,
)
from .training_models import SIZE, model_of, words

_SQUARE = ("palm", "deepspeed", "megatron", "nemo")  # count masked pairs too
# Classes of software: tuned has kernels written for its device, as has a chip that a
# compiler runs whole; a library's keep a share of the rates, and PyTorch's attention.
_TUNED = (
    "megatron-lm",
    "megatron-core",
    "megatron core",
    "megatron-bridge",
    "megatron bridge",
    "nemo",
    "transformer engine",
    "transformerengine",
    "llm.c",
    "llmq",
    "dualpipe",
)
_TRILLIONS = re.compile(r"(\d+(?:\.\d+)?)tb? (?:tokens|\()|tokens=(\d+(?:\.\d+)?)t")
_LOGITS = 14  # bytes a logit at the peak: 16 bits, and 32 three times


@dataclass(frozen=True, slots=True)
class Run:
    """What a row ran, as far as it tells; None where it does not."""

    shape: Shape
    device: Device
    chips: int
    length: int
    batch: int
    layouts: tuple[Layout, ...]
    scores: bool


def _told_flops(shape: Shape, row: Measurement, layout: Layout, length: int) -> float:
    """Operations a token as papers count them: every pair of tokens, once or again.

    Reports of before 2022, and of hardware's utilisation, count recomputation.
    """
    square = shape.pair_macs
    if any(word in f"{row.subject};{words(row)}".lower() for word in _SQUARE):
        square = sum(k.count * k.square for k in shape.kinds)
    again = layout.again if "deepspeed" in words(row) or row.metric == "hfu" else 0.0
    return (6.0 + 2.0 * again) * (shape.macs + square)


def _answer(
    row: Measurement,
    shape: Shape,
    device: Device,
    layout: Layout,
    batch: int,
    chips: int,
    length: int,
) -> Callable[[float], Forecast]:
    metric, tokens = row.metric, batch * length
    unit = row.unit.lower()
    each = _told_flops(shape, row, layout, length)
    if metric in ("iteration_time", "step_time", "time_per_step", "time", "latency"):
        return lambda t: Forecast(t, "s", "compute")
    if metric.startswith(("mfu", "hfu")):
        peak = device.plain.peak
        return lambda t: Forecast(tokens * each / t / chips / peak, "", "compute")
    if "throughput" in metric or "tokens" in metric:
        many = chips if "per" in metric or "/gpu" in unit or "/chip" in unit else 1
        if "flop" in unit:
            return lambda t: Forecast(tokens * each / t / chips, "FLOP/s", "compute")
        if "seq" in unit or "sample" in unit:
            return lambda t: Forecast(batch / t / many, "1/s", "compute")
        return lambda t: Forecast(tokens / t / many, "token/s", "compute")
    if metric == "gpu_hours":
        said = _TRILLIONS.search(words(row))
        if not said:
            raise Refusal("config does not give 'tokens' of the whole run")
        whole = float(said[1] or said[2]) * 1e12
        later = re.search(r"(\d+(?:\.\d+)?)t \((?:[^)]*)\b" + _label(row), words(row))
        if later:
            whole = float(later[1]) * 1e12
        return lambda t: Forecast(whole / tokens * t * chips / 3600, "h", "compute")
    raise Refusal(f"no training model for metric {metric!r}")


def _label(row: Measurement) -> str:
    said = SIZE.search(row.subject)
    return re.escape(said[0].lower()) if said else "none"


def _held(row: Measurement, run: Run, layout: Layout, batch: int) -> Predict:
    """Bytes that a row names: all of a chip at its peak, states, or activations."""
    memory = memory_of(
        run.shape, layout, batch=batch, length=run.length, scores=run.scores
    )
    text = words(row)
    if "activation" in text:
        size = memory.activations
    elif "param" in text or "optimizer" in text:
        size = memory.total - memory.activations
    else:
        tokens = layout.micro * run.length / layout.cp
        logits = (_LOGITS - (10 if layout.pp == 1 else 0)) * tokens * run.shape.vocab
        last = logits / (layout.tp if layout.pp == 1 else 1e30)
        size = memory.total + last
    return lambda: Forecast(size, "B", "memory")


def _tuned(row: Measurement, device: Device) -> bool:
    software = row.software.lower()
    return not device.plain.tiled or any(word in software for word in _TUNED)


def _figure_layout(row: Measurement, shape: Shape) -> tuple[Layout, int] | None:
    """The layout of a row of that paper's figure 1, which its table 3 has."""
    if row.metric != "memory" or "2205.05198" not in row.source:
        return None
    (own,) = (one for one in ROWS if one.layers == shape.layers)
    lean = "selective" in row.settings
    again = "selective" if lean else "none"
    return replace(own.layout(lean), recompute=again), own.batch


def regime(row: Measurement) -> tuple[str, ...]:
    """A row's cell: what is measured, software, links, chips, and long contexts."""
    key, many = device_of(row.system)
    device, chips = sheet_of(key, "bf16", None), chips_of(row, many)
    kind = "memory" if "memory" in row.metric else "speed"
    cp = ways_of(row).get("cp", 1)
    return kind, *like(device, chips, cp, _tuned(row, device))


# What a run's own paper tells, where a row says nothing but its chips: A. Chowdhery et
# al., 2022, sections 4 and 4.1: 12 ways of tensors, two pods of 256 times as many, the
# last batch of 2,048 sequences, layers computed again.
_RUNS = {"palm 540b": "tp=12;dp=512;batch=2048;fsdp;full recompute"}


def prepare(row: Measurement) -> Predict:
    """A training step ready to be predicted."""
    if not row.settings:
        row = replace(row, settings=_RUNS.get(row.subject.lower(), ""))
    key, many = device_of(row.system)
    if not row.config and many == 1 and "memory" not in row.metric:
        raise Refusal("config does not give 'seq', 'batch' and layout: it is empty")
    chip = hardware.get(key)
    model = model_of(row)
    try:
        length = length_of(row, model.key)
        shape = shape_of(model, length, later_of(row))
        port = re.search(r"(\d+)g\b", row.system.lower())
        rate = float(port[1]) * 1e9 / 8 if port else None
        device = sheet_of(key, dtype_of(row, chip), rate)
        chips = chips_of(row, many)
        scores = "2022" in f"{row.date} {row.source}" and "megatron" in words(row)
        fixed = _figure_layout(row, shape)
        options = [fixed] if fixed else layouts_of(row, shape, device, chips, length)
        layout, batch = chosen(shape, device, options, length, scores)
        run = Run(shape, device, chips, length, batch, (layout,), scores)
        if "memory" in row.metric:
            return _held(row, run, layout, batch)
        answer = _answer(row, shape, device, layout, batch, layout.chips, length)
    except (UnknownSpec, UnknownName, ValueError) as unknown:
        raise Refusal(str(unknown)) from None

    tuned, graph = _tuned(row, device), graphed(row)

    def forecast() -> Forecast:
        share = 1.0 if tuned else hardware.efficiency("training_share")
        step = evaluate(
            shape,
            device,
            layout,
            batch,
            length,
            scores,
            limit=False,
            share=share,
            tuned=tuned,
            graph=graph,
        )
        return answer(step.time)

    return forecast


PREDICTORS["F"] = prepare
