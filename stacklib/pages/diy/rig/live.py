"""Lanes of one card, live: tokens a second by layers and by tensors."""

from __future__ import annotations

from typing import Any

from stacklib import diy, hardware, models
from stacklib.pages.chain.posts import CONTEXT
from stacklib.pages.diy import rig as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Mark, Spec, axis, chart, line
from stacklib.plots.spec import readout

CARDS = ("rtx_3090", "rtx_4090", "rtx_5090", "rtx_pro_6000_blackwell")
MODELS = (page.MODEL, "qwen3-32b", "qwen3-14b", "llama-3-8b")
WIDTHS = (1, 2, 4, 8, 16)
SPLITS = {"layers": "layers", "tensors": "tensors"}


def controls() -> list[dict[str, Any]]:
    """Model, cards, how many, lanes of the last, what runs."""
    names = [[key, models.get(key).name] for key in MODELS]
    work = [["decode", "a token"], ["prompt", "a prompt"]]
    return [
        choices.select("model", "Model at four bits", names, page.MODEL),
        choices.select("card", "Cards", choices.short(CARDS), page.CARD),
        choices.slider("many", "How many", (2, 4, 8), page.MANY),
        choices.slider("lanes", "Lanes of the last", WIDTHS, page.FEW),
        choices.slider("batch", "Conversations", (1, 2, 4, 8, 16, 32), 1),
        choices.select("work", "What runs", work, "decode"),
    ]


def explore(
    *, model: str, card: str, many: int, lanes: int, batch: int, work: str
) -> Spec:
    """Tokens a second against the lanes of the last card."""
    marks, said, why = list[Mark](), list[dict[str, Any]](), ""
    best = 0.0
    for split, told in SPLITS.items():
        try:
            runs = {
                n: diy.speed(
                    page.cards(n, card=card, many=many), f"{model}:q4_k_m",
                    split=split, batch=batch, context=CONTEXT,
                )
                for n in WIDTHS
            }  # fmt: skip
        except ValueError as wrong:
            why = str(wrong)
            continue
        ys = [getattr(one, work) for one in runs.values()]
        best = max(best, *ys)
        marks += [
            line(WIDTHS, ys, f"by {told}", "predicted"),
            here(lanes, getattr(runs[lanes], work), told),
        ]
        left = getattr(runs[lanes], work) / getattr(runs[16], work)
        now = counted(getattr(runs[lanes], work), "tokens a second")
        said += [
            readout(f"{split}-rate", f"By {told}, tokens a second", now),
            readout(
                f"{split}-left", f"By {told}, left", counted(left, "left"),
                "share", unit="%",
            ),
        ]  # fmt: skip
    name = models.get(model).name
    device = hardware.get(card)
    what = "a prompt" if work == "prompt" else "tokens"
    title = f"{name} on {many} {device.short}, {what}: the last card on {lanes} lanes."
    return chart(
        title,
        x=axis("Lanes of the last card", log=True, limits=[0.9, 18]),
        y=axis(
            "Tokens a second", log=True, limits=[max(best, 1) / 50, max(best, 1) * 1.5]
        ),
        marks=marks,
        readouts=said,
        message=None if marks else why,
        about={
            "device": card,
            "chips": many,
            "batch": batch,
            "model": model,
            "dtype": "q4_k_m",
            "feasible": bool(marks),
        },
    )
