"""A layout of sixty-four chips, live: tensor, pipeline, microbatch, ZeRO, recompute."""

from __future__ import annotations

from typing import Any

from stacklib.interconnect.parallelism.layout import Layout
from stacklib.interconnect.parallelism.step import Step, step_time
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout

MODEL, DEVICE, CHIPS, BATCH, LENGTH = "llama-3-70b", "h100_sxm", 64, 512, 4096
WAYS = (1, 2, 4, 8, 16, 32, 64)
AGAIN = {"none": "nothing", "selective": "norms and activation", "full": "every layer"}


def controls() -> list[dict[str, Any]]:
    """Controls of ``explore``."""
    return [
        choices.slider("tp", "Tensor parallel", WAYS, 8),
        choices.slider("pp", "Pipeline stages", (1, 2, 4, 8, 16), 1),
        choices.slider("micro", "Sequences of a microbatch", (1, 2, 4, 8), 1),
        choices.slider("zero", "ZeRO", (0, 1, 2, 3), 1),
        choices.select("again", "Computed again", AGAIN, "none"),
    ]


def step(tp: int, pp: int, micro: int, zero: int, again: str) -> Step | str:
    """The step of a layout, or why there is none."""
    if CHIPS % (tp * pp):
        return f"{tp} x {pp} ways are more than {CHIPS} chips."
    layout = Layout(
        dp=CHIPS // (tp * pp),
        tp=tp,
        pp=pp,
        micro=micro,
        zero=zero,
        recompute=again,
        sequence=tp > 1,
    )
    try:
        return step_time(
            MODEL, on=DEVICE, chips=CHIPS, layout=layout, batch=BATCH, length=LENGTH
        )
    except ValueError as wrong:
        return str(wrong)


def explore(*, tp: int, pp: int, micro: int, zero: int, again: str) -> Spec:
    """MFU by the ways of tensor parallelism, all else kept, and the layout chosen."""
    found = {way: step(way, pp, micro, zero, again) for way in WAYS}
    fits = {
        way: 100 * one.mfu
        for way, one in found.items()
        if isinstance(one, Step) and one.mfu is not None
    }
    mine = found[tp]
    said = []
    if isinstance(mine, str):
        title = mine
    else:
        title = mine.refused or f"A step takes {mine.time:.1f} s."
        said = [
            readout(
                "memory",
                "Memory of a chip",
                counted(mine.memory.total / 1e9, "memory", "GB"),
                "resident",
                unit="GB",
            ),
            readout(
                "sent",
                "Sent by a chip a step, one direction",
                counted(mine.sent.total / 1e9, "sent", "GB"),
                unit="GB",
            ),
            readout(
                "bubble", "Bubble", counted(mine.bubble, "bubble"), "signed", unit="%"
            ),
        ]
        if mine.mfu is not None:
            mfu = counted(mine.mfu, "MFU")
            said.append(readout("mfu", "MFU", mfu, "share", unit="%"))
    marks = [line((0.9, 70), (0, 0), "none", "predicted", at="none")]
    if fits:
        marks = [line(tuple(fits), tuple(fits.values()), "what fits", "predicted")]
    if tp in fits:
        marks.append(here(tp, fits[tp], "your layout"))
    return chart(
        title,
        x=axis("Ways of tensor parallelism", log=True, limits=[0.9, 70]),
        y=axis("MFU (%)", limits=[0, 70]),
        marks=marks,
        readouts=said,
    )
