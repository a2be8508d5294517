"""Which scheme, live: a model on some chips in six, what each takes and what it loses.

Times are those of `serving.account`, a loss is published of that model, and what does
not fit is told with its sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib import models
from stacklib.hardware import get
from stacklib.pages.quantizers import journey as page
from stacklib.plots.live import choices
from stacklib.plots.marks import Mark, Spec, across, axis, bar, chart
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity, one_of
from stacklib.roofline.work.fit import Fit, fit_memory
from stacklib.serving import Account

from . import losses

MODELS = (
    *("llama-2-7b", "llama-3-8b", "qwen3-32b", "mixtral-8x7b-v0.1"),
    *("llama-2-70b", "llama-3-70b", "llama-3.1-70b"),
)
DEVICES = (
    *("h100_sxm", "h200_sxm", "b200_sxm", "a100_sxm_80gb", "mi300x"),
    *("l40s", "rtx_pro_6000", "rtx_5090", "rtx_4090"),
)
CHIPS, BATCHES = (1, 2, 4, 8), (1, 2, 4, 8, 16, 32, 64)
CONTEXTS = (1024, 4096, 16384, 65536)
HEAD = ["scheme", "predicted", "lost"]
HEAD += ["by data sheets", "each chip needs", "bits of a weight"]


@dataclass(frozen=True)
class Choice:
    """A model in one scheme, and its accounts where it fits."""

    scheme: str
    model: str
    fit: Fit
    sheet: Account | None  # by data sheets, attention as kernels have it
    kernels: Account | None

    @property
    def bits(self) -> Quantity:
        """Of a weight, those that stay in sixteen bits counted."""
        whole = self.fit.weights + self.fit.reserve * self.fit.chips
        bits = whole.to("bit") / models.get(self.model).parameters
        return bits.named(f"bits of a weight, {self.scheme}")

    @property
    def time(self) -> Quantity:
        """What is predicted for a token; of a scheme that fits."""
        assert self.kernels is not None
        time: Quantity = self.kernels.total()
        return time.named(f"a token in {self.scheme}, predicted")


def controls() -> list[dict[str, Any]]:
    """Menus and sliders of ``explore``."""
    named = [[key, models.get(key).name] for key in MODELS]
    return [
        choices.select("model", "Model", named, page.MODEL),
        choices.select("device", "Card", choices.short(DEVICES), page.DEVICES[0]),
        choices.slider("chips", "Chips", CHIPS, page.CHIPS),
        choices.slider("batch", "Sequences", BATCHES, 1),
        choices.slider("context", "Tokens cached in each", CONTEXTS, page.CONTEXT),
    ]


def choose(
    scheme: str, model: str, device: str, chips: int, batch: int, context: int
) -> Choice:
    """One scheme; its cache is in bf16."""
    dtype = losses.kept(model, scheme)
    asked: dict[str, Any] = {"dtype": dtype, "kv_dtype": "bf16"}
    asked |= {"tp": chips, "batch": batch, "context": context}
    rest = losses.embedding(model, dtype) / chips
    fit = fit_memory(model, on=device, reserve=rest, **asked)
    sheet = kernels = None
    if fit.fits:
        sheet, kernels = page.accounts(model, device, **asked)
    return Choice(scheme, model, fit, sheet, kernels)


def explore(*, model: str, device: str, chips: int, batch: int, context: int) -> Spec:
    """A token of ``model`` on some chips in every scheme, with what each loses."""
    case = (model, device, chips, batch, context)
    every = [choose(scheme, *case) for scheme in losses.SCHEMES]
    fit = [choice for choice in every if choice.kernels is not None]
    out = [f"{c.scheme}: {c.fit.explanation}." for c in every if c.kernels is None]
    first = min(fit, key=lambda choice: choice.time.si) if fit else None
    longest = max((c.time.to("ms").value for c in fit), default=1.0)
    where = f"{models.get(model).name} on {chips} x {get(device).short}"
    return chart(
        f"{where}: {first.scheme} is fastest, a token in {first.time:.3 ms}."
        if first
        else f"{where}: it fits in none of the schemes.",
        x=axis("Time per token, predicted (ms)", unit="ms", limits=(0, 1.3 * longest)),
        y=axis("Schemes", ticks=(), limits=across(max(len(fit), 1))),
        marks=[_bar(c, len(fit) - 1 - row, case) for row, c in enumerate(fit)],
        readouts=_readouts(first, fit[0], batch) if first else (),
        message=" ".join(out) or None,
        about={"device": device, "model": model, "batch": batch, "chips": chips}
        | {"feasible": bool(fit)},
        table={
            "caption": "A token in each scheme, its cache in bf16, and what it loses.",
            "head": HEAD,
            "rows": list(map(_row, every)),
        },
    )


def _bar(choice: Choice, row: int, case: tuple[Any, ...]) -> Mark:
    time, (_, device, chips, *_) = choice.time.to("ms").value, case
    about: dict[str, Any] = {"device": device, "chips": chips, "role": "part"}
    return bar(0.0, time, row, choice.scheme, "predicted", layer=2, **about)


def _readouts(first: Choice, widest: Choice, batch: int) -> list[dict[str, Any]]:
    tokens = (batch * one_of("token")).named("tokens of a step")
    rate = (tokens / first.time).named("tokens per second")
    share = (first.time / widest.time).named("of the widest that fits")
    return [
        readout("scheme", "Fastest", first.scheme),
        readout("time", "A token in it, predicted", first.time, unit="ms"),
        readout("share", f"Of the time in {widest.scheme}", share, unit="%"),
        readout("rate", "All sequences", rate),
        readout(
            "need",
            "Memory of a chip, as a monitor shows it",
            first.fit.need,
            "resident",
        ),
        readout("lost", "What it loses", losses.told(first.model, first.scheme)),
    ]


def _row(choice: Choice) -> dict[str, Any]:
    lost = losses.lost(choice.model, choice.scheme)
    text, _, note = losses.told(choice.model, choice.scheme).partition("; ")
    told: dict[str, Any] = {"text": text} | ({"note": note} if note else {})
    told |= {"tree": lost.tree()} if lost is not None else {}
    time, least = {"text": "does not fit"}, {"text": "-"}
    if choice.sheet is not None:
        time = _cell(choice.time, "ms")
        least = _cell(choice.sheet.total().named(f"a token in {choice.scheme}"), "ms")
    sizes = [_cell(choice.fit.need, "GB"), _cell(choice.bits, "bit")]
    return {"head": choice.scheme, "cells": [time, told, least, *sizes]}


def _cell(value: Quantity, unit: str) -> dict[str, Any]:
    return {"text": value.text(unit, 3), "tree": value.tree()}
