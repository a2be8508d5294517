"""An estimate, live: model, chips and readers, and what each part of a step takes."""

from __future__ import annotations

from typing import Any

from stacklib import hardware, models
from stacklib.pages.serving import estimate as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import here
from stacklib.plots.marks import Mark, Spec, axis, chart, line
from stacklib.plots.spec import readout
from stacklib.serving import estimate
from stacklib.serving.estimates.estimate import Estimate
from stacklib.serving.token.shape import ATTENTION, HEAD, PRODUCTS
from stacklib.serving.token.work import EXCHANGES

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
MODELS = ("llama-3-8b", page.MODEL, "qwen3-32b", "gpt-oss-120b")
DEVICES = ("h100_sxm", "h200_sxm", "b200_sxm", "mi300x")
PARTS = {
    "weights": (PRODUCTS, HEAD),
    "caches": (ATTENTION,),
    "exchanges": (EXCHANGES,),
    "between layers and kernels": (),
}


def controls() -> list[dict[str, Any]]:
    """Menus and sliders of ``explore``."""
    names = [[key, models.get(key).name] for key in MODELS]
    contexts = (512, 1024, 2048, 4096, 8192, 16_384, 32_768)
    return [
        choices.slider("batch", "Conversations", BATCHES, page.CROWD),
        choices.select("model", "Model", names, page.MODEL),
        choices.select("device", "GPU", choices.short(DEVICES), page.DEVICE),
        choices.slider("chips", "GPUs", (1, 2, 4, 8), page.TP),
        choices.select("dtype", "Weights", choices.weights(), "bf16"),
        choices.slider("context", "Tokens in each", contexts, page.CONTEXT),
    ]


def seconds(found: Estimate) -> dict[str, float]:
    """What each part takes; together the step."""
    times = {x.name: float(x.time) for x in found.parts if x.time is not None}
    own = {words: [times.pop(n, 0.0) for n in names] for words, names in PARTS.items()}
    own["between layers and kernels"] = list(times.values())
    return {words: sum(each) for words, each in own.items()}


def explore(
    *, batch: int, model: str, device: str, chips: int, dtype: str, context: int
) -> Spec:
    """Parts of a step against the conversations in it."""

    def asked(many: int) -> Estimate:
        given: dict[str, Any] = {"batch": float(many), "context": float(context)}
        return estimate(model, device, dtype, chips, **given)

    mine, marks = asked(batch), list[Mark]()
    held = [many for many in BATCHES if asked(many).fits]
    parts = {many: seconds(asked(many)) for many in held}
    for words in PARTS:
        shown = [(many, 1e3 * parts[many][words]) for many in held]
        shown = [(many, ms) for many, ms in shown if ms > 0]
        if shown:
            xs, ys = zip(*shown, strict=True)
            marks.append(line(xs, ys, words, "predicted"))
    told = []
    title = f"{models.get(model).name} on {chips}: {batch} do not fit."
    if mine.fits:
        whole = estimate(model, device, dtype, chips, batch=batch, context=context)
        marks.append(here(batch, 1e3 * mine.tpot, "your step"))
        title = (
            f"{models.get(model).name}: a step of {batch} takes "
            f"{whole.tpot.text('ms')}, bound by {whole.bound}."
        )
        told = [
            readout("tpot", "A token of each", whole.tpot, unit="ms"),
            readout("rate", "Tokens a second, all", whole.tokens_per_s),
            readout("ttft", "A prompt as long as a cache", whole.ttft, unit="ms"),
        ]
    return chart(
        title,
        x=axis("Conversations in a step", log=True, limits=[0.9, 300]),
        y=axis("Time of a part (ms)", log=True, limits=[0.02, 300]),
        marks=marks,
        readouts=told,
        message=None if mine.fits else mine.why,
        about={
            "device": device,
            "chips": chips,
            "model": model,
            "batch": batch,
            "feasible": bool(mine.fits),
            "dtype": choices.rated(dtype, hardware.get(device)),
        },
    )
