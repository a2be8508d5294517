"""Two generations, live: a step of the model on an older and on a newer chip."""

from __future__ import annotations

from typing import Any

from stacklib import hardware, serving
from stacklib.pages.frontier import next as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, across, axis, bar, chart
from stacklib.plots.spec import readout
from stacklib.roofline.work.fit import Infeasible

CHIPS = (
    *("a100_sxm_80gb", "h100_sxm", "h200_sxm", page.OLD, "b300_sxm", page.NEW),
    *("mi300x", "mi355x"),
)
FORMATS = {"bf16": "bf16", "fp8_128x128": "FP8", "nvfp4": "NVFP4"}
LAYERS = {"reading": 2, "launches": 4, "exchanges": 5, "engine": 1}


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
    """Bars, part by part: a step on eight of either."""
    marks, times, why = [], dict[str, float](), ""
    names = [hardware.get(key).short for key in (old, new)]
    for row, key in ((1, old), (0, new)):
        try:
            asked: dict[str, Any] = {"tp": page.TP, "batch": batch}
            parts = _parts(serving.estimate(page.MODEL, key, kept, **asked).parts)
        except (Infeasible, ValueError) as wrong:
            why = str(wrong)
            continue
        at = 0.0
        for name, ms in parts.items():
            asked = {"layer": LAYERS[name], "device": key, "role": "part", "at": "key"}
            place = at, at + ms, row, name if row else ""
            marks.append(bar(*place, "predicted", **asked))
            at += ms
        times["newer older".split()[row]] = at
    said, title = list[dict[str, Any]](), "One of them cannot."
    if len(times) == 2:
        ratio = counted(times["older"] / times["newer"], "times as fast")
        said = [
            readout(which, name, counted(1e-3 * ms, "step", "s"), unit="ms")
            for name, (which, ms) in zip(names, times.items(), strict=True)
        ]
        said.append(readout("times", "Times as fast", ratio, "ratio"))
        many = "one answer" if batch == 1 else f"{batch} answers at once"
        title = f"{ratio.si:.2f} times as fast, {many}."
    most, rows = max(times.values(), default=1.0), "Eight {} above, eight {} below"
    about = {"device": new, "model": page.MODEL, "dtype": kept, "batch": batch}
    return chart(
        title,
        x=axis("A step (ms)", unit="ms", limits=[0, 1.05 * most]),
        y=axis(rows.format(*names), ticks=(), limits=across(2)),
        marks=marks,
        readouts=said,
        message=why or None,
        about={**about, "chips": page.TP, "feasible": not why},
    )


def _parts(lines: Any) -> dict[str, float]:
    """Milliseconds of reading, launches, exchanges and the engine."""
    parts = dict.fromkeys(LAYERS, 0.0)
    of = {line: name for name, group in page.GROUPS.items() for line in group}
    for line in lines:
        if line.time is not None:
            parts[of.get(line.name, "engine")] += 1e3 * float(line.time.si)
    return parts
