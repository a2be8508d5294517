"""Room, live: model, machine and formats, and how many conversations it holds."""

from __future__ import annotations

from typing import Any

from stacklib import models
from stacklib.pages.serving import fits as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import here
from stacklib.plots.marks import Mark, Spec, axis, chart, line
from stacklib.plots.spec import readout
from stacklib.serving.estimates.room import Room, room

CONTEXTS = tuple(2**power for power in range(10, 21))
DEVICES = ("h100_sxm", "h200_sxm", "b200_sxm", "mi300x", "rtx_4090", "l40s")
CACHES = {"bf16": "bf16", "fp8": "fp8", page.FEWER_BITS: "4 bits, with scales"}


def controls() -> list[dict[str, Any]]:
    """Menus and sliders of ``explore``."""
    names = [[key, models.get(key).name] for key in page.SHOWN]
    return [
        choices.select("model", "Model", names, page.MODEL),
        choices.select("device", "GPU", choices.short(DEVICES), page.DEVICE),
        choices.slider("chips", "GPUs", (1, 2, 4, 8), page.TP),
        choices.select("dtype", "Weights", choices.weights(), "bf16"),
        choices.select("kv", "Cache", CACHES, "bf16"),
        choices.slider("context", "Tokens of a conversation", CONTEXTS, CONTEXTS[5]),
    ]


def explore(
    *, model: str, device: str, chips: int, dtype: str, kv: str, context: int
) -> Spec:
    """Conversations that fit against the tokens of each, by format of the cache."""

    def asked(cache: str, tokens: int) -> Room:
        return room(
            model,
            device,
            dtype=dtype,
            kv_dtype=cache,
            tp=chips,
            context=tokens,
            share=page.used(),
        )

    mine, marks = asked(kv, context), list[Mark]()
    many, fits = mine.conversations, mine.left.si > 0
    left = [readout("left", "Left for caches", mine.left, unit="GB")] if fits else []
    if fits:
        for cache, words in CACHES.items():
            held = [asked(cache, tokens).conversations.si for tokens in CONTEXTS]
            shown = [(c, n) for c, n in zip(CONTEXTS, held, strict=True) if n]
            if shown:
                xs, ys = zip(*shown, strict=True)
                marks.append(line(xs, ys, words, "predicted"))
        marks += [here(context, many.si, "yours")] if many.si else []
    name = models.get(model).name
    return chart(
        f"{name} on {chips} x {mine.device}: {many.text()} of {context:,} tokens.",
        x=axis("Tokens of a conversation", log=True, limits=[900, 1.2e6]),
        y=axis("Conversations", log=True, limits=[0.9, 1e5]),
        marks=marks,
        readouts=[
            readout("weights", "Weights", mine.weights),
            readout("each", "Cache of a conversation", mine.each),
            *left,
            readout("many", "Conversations that fit", many),
        ],
        message=None if fits else "The weights alone do not fit.",
        about={"device": device, "chips": chips, "feasible": fits},
    )
