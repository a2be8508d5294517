"""Which GPU for this model, what will it do, what should I see: one live table.

A row a device, each with the fewest chips that hold the model. What is predicted is the
time of a decode step whose reads run at the rate that kernels get; its band is that of
the factor. What does not fit has no time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib import hardware, models, roofline
from stacklib.hardware.errors import band_text
from stacklib.plots.live import choices
from stacklib.plots.marks import Mark, Spec, across, axis, bar, chart
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity, stamp
from stacklib.roofline import DecodeStep

CHIPS = (1, 2, 4, 8)
BATCHES = (1, 2, 4, 8, 16, 32, 64)
CONTEXTS = (1024, 4096, 16384, 65536)
MODELS = ("llama-3-8b", "qwen3-32b", "llama-3-70b", "mixtral-8x7b-v0.1", "gpt-oss-120b")
BESIDE = ("a100_sxm_80gb", "l40s", "rtx_4090", "h100_sxm", "h200_sxm", "mi300x")
X = axis("Time per token (ms)", unit="ms", limits=(0, 1))
Y = axis("Devices, yours on top", ticks=(), limits=across(1))
READS = "C"  # family of the factor that reads are predicted with
HEAD = ["device", "chips", "each needs", "least", "predicted", "all sequences"]


@dataclass(frozen=True)
class Choice:
    """A device with the fewest chips that hold the model, or with none."""

    device: hardware.Accelerator
    step: DecodeStep  # on the most chips where none hold it
    chips: int

    @property
    def predicted(self) -> Quantity:
        """Time of the step, its reads at the rate of kernels."""
        rate = hardware.efficiency_quantity("dram_read")
        time = self.step.t_memory / rate
        if self.step.bound != "memory":
            return self.step.time
        return stamp(time.named("time per token, reads at the rate of kernels"), READS)


def controls() -> list[dict[str, Any]]:
    """Menus and sliders of ``explore``."""
    named = [[key, models.get(key).name] for key in MODELS]
    return [
        choices.select("model", "Model", named, "llama-3-70b"),
        choices.device("device", "Your device", "b200_sxm"),
        choices.select("dtype", "Weights in", choices.weights(), "bf16"),
        choices.slider("batch", "Batch size", BATCHES, 1),
        choices.slider("context", "Tokens cached", CONTEXTS, 4096),
    ]


def choose(model: str, device: str, dtype: str, batch: int, context: int) -> Choice:
    """The fewest chips that hold it; with the most, the sum that says why none do."""
    chip = hardware.get(device)
    found = None
    for chips in CHIPS:
        if chips > 1 and models.get(model).cache_heads % chips:
            break
        step = roofline.decode_step(
            model, on=chip, dtype=dtype, tp=chips, batch=batch, context=context
        )
        found = Choice(chip, step, chips)
        if step.fit.fits:
            break
    assert found is not None
    return found


def explore(*, model: str, device: str, dtype: str, batch: int, context: int) -> Spec:
    """A decode step of ``model`` on ``device``, and on those of ``BESIDE``."""
    keys = [device, *(key for key in BESIDE if key != device)]
    try:
        found = [choose(model, key, dtype, batch, context) for key in keys]
    except hardware.UnknownSpec as missing:  # yours multiplies in none of the formats
        title = f"{hardware.get(device).short} has no rate for weights in {dtype}."
        return chart(title, x=X, y=Y, marks=[], message=str(missing))
    mine, fits = found[0], found[0].step.fit.fits
    fit = [choice for choice in found if choice.step.fit.fits]
    longest = max((c.predicted.to("ms").value for c in fit), default=1.0)
    return chart(
        _title(model, dtype, mine),
        x={**X, "limits": [0, 1.5 * longest]},
        y={**Y, "limits": across(max(len(fit), 1))},
        marks=[_bar(c, len(fit) - 1 - row, dtype) for row, c in enumerate(fit)],
        readouts=_readouts(mine),
        message=None if fits else mine.step.fit.explanation,
        about={"device": device, "feasible": fits, "model": model, "batch": batch}
        | {"dtype": choices.rated(dtype, mine.device)}
        | ({"chips": mine.chips} if fits else {}),
        table={
            "caption": "The fewest chips that hold it; links and launches left out.",
            "head": HEAD,
            "rows": [_row(choice) for choice in found],
        },
    )


def _title(model: str, dtype: str, mine: Choice) -> str:
    name = models.get(model).name
    if not mine.step.fit.fits:
        return f"{name} in {dtype} does not fit on {_many(mine)}."
    return f"{name} in {dtype} on {_many(mine)}: a token in {mine.predicted:.3 ms}."


def _many(choice: Choice) -> str:
    short = choice.device.short
    return short if choice.chips == 1 else f"{choice.chips} x {short}"


def _bar(choice: Choice, row: int, dtype: str) -> Mark:
    return bar(
        0.0,
        choice.predicted.to("ms").value,
        row,
        _many(choice),
        "predicted",
        layer=2,
        device=choice.device.key,
        chips=choice.chips,
        role="part",
        dtype=choices.rated(dtype, choice.device),
    )


def _readouts(mine: Choice) -> list[dict[str, Any]]:
    """What it will do, then what a monitor and a profiler should show."""
    step, fits = mine.step, mine.step.fit.fits
    memory = readout("need", "nvidia-smi, memory per chip", step.fit.need, "resident")
    if not fits:
        return [memory, readout("have", "Memory per chip", step.fit.have)]
    bound = step.bound == "memory"
    shown = [
        readout("time", "Per token, predicted", mine.predicted, unit="ms"),
        readout("least", "Per token, at the least", step.time, unit="ms"),
        readout("rate", "All sequences, at most", step.tokens_per_s),
        memory,
        readout("waits", "Waits for", "memory" if bound else "arithmetic"),
        readout("formats", "Formats", step.formats),
    ]
    if bound:
        share = hardware.efficiency_quantity("dram_read")
        busy = (step.t_compute / mine.predicted).named("share of the tensor peak")
        shown.append(readout("dram", "ncu, dram__throughput", share, unit="%"))
        shown.append(readout("tensor", "ncu, tensor pipe", busy, "share", unit="%"))
        shown.append(readout("band", "Error of such reads", band_text(READS)))
    return shown


def _row(choice: Choice) -> dict[str, Any]:
    step = choice.step
    cells = [{"text": str(choice.chips)}, _cell(step.fit.need, "GB")]
    if step.fit.fits:
        cells.append(_cell(step.time, "ms"))
        cells.append(_cell(choice.predicted, "ms"))
        cells.append(_cell(step.tokens_per_s, None))
    else:
        cells += [{"text": "does not fit"}, {"text": "-"}, {"text": "-"}]
    return {"head": choice.device.short, "cells": cells}


def _cell(value: Quantity, unit: str | None) -> dict[str, Any]:
    return {"text": value.text(unit, 3), "tree": value.tree()}
