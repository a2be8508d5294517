"""A configurator, live: budget, model, format and outlet to machines, ranked."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from stacklib import diy, models
from stacklib.cost.catalogue import Component, part
from stacklib.diy.planned import Planned
from stacklib.pages.diy import budget as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Mark, Spec, axis, band, chart, dots
from stacklib.plots.spec import readout
from stacklib.roofline.work.fit import Infeasible

BUDGETS = (2000, 2500, 3000, 4000, 5000, 6000, 7000, 8500, 10_000, 15_000, 20_000)
MODELS = ("qwen3-14b", "qwen3-32b", page.MODEL, "gpt-oss-20b", "gpt-oss-120b")
FORMATS = {"q4_k_m": "4 bits (Q4_K_M)", "q8_0": "8 bits (Q8_0)", "bf16": "bf16"}
OUTLETS = {"120": "120 V, 15 A", "240": "240 V, 16 A"}
MOST = 40_000  # USD at the axis's end
CARDS = (
    "rtx_3090",
    "rtx_3090_turbo",
    "rtx_4090",
    "rtx_5060ti_16gb",
    "rtx_5090",
    "rx_7900_xtx",
    "rtx_a6000",
    "rtx_pro_6000_blackwell",
)


def controls() -> list[dict[str, Any]]:
    """Budget, model, format and outlet."""
    names = [[key, models.get(key).name] for key in MODELS]
    return [
        choices.slider("budget", "Budget (USD)", BUDGETS, 5000),
        choices.select("model", "Model", names, page.MODEL),
        choices.select("kept", "Weights", FORMATS, page.FORMAT),
        choices.select("outlet", "Outlet", OUTLETS, "120"),
    ]


@cache
def parts() -> dict[str, tuple[Component, ...]]:
    """The catalogue with the cards that most builders weigh."""
    return {"gpu": tuple(part(name, "gpu") for name in CARDS)}


@cache
def _plan(budget: int, run: str, outlet: str) -> tuple[list[Planned], str]:
    """Machines, or why there is none."""
    asked: dict[str, Any] = {"circuit": float(outlet), "parts": parts()}
    try:
        return cast(list[Planned], diy.plan(budget, run, **asked)), ""
    except Infeasible as miss:
        return [], str(miss)


def explore(*, budget: int, model: str, kept: str, outlet: str) -> Spec:
    """The fastest machines of the budget, each at its price with its band."""
    found, why = _plan(budget, f"{model}:{kept}", outlet)
    marks: list[Mark] = [
        band("over the budget", "impossible", x=[budget, MOST], at="key")
    ]
    for series, one in enumerate(found):
        run = one.runs[0]
        marks.append(
            dots(
                one.total,
                run.decode,
                page.name(one),
                "predicted",
                spread=[(run.low, run.high)],
                at="key",
                series=series,
                device=one.gpus[0].device,
                chips=len(one.gpus),
            )
        )
    first = page.name(found[0]) if found else "none"
    return chart(
        f"{models.get(model).name} for {budget:,} USD: {first}.",
        x=axis("Bill of all parts (USD)", log=True, limits=[1500, MOST]),
        y=axis("Tokens a second of one conversation", log=True, limits=[1, 600]),
        marks=marks,
        readouts=_said(found[0]) if found else [],
        message=why or None,
        about={"model": model, "dtype": kept, "feasible": bool(found)},
    )


def _said(one: Planned) -> list[dict[str, Any]]:
    """The fastest of them in words and numbers."""
    run, no = one.runs[0], one.excluded
    return [
        readout("rate", "Tokens a second", counted(run.decode, "rate", "token/s")),
        readout("bill", "Bill", counted(one.total, "bill", "USD"), digits=4),
        readout("wall", "From the wall", counted(one.watts, "power", "W"), unit="W"),
        readout("board", "Board", one.board.name),
        readout("split", "Split", f"by {run.split}" if run.cards > 1 else "one card"),
        readout("next", "Next cheaper breaks", f"{no.part}: {no.rule}" if no else "-"),
    ]
