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

MODEL = "llama-3-70b"
BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
CONTEXTS = (512, 1024, 2048, 4096, 8192)
X = axis("Batch size (sequences)", log=True, limits=[1, BATCHES[-1]])
Y = axis("Time per step (ms)", log=True, unit="ms", limits=[0.01, 1000])


def controls() -> list[dict[str, Any]]:
    """Menus and sliders of ``explore``."""
    both = choices.formats(("FLOP", "OP"))
    return [
        choices.device("device", "Device", "h100_sxm"),
        choices.select("dtype", "Number format", both, "bf16"),
        choices.slider("chips", "Chips", (1, 2, 4, 8), 2),
        choices.slider("batch", "Batch size", BATCHES, 1),
        choices.slider("context", "Tokens cached", CONTEXTS, 4096),
    ]


def explore(*, device: str, dtype: str, chips: int, batch: int, context: int) -> Spec:
    """Time of a step against batch size, ``chips`` sharing the model.

    Where the step does not fit there is no speed, and the sum is the message; without
    a rate for the format there are no marks.
    """
    chip = hardware.get(device)
    if dtype not in chip.formats:
        known = ", ".join(chip.formats)
        why = f"{chip.short} publishes no {dtype} rate. It has {known}."
        title = f"{chip.short} has no {dtype} arithmetic."
        return chart(title, x=X, y=Y, marks=[], message=why)

    def step(at: int) -> DecodeStep:
        return roofline.decode_step(
            MODEL, on=chip, dtype=dtype, tp=chips, batch=at, context=context
        )

    about = About(device=device, dtype=dtype, chips=chips, model=MODEL, batch=batch)
    curves = _curves({at: step(at) for at in BATCHES}, about)
    mine = step(batch)
    if not mine.fit.fits:
        return _unfit(mine, curves, about)
    return _fit(mine, batch, curves, about)


def _curves(steps: dict[int, DecodeStep], about: About) -> list[Mark]:
    """Two lines over the batches that fit, a band over those that do not."""
    fit = [at for at, step in steps.items() if step.fit.fits]
    part_of: About = {**about, "role": "part"}
    bad = [at for at in steps if at not in fit]
    marks = []
    for part, name in (("t_memory", "moving bytes"), ("t_compute", "arithmetic")):
        ms = [getattr(steps[at], part).to("ms").value for at in fit]
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
            *_memory(step),
        ],
        about=about,
    )
