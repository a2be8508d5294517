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
    found, why = dict[int, list[tuple[str, float]]](), ""
    for row, key in enumerate((new, old)):
        try:
            asked: dict[str, Any] = {"tp": page.TP, "batch": batch}
            step = serving.estimate(page.MODEL, key, kept, **asked)
            lines = [(p.name, p.time) for p in step.parts if p.time is not None]
            found[row] = [(page.SHORT[n], 1e3 * float(t.si)) for n, t in lines]
        except (Infeasible, ValueError) as wrong:
            why = str(wrong)
    times = [sum(ms for _, ms in lines) for lines in found.values()]
    keys, said, title = (new, old), list[dict[str, Any]](), "One of them cannot."
    if len(times) == 2:
        ratio = counted(times[1] / times[0], "times as fast")
        said = [
            readout(f"t{row}", hardware.get(keys[row]).short, _time(ms), unit="ms")
            for row, ms in enumerate(times)
        ]
        said.append(readout("times", "Times as fast", ratio, "ratio"))
        title = f"{ratio.si:.2f} times as fast, {batch} answers at once."
    return chart(
        title,
        x=axis("A step (ms)", unit="ms", limits=[0, 1.2 * max(times, default=1.0)]),
        y=axis("The newer below", ticks=(), limits=across(2)),
        marks=[m for row, lines in found.items() for m in _bars(lines, keys[row], row)],
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


def _time(ms: float) -> Any:
    return counted(1e-3 * ms, "step", "s")


def _bars(lines: list[tuple[str, float]], key: str, row: int) -> list[Mark]:
    """A bar a line, one after the other; the last has the device's name."""
    marks, at = list[Mark](), 0.0
    for place, (_, ms) in enumerate(lines):
        words = f"8 x {hardware.get(key).short}" if place == len(lines) - 1 else ""
        marks.append(
            bar(
                *(at, at + ms, row, words, "predicted"),
                layer=1 + place % 7,
                device=key,
                role="part",
            )
        )
        at += ms
    return marks
