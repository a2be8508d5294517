"""Two generations, live: a token's lines on an older and on a newer chip."""

from __future__ import annotations

from typing import Any

from stacklib import hardware, serving
from stacklib.pages.frontier import next as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Mark, Spec, across, axis, bar, chart
from stacklib.plots.spec import readout
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving.token.work import EXCHANGES, LAUNCHES, SAMPLING

CHIPS = (
    "a100_sxm_80gb",
    "h100_sxm",
    "h200_sxm",
    page.OLD,
    "b300_sxm",
    page.NEW,
    "mi300x",
    "mi355x",
)
FORMATS = {"bf16": "bf16", "fp8_128x128": "FP8", "nvfp4": "NVFP4"}


def controls() -> list[dict[str, Any]]:
    """Two devices, format, and answers at once."""
    names = choices.short(CHIPS)
    return [
        choices.select("old", "Eight of these", names, page.OLD),
        choices.select("new", "Or of these", names, page.NEW),
        choices.select("kept", "Weights", FORMATS, "bf16"),
        choices.slider("batch", "Answers at once", (1, 4, 16, 64, 128, 256), 1),
    ]


def explore(*, old: str, new: str, kept: str, batch: int) -> Spec:
    """Bars, part by part: a step of the model on eight of either."""
    found, why = dict[str, dict[str, float]](), ""
    keys = {"older": old, "newer": new}
    for which, key in keys.items():
        try:
            asked: dict[str, Any] = {"tp": page.TP, "batch": batch}
            step = serving.estimate(page.MODEL, key, kept, **asked)
            found[which] = _parts(step.parts)
        except (Infeasible, ValueError) as wrong:
            why = str(wrong)
    times = {which: sum(parts.values()) for which, parts in found.items()}
    names = {which: hardware.get(key).short for which, key in keys.items()}
    said, title = list[dict[str, Any]](), "One of them cannot."
    if len(times) == 2:
        ratio = counted(times["older"] / times["newer"], "times as fast")
        said = [
            readout(which, names[which], counted(1e-3 * ms, "step", "s"), unit="ms")
            for which, ms in times.items()
        ]
        said.append(readout("times", "Times as fast", ratio, "ratio"))
        many = "one answer" if batch == 1 else f"{batch} answers at once"
        title = f"{ratio.si:.2f} times as fast, {many}."
    most = max(times.values(), default=1.0)
    return chart(
        title,
        x=axis("A step (ms)", unit="ms", limits=[0, 1.05 * most]),
        y=axis(
            f"Eight {names['older']} above, eight {names['newer']} below",
            ticks=(),
            limits=across(2),
        ),
        marks=[m for which, parts in found.items() for m in _bars(parts, which, keys)],
        readouts=said,
        message=why or None,
        about={
            "device": new,
            "model": page.MODEL,
            "dtype": kept,
            "batch": batch,
            "chips": page.TP,
            "feasible": not why,
        },
    )


def _parts(lines: Any) -> dict[str, float]:
    """Milliseconds of reading, starts, exchanges and the engine."""
    parts = dict.fromkeys(("reading", "launches", "exchanges", "engine"), 0.0)
    of = {EXCHANGES: "exchanges", LAUNCHES: "launches", SAMPLING: "launches"}
    of |= dict.fromkeys(page.GROUPS["reading"], "reading")
    for line in lines:
        if line.time is not None:
            parts[of.get(line.name, "engine")] += 1e3 * float(line.time.si)
    return parts


def _bars(parts: dict[str, float], which: str, keys: dict[str, str]) -> list[Mark]:
    """A bar a part, one after the other; the upper row names them."""
    marks, at, row = list[Mark](), 0.0, int(which == "older")
    for layer, (name, ms) in zip((2, 4, 5, 1), parts.items(), strict=True):
        marks.append(
            bar(
                *(at, at + ms, row, name if row else "", "predicted"),
                at="key",
                layer=layer,
                device=keys[which],
                role="part",
            )
        )
        at += ms
    return marks
