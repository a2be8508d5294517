"""Decode-time explorer: what one token of Llama-3-70B costs, and what it awaits.

The step takes the longer of two times: moving the bytes and doing the
arithmetic. What does not fit gets the sum that shows it, and no speed.
"""

from __future__ import annotations

from typing import Any

from stacklib import hardware, models, roofline
from stacklib.plots.live import choices
from stacklib.plots.live.parts import CHOSEN
from stacklib.plots.marks import About, Mark, Spec, axis, band, chart, dots, line
from stacklib.plots.spec import readout
from stacklib.roofline import DecodeStep
from stacklib.roofline.bound.decode_plain import PlainStep

MODEL = "llama-3-70b"
BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
CONTEXTS = (512, 1024, 2048, 4096, 8192)
X = axis("Batch size (sequences)", log=True, limits=[1, BATCHES[-1]])
Y = axis("Time per step (ms)", log=True, unit="ms", limits=[0.01, 1000])


def controls() -> list[dict[str, Any]]:
    """Menus and sliders of ``explore``."""
    return [
        choices.device("device", "Device", "h100_sxm"),
        choices.select("dtype", "Weights in", choices.weights(), "bf16"),
        choices.slider("chips", "Chips", (1, 2, 4, 8), 2),
        choices.slider("batch", "Batch size", BATCHES, 1),
        choices.slider("context", "Tokens cached", CONTEXTS, 4096),
    ]


def explore(*, device: str, dtype: str, chips: int, batch: int, context: int) -> Spec:
    """Time of a step against batch size, ``chips`` sharing the model.

    Where the step does not fit there is no speed, and the sum is the message. Weights
    in a format that the chip cannot multiply in are widened first.
    """
    chip = hardware.get(device)
    asked: dict[str, Any] = {"on": chip, "dtype": dtype, "tp": chips}
    about = About(device=device, chips=chips, model=MODEL, batch=batch)
    about["dtype"] = choices.rated(dtype, chip)
    try:
        mine = roofline.decode_step(MODEL, batch=batch, context=context, **asked)
        steps = {
            at: roofline.decode_step(
                MODEL, batch=float(at), context=float(context), **asked
            )
            for at in BATCHES
        }
        curves = _curves(steps, about)
    except hardware.UnknownSpec as missing:
        title = f"{chip.short} has no rate for weights in {dtype}."
        return chart(title, x=X, y=Y, marks=[], message=str(missing))
    if not mine.fit.fits:
        return _unfit(mine, curves, about)
    return _fit(mine, batch, curves, about)


def _curves(steps: dict[int, PlainStep], about: About) -> list[Mark]:
    """Two lines over the batches that fit, a band over those that do not."""
    fit = [at for at, step in steps.items() if step.fits]
    part_of: About = {**about, "role": "part"}
    bad = [at for at in steps if at not in fit]
    marks = []
    for part, name in (("t_memory", "moving bytes"), ("t_compute", "arithmetic")):
        ms = [1e3 * getattr(steps[at], part) for at in fit]
        if len(fit) > 1:
            marks.append(line(fit, ms, name, "predicted", **part_of))
    if bad:
        first = fit[-1] if fit else bad[0]
        marks.append(band("does not fit", "impossible", x=[first, BATCHES[-1]]))
    return marks


def _memory(step: DecodeStep) -> list[dict[str, Any]]:
    need = readout("need", "Needed per chip", step.fit.need, "resident")
    return [need, readout("have", "Memory per chip", step.fit.have)]


def _unfit(step: DecodeStep, marks: list[Mark], about: About) -> Spec:
    return chart(
        f"{models.get(MODEL).name} does not fit.",
        x=X,
        y=Y,
        marks=marks,
        readouts=_memory(step),
        message=step.fit.explanation,
        about={**about, "chips": 1, "feasible": False},
    )


def _fit(step: DecodeStep, batch: int, marks: list[Mark], about: About) -> Spec:
    awaited = "memory" if step.bound == "memory" else "arithmetic"
    ms = step.time.to("ms").value
    point = dots(batch, ms, f"batch {batch}", "yours", series=CHOSEN, **about)
    return chart(
        f"A step takes {step.time:ms}; it waits for {awaited}.",
        x=X,
        y=Y,
        marks=[*marks, point],
        readouts=[
            readout("time", "Time per step", step.time, unit="ms"),
            readout("memory", "Moving bytes", step.t_memory, "part", unit="ms"),
            readout("arithmetic", "Arithmetic", step.t_compute, "part", unit="ms"),
            readout("bytes", "Bytes moved, all chips", step.bytes),
            readout("work", "Operations, all chips", step.operations),
            readout("busy", "Arithmetic busy", step.busy, "share", unit="%"),
            readout("rate", "Tokens, all sequences", step.tokens_per_s),
            readout("formats", "Formats", step.formats),
            *_memory(step),
        ],
        about=about,
    )
