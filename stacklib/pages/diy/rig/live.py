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
WORK = {"prompt": "a prompt", "decode": "tokens"}


def controls() -> list[dict[str, Any]]:
    """Model, cards, how many, lanes of the last, what runs."""
    names = [[key, models.get(key).name] for key in MODELS]
    work = [[key, words] for key, words in WORK.items()]
    return [
        choices.select("model", "Model in q4_k_m", names, page.MODEL),
        choices.select("card", "Cards", choices.short(CARDS), page.CARD),
        choices.slider("many", "How many", (2, 4, 8), page.MANY),
        choices.slider("lanes", "Lanes of the last", WIDTHS, page.FEW),
        choices.slider("batch", "Conversations", (1, 2, 4, 8, 16, 32), 1),
        choices.select("work", "What runs", work, "prompt"),
    ]


def explore(
    *, model: str, card: str, many: int, lanes: int, batch: int, work: str
) -> Spec:
    """Tokens a second against the lanes of the last card."""
    marks, said, why = list[Mark](), list[dict[str, Any]](), ""
    ends = list[float]()
    asked: dict[str, Any] = {"batch": batch, "context": CONTEXT}
    for split in ("layers", "tensors"):
        try:
            cards = {n: page.cards(n, card=card, many=many) for n in WIDTHS}
            runs = [
                diy.speed(cards[n], f"{model}:q4_k_m", split=split, **asked)
                for n in WIDTHS
            ]
        except ValueError as wrong:
            why = str(wrong)
            continue
        ys = [getattr(run, work) for run in runs]
        now = runs[WIDTHS.index(lanes)]
        mine, ends = getattr(now, work), [*ends, *ys]
        marks += [
            line(WIDTHS, ys, f"by {split}", "predicted"),
            here(lanes, mine, split),
        ]
        left = counted(mine / ys[-1], "left")
        said += [
            readout(split, f"By {split}", counted(mine, split, "token/s")),
            readout(f"{split}-left", "Left of full lanes", left, "share", unit="%"),
        ]
        if work == "decode":
            low, high = (counted(end, split, "token/s") for end in (now.low, now.high))
            said += [
                readout(f"{split}-low", "Published runs, from", low),
                readout(f"{split}-high", "to", high),
            ]
    limits = [0.6 * min(ends, default=1), 1.4 * max(ends, default=10)]
    name, device = models.get(model).name, hardware.get(card)
    return chart(
        f"{name} on {many} {device.short}, {WORK[work]}: the last on {lanes} lanes.",
        x=axis("Lanes of the last card", log=True, limits=[0.9, 18], ticks=WIDTHS),
        y=axis("Tokens a second", log=True, limits=limits),
        marks=marks,
        readouts=said,
        message=None if marks else why,
        about={
            "device": card,
            "chips": many,
            "batch": CONTEXT if work == "prompt" else batch,  # tokens of a pass
            "model": model,
            "dtype": "q4_k",
            "feasible": bool(marks),
        },
    )
