"""SRAM machines, live: chips against tokens cached, for any model and chip."""

from __future__ import annotations

from typing import Any

from stacklib import models
from stacklib.accelerators import sram_machine
from stacklib.pages.accelerators import sram as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Mark, Spec, axis, chart, line
from stacklib.plots.spec import readout
from stacklib.roofline import Infeasible

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)
CONTEXTS = tuple(2**power for power in range(8, 18))


def controls() -> list[dict[str, Any]]:
    """Model, chip, conversations, and tokens of each."""
    names = [[key, models.get(key).name] for key in page.WILD]
    return [
        choices.select("model", "Model", names, page.MODEL),
        choices.select("on", "Chip", choices.short(tuple(page.HELD)), page.FIRST),
        choices.slider("batch", "Conversations", BATCHES, 1),
        choices.slider("context", "Tokens cached in each", CONTEXTS, 4096),
    ]


def explore(*, model: str, on: str, batch: int, context: int) -> Spec:
    """Chips that hold model and caches, against the tokens of each conversation."""
    asked: dict[str, Any] = {"on": on, "dtype": page.HELD[on]}
    marks, said, why = list[Mark](), list[dict[str, Any]](), ""
    points = []
    for tokens in CONTEXTS:
        try:
            found = sram_machine(model, batch=batch, context=tokens, **asked)
        except Infeasible as sum_:
            why = why or (str(sum_) if tokens <= context else "")
            continue
        points.append((tokens, found.chips))
    if points:
        xs, ys = zip(*points, strict=True)
        marks.append(line(xs, ys, f"{batch} at once", "predicted"))
    if not why:
        mine = sram_machine(model, batch=batch, context=context, **asked)
        marks.append(here(context, mine.chips, "yours"))
        said = [
            readout("chips", "Chips", counted(mine.chips, "chips")),
            readout("time", "A token, at the roof", mine.time, unit="ms"),
            readout("rate", "Tokens a second of all", mine.tokens_per_s),
        ]
    name = models.get(model).name
    chip, chips = (mine.device.short, mine.chips) if not why else (on, 1)
    title = f"{name} on {chip}: {mine.chips:,} chips." if not why else f"{name}: none."
    return chart(
        title,
        x=axis("Tokens cached in each", log=True, limits=[200, 150_000]),
        y=axis("Chips", log=True, limits=[0.9, 3000]),
        marks=marks,
        readouts=said,
        message=why or None,
        about={
            "device": on,
            "chips": chips,
            "batch": batch,
            "model": model,
            "dtype": page.HELD[on],
            "feasible": not why,
        },
    )
