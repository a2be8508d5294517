"""Decode-time explorer: what one token of Llama-3-70B costs, and what it awaits.

The step takes the longer of two times: moving the bytes and doing the
arithmetic. What does not fit gets the sum that shows it, and no speed.
"""

from __future__ import annotations

from typing import Any

from stacklib import hardware, models, roofline
from stacklib.roofline import DecodeStep

from ..spec import readout
from . import choices

MODEL = "llama-3-70b"
BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
CONTEXTS = (512, 1024, 2048, 4096, 8192)
X = {"label": "Batch size (sequences)", "scale": "log", "limits": [1, BATCHES[-1]]}
Y = {"label": "Time per step (ms)", "scale": "log", "unit": "ms",
     "limits": [0.01, 1000]}  # fmt: skip


def controls() -> list[dict[str, Any]]:
    """Menus and sliders of ``explore``."""
    return [
        choices.device("device", "Device", "h100_sxm"),
        choices.select(
            "dtype", "Number format", choices.formats(("FLOP", "OP")), "bf16"
        ),
        choices.slider("chips", "Chips", (1, 2, 4, 8), 2),
        choices.slider("batch", "Batch size", BATCHES, 1),
        choices.slider("context", "Tokens cached", CONTEXTS, 4096),
    ]


def explore(
    *, device: str, dtype: str, chips: int, batch: int, context: int
) -> dict[str, Any]:
    """Spec of time against batch size, with the chosen batch marked.

    Parameters
    ----------
    device, dtype : str
        Key of the device; number format of weights, cache and arithmetic.
    chips : int
        Devices that share the model.
    batch, context : int
        Sequences a step serves; tokens cached for each.

    Returns
    -------
    dict
        A figure spec. Without speed readouts, and with the sum as ``message``,
        where the step does not fit; without marks where the device has no rate
        for the format.
    """
    chip = hardware.get(device)
    if dtype not in chip.formats:
        return _spec(
            f"{chip.short} has no {dtype} arithmetic.", [], [],
            f"{chip.short} publishes no {dtype} rate. It has "
            f"{', '.join(chip.formats)}.",
        )  # fmt: skip

    def step(at: int) -> DecodeStep:
        return roofline.decode_step(
            MODEL, on=chip, dtype=dtype, tp=chips, batch=at, context=context
        )

    about = {"device": device, "dtype": dtype, "chips": chips}
    curves = {at: step(at) for at in BATCHES}
    return _chosen(step(batch), batch, _curves(curves, about), about)


def _curves(steps: dict[int, DecodeStep], about: dict[str, Any]) -> list[dict]:
    """Two lines over the batches that fit, a band over those that do not."""
    fit = [at for at, step in steps.items() if step.fit.fits]
    bad = [at for at in steps if at not in fit]
    marks = []
    for name, label in (("t_memory", "moving bytes"), ("t_compute", "arithmetic")):
        ys = [getattr(steps[at], name).to("ms").value for at in fit]
        if len(fit) > 1:
            marks.append({"kind": "line", "evidence": "predicted", "name": label,
                          "x": fit, "y": ys, "role": "part", **about})  # fmt: skip
    if bad:
        first = fit[-1] if fit else bad[0]
        marks.append({"kind": "band", "evidence": "impossible",
                      "name": "does not fit", "x": [first, BATCHES[-1]]})  # fmt: skip
    return marks


def _chosen(
    step: DecodeStep, batch: int, marks: list[dict], about: dict[str, Any]
) -> dict[str, Any]:
    name = models.get(MODEL).name
    need = readout("need", "Needed per chip", step.fit.need, "resident")
    have = readout("have", "Memory per chip", step.fit.have)
    if not step.fit.fits:
        spec = _spec(f"{name} does not fit.", marks, [need, have], step.fit.explanation)
        return {**spec, "about": {**about, "chips": 1, "feasible": False}}
    marks = [
        *marks,
        {"kind": "dots", "evidence": "predicted", "name": f"batch {batch}",
         "x": [batch], "y": [step.time.to("ms").value], "this_machine": False,
         "series": 4, **about},
    ]  # fmt: skip
    awaited = "memory" if step.bound == "memory" else "arithmetic"
    title = f"A step takes {step.time:ms}; it waits for {awaited}."
    readouts = [
        readout("time", "Time per step", step.time, unit="ms"),
        readout("memory", "Moving bytes", step.t_memory, "part", unit="ms"),
        readout("arithmetic", "Arithmetic", step.t_compute, "part", unit="ms"),
        readout("bytes", "Bytes moved, all chips", step.bytes),
        readout("work", "Operations, all chips", step.operations),
        readout("busy", "Arithmetic busy", step.busy, "share", unit="%"),
        readout("rate", "Tokens, all sequences", step.tokens_per_s),
        need,
        have,
    ]
    return {**_spec(title, marks, readouts, None), "about": about}


def _spec(
    title: str, marks: list[dict], readouts: list[dict], message: str | None
) -> dict[str, Any]:
    return {"title": title, "x": X, "y": Y, "marks": marks, "readouts": readouts,
            "message": message}  # fmt: skip
