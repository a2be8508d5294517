"""A pipeline's bubble, live: stages, microbatches, schedule, chunks, sending."""

from __future__ import annotations

from typing import Any

from stacklib.interconnect.pipelines import order
from stacklib.interconnect.pipelines.run import PipelineRun, run_pipeline
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, across, axis, cells, chart, down
from stacklib.plots.spec import readout

NAMES = {"gpipe": "GPipe", "1f1b": "1F1B", "zb-h1": "ZB-H1", "zb-h2": "ZB-H2"}
KINDS = {
    order.FORWARD: "forward",
    order.BACKWARD: "backward",
    order.INPUTS: "backward, inputs",
    order.WEIGHTS: "backward, weights",
}
FINE = 2  # columns of a forward


def controls() -> list[dict[str, Any]]:
    """Controls of ``explore``."""
    return [
        choices.slider("stages", "Stages", (2, 3, 4, 6, 8), 4),
        choices.slider("microbatches", "Microbatches", (2, 4, 6, 8, 12, 16), 8),
        choices.select("schedule", "Schedule", NAMES, "1f1b"),
        choices.slider("chunks", "Chunks of a stage", (1, 2), 1),
        choices.slider("send", "Sending, of a forward", (0, 0.5, 1), 0),
        choices.slider("last", "Last stage, times the others", (1, 1.5, 2), 1),
    ]


def places(run: PipelineRun, kind: str) -> list[tuple[float, float]]:
    """Columns and rows of one kind of work."""
    return [
        (float(column), float(stage))
        for stage, row in enumerate(run.spans)
        for span in row
        if span.work.kind == kind
        for column in range(round(FINE * span.start), round(FINE * span.end))
    ]


def explore(
    *,
    stages: int,
    microbatches: int,
    schedule: str,
    chunks: int,
    send: float,
    last: float,
) -> Spec:
    """Who works when, a lane for each stage; forward and both backward parts alike."""
    message = None
    if chunks > 1 and (schedule.startswith("zb") or microbatches % stages):
        chunks = 1
        message = (
            "Shown without chunks: zero-bubble schedules have none here, and others "
            "need microbatches that are a multiple of the stages."
        )
    # The last part has the output matrix besides its layers.
    parts = [1 / chunks] * (stages * chunks - 1) + [1 / chunks + last - 1]
    run = run_pipeline(
        order.pipeline(stages, microbatches, schedule, chunks),
        forward=parts,
        inputs=parts,
        weights=parts,
        send=send,
    )
    found = {kind: places(run, kind) for kind in KINDS}
    wait = counted(run.bubble, "waiting over work")
    end = max(run.time, 1) * FINE
    told = range(0, int(run.time) + 1, 5 if run.time < 40 else 10)
    ticks, names = [FINE * t - 0.5 for t in told], [str(t) for t in told]
    return chart(
        message
        or f"{NAMES[schedule]}: waiting is {100 * run.bubble:.0f} % of the work.",
        x=axis("Time (forwards)", limits=across(end), ticks=ticks, names=names),
        y=axis("Stage", limits=down(stages), ticks=list(range(stages))),
        marks=[
            cells(found[kind], words, "simulated", at="key", shade=shade)
            for (kind, words), shade in zip(
                KINDS.items(), (1, 0.5, 0.5, 0.3), strict=True
            )
            if found[kind]
        ],
        readouts=[
            readout("bubble", "Waiting over work", wait, "signed", unit="%"),
            readout(
                "inner",
                "Between a stage's first and last work",
                counted(run.inner_bubble, "waiting inside"),
                "signed",
                unit="%",
            ),
            readout("time", "A step, in forwards", counted(run.time, "time of a step")),
            readout(
                "held",
                "Microbatches held, fullest stage",
                counted(max(run.held), "microbatches held"),
            ),
        ],
    )
